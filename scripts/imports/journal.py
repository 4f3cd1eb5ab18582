"""Journal: the finished steps of an import, so that the same command continues it."""

import csv
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.errors import Conflict, InvalidRequest
from scripts.imports.base import PREFIX

#: The remedy if an import can't be continued; "it" is the journal's file.
BEGIN_ANEW = "Delete it to start over, which is charged again."


class Journal:
    """A file with a JSON line a step, each on the disk before the next step begins."""

    def __init__(self, file: Path, *, about: dict[str, Any]) -> None:
        """`about` identifies the import. Raises Conflict for another import's journal.

        The first step creates the file, so that an import that fails earlier blocks no other."""
        self.file = file
        self._about = about
        self.steps: list[dict[str, Any]] = []
        if file.exists():
            self._read()

    @property
    def written(self) -> tuple[int, int]:
        """The number of batches whose results are written, and the size of the results in bytes."""
        steps = [step for step in self.steps if "size" in step]
        # The last alone counts: results that were lost are written again from the first batch.
        return (steps[-1]["batch"] + 1, steps[-1]["size"]) if steps else (0, 0)

    def note(self, **step: Any) -> None:
        """Write a step; the first begins the journal."""
        if not self.file.exists():
            self._append(self._about)
        self.steps.append(step)
        self._append(step)

    def close(self) -> None:
        self.file.unlink(missing_ok=True)

    def _append(self, line: dict[str, Any]) -> None:
        with self.file.open("a", encoding="utf-8") as opened:
            opened.write(json.dumps(line) + "\n")
            opened.flush()
            os.fsync(opened.fileno())

    def _read(self) -> None:
        lines, size, last = [], 0, b""
        for text in self.file.read_bytes().splitlines(keepends=True):
            try:
                lines.append(json.loads(text))
            except ValueError:
                break  # the import stopped while writing this line
            size, last = size + len(text), text
        if not lines:
            self.file.unlink()
            return
        if lines[0] != self._about:
            raise Conflict(f"{self.file} belongs to another import: the file or the options have changed. {BEGIN_ANEW}")
        self.steps = lines[1:]
        # Drop a half-written line. Truncated, because a stop while rewriting would lose everything.
        with self.file.open("r+b") as opened:
            opened.truncate(size)
            if not last.endswith(b"\n"):
                opened.seek(0, os.SEEK_END)
                opened.write(b"\n")


class Earlier:
    """The results of a finished import, moved aside while missing answers are asked for again."""

    def __init__(self, results: Path) -> None:
        """Raises InvalidRequest if there are none."""
        self._results = results
        self._aside = results.with_name(f"{results.name}.earlier")
        if not self._file.is_file():
            raise InvalidRequest(f"There are no results in {results} yet. Leave out --again.")
        with self._file.open("rb") as opened:
            #: Identifies this run, also after a stop.
            self.digest = hashlib.file_digest(opened, "sha256").hexdigest()

    def rows(self, columns: Sequence[str]) -> Iterator[tuple[tuple[str, ...], Sequence[str]]]:
        """Yield each row's own cells and its last ones, the results. Raises InvalidRequest for other columns."""
        with self._file.open(encoding="utf-8", newline="") as opened:
            lines = csv.reader(opened)
            ours = next(lines, [])[-len(columns) :]
            # With a prefix if the file has a column of that name.
            if len(ours) < len(columns) or not all(map(_is_ours, ours, columns)):
                raise InvalidRequest(f"{self._file} has other columns than this release writes. Leave out --again.")
            for line in lines:
                yield tuple(line[: -len(columns) - 1]), line[-len(columns) :]

    def set_aside(self) -> None:
        """Move the results aside for new ones."""
        if not self._aside.exists():
            self._results.replace(self._aside)

    def close(self) -> None:
        """Delete them; the new results have their answers."""
        self._aside.unlink(missing_ok=True)

    @property
    def _file(self) -> Path:
        return self._aside if self._aside.exists() else self._results


def _is_ours(written: str, column: str) -> bool:
    return written.startswith((column, f"{PREFIX}{column}"))
