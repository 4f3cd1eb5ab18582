"""Earlier results: answers of an import's last run, which the next run keeps."""

import csv
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.errors import InvalidRequest
from scripts.imports.base import PREFIX


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

    def rows(self, columns: Sequence[str]) -> Iterator[Sequence[str]]:
        """Yield each row's last cells, the results. Raises InvalidRequest for other columns."""
        with self._file.open(encoding="utf-8", newline="") as opened:
            lines = csv.reader(opened)
            ours = next(lines, [])[-len(columns) :]
            # With a prefix if the file has a column of that name.
            if len(ours) < len(columns) or not all(map(_is_ours, ours, columns)):
                raise InvalidRequest(f"{self._file} has other columns than this release writes. Leave out --again.")
            for line in lines:
                yield line[-len(columns) :]

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
