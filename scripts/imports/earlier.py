"""Earlier results: those of the last run of an import, whose answers the next run keeps."""

import csv
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.errors import InvalidRequest
from scripts.imports.columns import PREFIX


class Earlier:
    """The results of an import that has ended. While they are asked again, they are in a file beside."""

    def __init__(self, results: Path) -> None:
        """Raises InvalidRequest when there are none."""
        self._results = results
        self._aside = results.with_name(f"{results.name}.earlier")
        if not self._file.is_file():
            raise InvalidRequest(f"There are no results in {results} yet. Leave out --again.")
        with self._file.open("rb") as opened:
            #: Tells this run from others, also when it is stopped and goes on.
            self.digest = hashlib.file_digest(opened, "sha256").hexdigest()

    def rows(self, columns: Sequence[str]) -> Iterator[Sequence[str]]:
        """Yield the last cells of each row, which are the results. Raises InvalidRequest for other columns."""
        with self._file.open(encoding="utf-8", newline="") as opened:
            lines = csv.reader(opened)
            ours = next(lines, [])[-len(columns) :]
            # With a prefix where the file has a column of that name.
            if len(ours) < len(columns) or not all(map(_is_ours, ours, columns)):
                raise InvalidRequest(f"{self._file} has other columns than this release writes. Leave out --again.")
            for line in lines:
                yield line[-len(columns) :]

    def set_aside(self) -> None:
        """Make room for the new results."""
        if not self._aside.exists():
            self._results.replace(self._aside)

    def close(self) -> None:
        """Delete them: the new results have their answers."""
        self._aside.unlink(missing_ok=True)

    @property
    def _file(self) -> Path:
        return self._aside if self._aside.exists() else self._results


def _is_ours(written: str, column: str) -> bool:
    return written.startswith((column, f"{PREFIX}{column}"))
