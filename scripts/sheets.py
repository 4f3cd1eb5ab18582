"""Sheets: CSV files as people have them, any common dialect and encoding, read a row at a time."""

import codecs
import csv
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import InvalidRequest

#: As much of a file tells how it is written.
SAMPLE_BYTES = 2**16
BLOCK_BYTES = 2**20
DELIMITERS = ",;\t|"
#: Longest cell; a missing quote would make one of the whole rest.
MAX_CELL = 2**20
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True, slots=True)
class Row:
    """One row: where it begins to end in the file, and the cell that is asked for; None: it has none."""

    line: int
    value: str | None


class Sheet:
    """A CSV file, and which of its columns is meant."""

    def __init__(self, file: Path, *, column: str | None, names: tuple[str, ...]) -> None:
        """`column` is a name that its first row has; without it one of `names`, or else the first column."""
        if not file.is_file():
            raise InvalidRequest(f"There is no file {file}.")
        self.file = file
        self.encoding = encoding_of(file)
        self.delimiter = delimiter_of(self._sample())
        first = next(self._cells(), (0, []))[1]
        header = [cell.strip().lower() for cell in first]
        known = [name for name in names if name in header]
        if column is not None and column.lower() not in header:
            raise InvalidRequest(f"{file} has no column {column!r}; its first row has {', '.join(first) or 'nothing'}.")
        self.has_header = column is not None or bool(known)
        self.index = header.index(column.lower() if column else known[0]) if self.has_header else 0

    def rows(self) -> Iterator[Row]:
        """Yield the rows, without the header and empty ones. Raises InvalidRequest for what is no CSV."""
        cells = self._cells()
        if self.has_header:
            next(cells, None)
        for line, row in cells:
            if any(cell.strip() for cell in row):
                yield Row(line, row[self.index].strip() if self.index < len(row) else None)

    def digest(self) -> str:
        """Return what tells this content from any other."""
        with self.file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()

    def _cells(self) -> Iterator[tuple[int, list[str]]]:
        csv.field_size_limit(MAX_CELL)
        with self.file.open(encoding=self.encoding, errors="replace", newline="") as text:
            reader = csv.reader(text, delimiter=self.delimiter)
            while True:
                try:
                    row = next(reader, None)
                except csv.Error as error:
                    message = f"{self.file}, line {reader.line_num}: {error}. Is a quote missing before it?"
                    raise InvalidRequest(message) from error
                if row is None:
                    return
                yield reader.line_num, row

    def _sample(self) -> str:
        with self.file.open(encoding=self.encoding, errors="replace", newline="") as text:
            return text.read(SAMPLE_BYTES)


def encoding_of(file: Path) -> str:
    """Return how a file is encoded: by its mark, or UTF-8 if all of it is, or else Latin-1, which anything is."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with file.open("rb") as opened:
        block = opened.read(SAMPLE_BYTES)
        for mark, encoding in BOMS:
            if block.startswith(mark):
                return encoding
        if b"\0" in block:
            # ASCII in UTF-16 has a NUL in every other place.
            return "utf-16-le" if block[1:2] == b"\0" else "utf-16-be"
        try:
            while block:
                decoder.decode(block)
                block = opened.read(BLOCK_BYTES)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "latin-1"
    return "utf-8"


def delimiter_of(sample: str) -> str:
    """Return what separates the cells: what splits the first lines into equally many."""
    lines = sample.splitlines()[:20]
    if len(sample) >= SAMPLE_BYTES and len(lines) > 1:
        lines.pop()

    def score(delimiter: str) -> tuple[int, int]:
        counts = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        most = max(counts, default=1)
        return (counts.count(most) if most > 1 else 0, -DELIMITERS.index(delimiter))

    return max(DELIMITERS, key=score)
