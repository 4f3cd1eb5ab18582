"""Progress: the part of a recording that is transcribed, stored so that another attempt continues after it."""

from pydantic import BaseModel, ValidationError

from capabilities.transcription.engines import HeardSegment, Transcriber
from capabilities.transcription.kinds.transcription import RecordingInput
from pipeline.errors import Gone, ServiceUnavailable
from pipeline.log import get_logger
from workers.handler import Task

log = get_logger(__name__)

SUFFIX = ".begun.json"


class Transcribed(BaseModel):
    """The segments of the first `heard` samples, stored after each window.

    `language` is None until somebody speaks."""

    engine: str
    model: str = ""
    heard: int = 0
    language: str | None = None
    language_probability: float | None = None
    segments: list[HeardSegment] = []
    has_times: bool = True

    @classmethod
    def anew(cls, task: Task[RecordingInput], engine: Transcriber) -> "Transcribed":
        """Return an empty one."""
        return cls(engine=engine.name, model=engine.model, language=task.input.language)


def resumed(task: Task[RecordingInput], engine: Transcriber) -> Transcribed:
    """Return the progress of an earlier attempt by the same engine and model, else an empty one."""
    begun = Transcribed.anew(task, engine)
    key = (task.checkpoint or {}).get("artifact")
    if key is None:
        return begun
    try:
        found = Transcribed.model_validate_json(task.stored(key))
    except (Gone, ValidationError) as error:
        log.warning("begun transcript lost", job_id=str(task.job_id), reason=type(error).__name__)
        return begun
    return found if (found.engine, found.model) == (begun.engine, begun.model) else begun


def keep(task: Task[RecordingInput], transcribed: Transcribed) -> None:
    """Store the progress as one artifact, which the next one replaces. Raises Stopped.

    The checkpoint has only its key, since every heartbeat writes it, and four hours of speech are megabytes."""
    try:
        key = task.store(transcribed.model_dump_json().encode(), suffix=SUFFIX)
        if (task.checkpoint or {}).get("artifact") != key:
            task.save({"artifact": key})
    except ServiceUnavailable as error:
        # It matters only if this attempt fails as well.
        log.warning("begun transcript not kept", job_id=str(task.job_id), reason=error.message)
