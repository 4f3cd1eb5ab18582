"""Transcribed: what has been written down of a recording so far, kept so that a crash costs a window and no more."""

from typing import Any

from pydantic import BaseModel, ValidationError

from pipeline.errors import Gone, ServiceUnavailable
from pipeline.kinds.transcription.transcripts import Segment
from pipeline.log import get_logger
from workers.handler import Task

log = get_logger(__name__)

SUFFIX = ".begun.json"


class Transcribed(BaseModel):
    """The segments of the first `heard` samples. `language` is None until somebody has spoken."""

    engine: str
    heard: int = 0
    language: str | None = None
    language_probability: float | None = None
    segments: list[Segment] = []


def resume(task: Task[Any], *, engine: str, language: str | None) -> Transcribed:
    """Return what an earlier attempt has left, or an empty one: one text is by one engine."""
    begun = Transcribed(engine=engine, language=language)
    key = (task.checkpoint or {}).get("artifact")
    if key is None:
        return begun
    try:
        found = Transcribed.model_validate_json(task.stored(key))
    except (Gone, ValidationError) as error:
        log.warning("begun transcript lost", job_id=str(task.job_id), reason=type(error).__name__)
        return begun
    return found if found.engine == engine else begun


def keep(task: Task[Any], transcribed: Transcribed) -> None:
    """Keep what there is, in one object that is replaced as a whole: it says itself how far it goes.

    The checkpoint only names it, for it is written with every heartbeat, and four hours of speech are megabytes.
    Raises Stopped."""
    try:
        key = task.store(transcribed.model_dump_json().encode(), suffix=SUFFIX)
        if (task.checkpoint or {}).get("artifact") != key:
            task.save({"artifact": key})
    except ServiceUnavailable as error:
        # It only costs something if this attempt fails as well.
        log.warning("begun transcript not kept", job_id=str(task.job_id), reason=error.message)
