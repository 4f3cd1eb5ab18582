"""Writing: excerpt, category and tags by the first engine that can write them within the promised limits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from capabilities.blog.engines.metadata import Metadata, Post, Writer
from capabilities.blog.engines.metadata.checks import FEWEST_TAGS, LONGEST_EXCERPT, MOST_TAGS, SHORTEST_EXCERPT
from capabilities.blog.engines.metadata.taxonomy import LONGEST_TAG, SHORTEST_TAG
from pipeline.errors import PressroomError
from pipeline.log import get_logger
from workers.engines import EngineBusy, Stopped
from workers.engines.locks import FairLock
from workers.engines.model_choice import models_of

log = get_logger(__name__)
T = TypeVar("T")

LockOf = Callable[[object], FairLock]
Stop = Callable[[], bool]


def attempt(engine: str, lock: FairLock, run: Callable[[], T], stop: Stop) -> T | Exception:
    """Run an engine under its lock, and return its answer or the error it raised. Raises Stopped, EngineBusy."""
    try:
        with lock.unless(stop):
            return run()
    except (Stopped, EngineBusy):
        raise
    except Exception as error:  # an engine may be a plug-in, so it may raise anything; the next engine can still serve
        log.warning("engine failed", engine=engine, exc_info=error)
        return error


@dataclass(frozen=True, slots=True)
class Written:
    """A post's metadata, its engine with the models that it runs, and warnings for the user."""

    engine: str
    metadata: Metadata
    warnings: Sequence[str]
    models: tuple[str, ...] = ()


def write_metadata(writers: Sequence[Writer], post: Post, *, lock_of: LockOf, stop: Stop) -> Written:
    """Return a post's metadata by the first engine that writes it. Raises Stopped and the last engine's error."""
    warnings: list[str] = []
    failure: Exception = EngineBusy("No engine that writes is ready at the moment.")
    for writer in writers:
        written = attempt(writer.name, lock_of(writer), partial(_checked, writer, post, stop), stop)
        if isinstance(written, Metadata):
            return Written(writer.name, written, [*warnings, *written.warnings], models_of(writer))
        warnings.append(f"The text engine {writer.name} failed; a simpler one wrote instead.")
        failure = written
    raise failure


def _checked(writer: Writer, post: Post, stop: Stop) -> Metadata:
    metadata = writer.write(post, stop=stop)
    check_metadata(metadata)
    return metadata


def check_metadata(metadata: Metadata) -> None:
    """Raise PressroomError unless the texts are within the promised limits."""
    excerpt, tags = metadata.excerpt, metadata.tags
    fault = None
    if not SHORTEST_EXCERPT <= len(excerpt) <= LONGEST_EXCERPT or len(excerpt.splitlines()) != 1:
        fault = f"an excerpt of {len(excerpt)} characters in {len(excerpt.splitlines())} lines"
    elif not metadata.category.strip():
        fault = "no category"
    elif not FEWEST_TAGS <= len(tags) == len(set(tags)) <= MOST_TAGS:
        fault = f"{len(tags)} tags, {len(set(tags))} of them different"
    elif any(not SHORTEST_TAG <= len(tag) <= LONGEST_TAG or tag != tag.lower() for tag in tags):
        fault = "a tag that is too short, too long, or not in lower case"
    if fault is not None:
        message = f"The engine wrote {fault}. Nothing was charged; try again."
        raise PressroomError(message, code="metadata_invalid")
