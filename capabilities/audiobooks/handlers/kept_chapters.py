"""Kept chapters: those of a file that is being made, stored so that another attempt goes on after them."""

import tempfile
from collections.abc import Sequence
from typing import IO, Annotated

from pydantic import BaseModel, Field, SkipValidation
from pydantic_core import from_json

from capabilities.audiobooks.kinds.book_file import BookFileInput, MeasuredChapter
from pipeline.subtitles.segments import Segment
from workers.handler import Task

FACTS, SOUND = ".json", ".sound"


class TimedPassage(BaseModel):
    """A passage: its text, and its sentences with their times in the chapter."""

    text: str
    sentences: Sequence[Segment]


class JoinedChapter(BaseModel, arbitrary_types_allowed=True):
    """A chapter of a book; `file` has its sound, encoded, while the next chapter is not asked for."""

    number: int
    title: str
    seconds: float
    passages: Sequence[TimedPassage]
    measured: MeasuredChapter | None
    file: Annotated[IO[bytes], SkipValidation, Field(exclude=True)]


class KeptChapters:
    """The first chapters of a file, which this attempt or earlier ones have finished."""

    def __init__(self, task: Task[BookFileInput]) -> None:
        self._task = task
        # The beginnings of keys, one an attempt, each with its last chapter: heartbeats write no long list.
        self._attempts: list[tuple[str, int]] = [*map(tuple, (task.checkpoint or {}).get("chapters", []))]

    @property
    def last(self) -> int:
        """The number of the last one; 0 without any."""
        return self._attempts[-1][1] if self._attempts else 0

    def add(self, chapter: JoinedChapter) -> None:
        """Store the next chapter. Raises ServiceUnavailable."""
        facts = self._task.store(chapter.model_dump_json().encode(), suffix=f".{chapter.number}{FACTS}")
        self._task.store(chapter.file, suffix=f".{chapter.number}{SOUND}")
        chapter.file.seek(0)
        key = facts.removesuffix(f".{chapter.number}{FACTS}")
        if self._attempts and self._attempts[-1][0] == key:
            self._attempts.pop()
        self._attempts.append((key, chapter.number))

    def read(self, number: int) -> JoinedChapter:
        """Return a stored chapter; the caller closes its file. Raises Gone, ServiceUnavailable."""
        key = self._key(number)
        facts = from_json(self._task.stored(key + FACTS))
        file = tempfile.TemporaryFile(prefix="pressroom-")  # noqa: SIM115
        file.writelines(self._task.pieces(key + SOUND))
        file.seek(0)
        return JoinedChapter(**facts, file=file)

    def checkpoint(self) -> dict[str, list[tuple[str, int]]]:
        """Return what another attempt needs to read them."""
        return {"chapters": [*self._attempts]}

    def drop(self) -> None:
        """Delete them, as their file is stored. Raises ServiceUnavailable."""
        self._task.delete([self._key(number) + end for number in range(1, self.last + 1) for end in (FACTS, SOUND)])

    def _key(self, number: int) -> str:
        return next(f"{key}.{number}" for key, last in self._attempts if number <= last)
