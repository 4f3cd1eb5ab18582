"""Journals: what an import has done so far, so that it can be stopped and taken up again."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

from pipeline.errors import Conflict, Gone
from scripts.answers import Refused

#: What helps whoever can't go on with a journal; "it" is its file.
BEGIN_ANEW = "Delete it to begin anew, which is charged anew."


class Journal:
    """A file of lines, one a step that was taken; each is on the disk before the next step begins."""

    def __init__(
        self,
        file: Path,
        *,
        about: dict[str, Any],
        remedy: str = BEGIN_ANEW,
    ) -> None:
        """`about` says which import it is; another's journal is refused, with a remedy.

        There is no file before `begin`: an import that never got so far stands in no other's way."""
        self.file = file
        self._about = about
        self._remedy = remedy
        self.steps: list[dict[str, Any]] = []
        if file.exists():
            self._read()

    def note(self, **step: Any) -> None:
        """Note a step; the first one begins."""
        self.begin()
        self.steps.append(step)
        self._append(step)

    def begin(self) -> None:
        """Note which import it is."""
        if not self.file.exists():
            self._append(self._about)

    def close(self) -> None:
        """The import is done: nothing is left to take up."""
        self.file.unlink(missing_ok=True)

    def _append(self, line: dict[str, Any]) -> None:
        with self.file.open("a", encoding="utf-8") as opened:
            opened.write(json.dumps(line) + "\n")
            opened.flush()
            os.fsync(opened.fileno())

    def _read(self) -> None:
        lines = []
        for text in self.file.read_text("utf-8").splitlines():
            try:
                lines.append(json.loads(text))
            except ValueError:
                break  # it was stopped while it wrote this
        if not lines:
            self.file.unlink()
            return
        if lines[0] != self._about:
            raise Conflict(
                f"{self.file} is of another import: the file or the options have changed since. {self._remedy}"
            )
        self.steps = lines[1:]
        # What was half written is written again.
        self.file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


@contextmanager
def told_if_gone(journal: Journal) -> Iterator[None]:
    """Say what helps when a job that a journal knows has been deleted: the same command would not. Raises Gone."""
    try:
        yield
    except Refused as error:
        if error.answered != HTTPStatus.GONE:
            raise
        raise Gone(f"{journal.file} knows a job whose results are not kept any more. {BEGIN_ANEW}") from error
