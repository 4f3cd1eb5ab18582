"""Sheets: CSV files as people have them, any common dialect and encoding, read a row at a time."""

import codecs
import csv
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import InvalidRequest

#: As much of a file tells how it is written.
SAMPLE_BYTES = 2**16
BLOCK_BYTES = 2**20
DELIMITERS = ",;\t|"
#: Of a file of one column: what stands in no text.
NO_DELIMITER = "\x1f"
#: The first line of files for some spreadsheets, which says what separates the cells of the others.
SEPARATOR = re.compile(r'"?sep=(.)"?\r?\n')
#: Longest cell; a missing quote would make one of the whole rest.
MAX_CELL = 2**20
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(frozen=True, slots=True)
class Row:
    """One row: the line it begins on, and the cell that is asked for; None: it has none."""

    line: int
    value: str | None


class Sheet:
    """A CSV file, and which of its columns is meant."""

    def __init__(
        self, file: Path, *, column: str | None, names: tuple[str, ...], has_header: bool | None = None
    ) -> None:
        """`column` is a name that its first row has; without it one of `names`, or else the first column.

        `has_header` says whether the first row names the columns; None: if it has one of those."""
        if not file.is_file():
            raise InvalidRequest(f"There is no file {file}.")
        self.file = file
        self.encoding = encoding_of(file)
        sample = self._sample()
        said = SEPARATOR.match(sample)
        self.delimiter = said[1] if said else delimiter_of(sample)
        self._is_delimiter_said = said is not None
        first = next(self._cells(), (0, []))[1]
        header = [cell.strip().lower() for cell in first]
        known = [name for name in names if name in header]
        if column is not None and column.lower() not in header:
            raise InvalidRequest(f"{file} has no column {column!r}; its first row has {', '.join(first) or 'nothing'}.")
        if has_header is False:
            known = []
        self.has_header = column is not None or bool(known or has_header)
        wanted = column.lower() if column else next(iter(known), None)
        self.index = header.index(wanted) if wanted is not None else 0

    def rows(self) -> Iterator[Row]:
        """Yield the rows, without the header and empty ones. Raises InvalidRequest for what is no CSV."""
        cells = self._cells()
        if self.has_header:
            next(cells, None)
        for line, row in cells:
            if any(cell.strip() for cell in row):
                yield Row(line, row[self.index].strip() if self.index < len(row) else None)

    def spare(self, *outputs: Path) -> None:
        """Raise InvalidRequest where the file itself would be written over."""
        for output in outputs:
            if output.exists() and output.samefile(self.file):
                raise InvalidRequest(f"{output} is the file that is read; choose another name for what is written.")

    def digest(self) -> str:
        """Return what tells this content from any other."""
        with self.file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()

    def _cells(self) -> Iterator[tuple[int, list[str]]]:
        csv.field_size_limit(MAX_CELL)
        with self.file.open(encoding=self.encoding, errors="replace", newline="") as text:
            reader = csv.reader(text, delimiter=self.delimiter)
            if self._is_delimiter_said:
                next(reader)
            while True:
                line = reader.line_num + 1
                try:
                    row = next(reader, None)
                except csv.Error as error:
                    message = f"{self.file}, line {line}: {error}. Is a quote missing there, or before it?"
                    raise InvalidRequest(message) from error
                if row is None:
                    return
                yield line, row

    def _sample(self) -> str:
        with self.file.open(encoding=self.encoding, errors="replace", newline="") as text:
            return text.read(SAMPLE_BYTES)


def encoding_of(file: Path) -> str:
    """Return how a file is encoded: by its mark, or UTF-8 if all of it is, or else Windows-1252.

    That is what spreadsheets write as Latin-1; quotes, dashes and the euro are where that has control characters."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with file.open("rb") as opened:
        block = opened.read(SAMPLE_BYTES)
        for mark, encoding in BOMS:
            if block.startswith(mark):
                return encoding
        if (found := _utf16_of(block)) is not None:
            return found
        try:
            while block:
                decoder.decode(block)
                block = opened.read(BLOCK_BYTES)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def _utf16_of(block: bytes) -> str | None:
    """Return which UTF-16 a file without a mark is in; None: in none."""
    first, second = block[0::2].count(0), block[1::2].count(0)
    has_lines = b"\n" in block
    # ASCII has a NUL beside it, and line ends are ASCII in any language; a stray NUL elsewhere tells nothing.
    if not (first or second) or (has_lines and b"\n\0" not in block and b"\0\n" not in block):
        return None
    return "utf-16-le" if second > first else "utf-16-be"


def delimiter_of(sample: str) -> str:
    """Return what separates the cells: what splits most of the first lines into as many as the first of them.

    Where nothing does, a line is a cell: a comma within some of the URLs or texts is none between them."""
    lines = sample.splitlines()[:20]
    if len(sample) >= SAMPLE_BYTES and len(lines) > 1:
        lines.pop()

    def score(delimiter: str) -> int:
        counts = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        alike = counts.count(counts[0]) if counts and counts[0] > 1 else 0
        return alike if 2 * alike >= len(counts) else 0

    best = max(DELIMITERS, key=score)
    return best if score(best) else NO_DELIMITER
