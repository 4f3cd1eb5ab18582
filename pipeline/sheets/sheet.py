"""Sheet: a CSV file in any common dialect and encoding, or a spreadsheet's first sheet, a row at a time."""

import codecs
import csv
import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TextIO

from pipeline.errors import InvalidRequest
from pipeline.sheets.workbook import cells_of, is_workbook

#: Rows to look at.
ROWS = 50
#: Bytes from which a file's dialect and encoding are guessed.
SAMPLE_BYTES = 2**16
BLOCK_CHARACTERS = 2**20
DELIMITERS = ",;\t|"
#: Delimiter of a file of one column: a character that no text has.
NO_DELIMITER = "\x1f"
#: A first line that names the delimiter, for some spreadsheet programs.
SEPARATOR = re.compile(r'"?sep=(.)"?\r?\n')
#: Longest cell, in characters: a missing quote makes a cell of the whole rest of the file.
MAX_CELL = 2**20


def plain_name(name: str) -> str:
    """Return a column's name for comparison: `Page URL`, `page-url` and `page_url` are equal."""
    return "_".join(re.findall(r"\w+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip()).lower().replace("_", " ")))


def choose(names: Sequence[str], header: Sequence[str]) -> int | None:
    """Return the column with the first of the names, else one that begins or ends with a name, else None.

    `names` are as `plain_name` returns them."""
    plain = [plain_name(name) for name in header]
    for name in names:
        if name in plain:
            return plain.index(name)
    for name in names:
        for place, title in enumerate(plain):
            # A title of many words may have any word in it.
            words = title.split("_")
            if len(words) <= 3 and name in (words[-1], words[0]):
                return place
    return None


def fullest(rows: Sequence[Sequence[str]], is_wanted: Callable[[str], bool]) -> int | None:
    """Return the first column with the most wanted cells, if half of the rows have one."""
    width = max(map(len, rows), default=0)
    counts = [sum(is_wanted(row[place]) for row in rows if place < len(row)) for place in range(width)]
    best = max(counts, default=0)
    return counts.index(best) if best and 2 * best >= len(rows) else None


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its first line, from 1, its cell of the wanted column, if any, and all its cells."""

    line: int
    value: str | None
    cells: Sequence[str] = field(default=(), compare=False)


class Sheet:
    """A file of rows, and the index of the wanted column."""

    def __init__(
        self,
        file: Path,
        *,
        column: str | None,
        names: tuple[str, ...],
        is_wanted: Callable[[str], bool] = lambda cell: False,
    ) -> None:
        """`column` names the wanted column. Without it, one called like `names` is taken, else one with mostly wanted
        cells, else the first. The first row is a header if it has one of `names`."""
        if not file.is_file():
            raise InvalidRequest(f"There is no file {file}.")
        self.file = file
        self.is_workbook = is_workbook(file)
        self.encoding = "" if self.is_workbook else encoding_of(file)
        self._read_dialect()
        rows = [cells for _, cells in islice(self._cells(), ROWS)]
        self._first = first = rows[0] if rows else []
        header = [plain_name(cell) for cell in first]
        if column is not None and plain_name(column) not in header:
            raise InvalidRequest(f"{file} has no column {column!r}; its first row has {', '.join(first) or 'nothing'}.")
        # A wanted cell is not a name, whatever its words.
        known = None if any(map(is_wanted, first)) else choose(names, first)
        self.has_header = column is not None or known is not None
        if column is not None:
            self.index = header.index(plain_name(column))
        else:
            full = fullest(rows[self.has_header :], is_wanted)
            # A column called "address" may have streets in it, beside another one of URLs.
            is_empty = known is not None and not any(is_wanted(row[known]) for row in rows if known < len(row))
            self.index = next(one for one in (full if is_empty else known, known, full, 0) if one is not None)

    def rows(self) -> Iterator[Row]:
        """Yield the rows, without the header and empty ones. Raises InvalidRequest if the file is not CSV."""
        cells = self._cells()
        if self.has_header:
            next(cells, None)
        for line, row in cells:
            yield Row(line, self._value(row), row)

    @property
    def first_row(self) -> Sequence[str]:
        """The cells of the first row, which may be the columns' names."""
        return self._first

    @property
    def first_value(self) -> str | None:
        """The wanted column's cell in the first row, which may be its name."""
        return self._value(self._first)

    @cached_property
    def width(self) -> int:
        return max((len(cells) for _, cells in self._cells()), default=0)

    def column_names(self, *, is_named: bool, unnamed: str) -> list[str]:
        """Return a name for each cell of the longest row, from the first row if it `is_named`.

        Nameless columns get their number; without names, the wanted one is called `unnamed`."""
        given = [name.strip() for name in self._first] if is_named else []
        given += [""] * (self.width - len(given))
        return [
            name or (unnamed if place == self.index and not is_named else f"column_{place + 1}")
            for place, name in enumerate(given)
        ]

    def places(self, *names: str) -> dict[str, int]:
        """Return the places of columns with exactly these names; none without a header."""
        header = [plain_name(cell) for cell in self._first] if self.has_header else []
        return {name: header.index(name) for name in names if name in header}

    def refuse_as_output(self, *outputs: Path) -> None:
        """Raise InvalidRequest when one of the outputs is this file."""
        for output in outputs:
            if output.exists() and output.samefile(self.file):
                raise InvalidRequest(f"{output} is the input file; choose another name for the output.")

    def digest(self) -> str:
        with self.file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()

    def _value(self, row: list[str]) -> str | None:
        return row[self.index].strip() if self.index < len(row) else None

    def _read_dialect(self) -> None:
        if self.is_workbook:
            return
        with self._opened() as text:
            sample = text.read(SAMPLE_BYTES)
        said = SEPARATOR.match(sample)
        self.delimiter = said[1] if said else delimiter_of(sample)
        self._is_delimiter_said = said is not None

    def _cells(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the non-empty rows with their first lines."""
        rows = cells_of(self.file) if self.is_workbook else self._lines()
        return ((line, row) for line, row in rows if any(cell.strip() for cell in row))

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        csv.field_size_limit(MAX_CELL)
        with self._opened() as text:
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

    def _opened(self) -> TextIO:
        return self.file.open(encoding=self.encoding, errors="replace", newline="")


def encoding_of(file: Path) -> str:
    """Return a file's encoding: by its byte order mark, else UTF-8 if it is valid, else Windows-1252.

    Spreadsheet programs call Windows-1252 Latin-1; it adds quotes, dashes and the euro."""
    with file.open("rb") as opened:
        block = opened.read(SAMPLE_BYTES)
    if block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if not block.startswith(codecs.BOM_UTF8) and (found := _utf16_of(block)) is not None:
        return found
    try:
        with file.open(encoding="utf-8") as text:
            while text.read(BLOCK_CHARACTERS):
                pass
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"  # which also reads a file without a mark


def _utf16_of(block: bytes) -> str | None:
    """Return the UTF-16 encoding of a file without a byte order mark, or None."""
    first, second = block[0::2].count(0), block[1::2].count(0)
    has_lines = b"\n" in block
    # In UTF-16 each ASCII character has a NUL beside it, and line ends are ASCII. Other NULs prove nothing.
    if not (first or second) or (has_lines and b"\n\0" not in block and b"\0\n" not in block):
        return None
    return "utf-16-le" if second > first else "utf-16-be"


def delimiter_of(sample: str) -> str:
    """Return the delimiter that splits the most lines into as many cells as the first line.

    It must split half of them alike; otherwise each line is one cell with, say, commas in its URLs."""
    lines = sample.splitlines()[:20]
    if len(sample) >= SAMPLE_BYTES and len(lines) > 1:
        lines.pop()

    def score(delimiter: str) -> int:
        counts = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        alike = counts.count(counts[0]) if counts and counts[0] > 1 else 0
        return alike if 2 * alike >= len(counts) else 0

    best = max(DELIMITERS, key=score)
    return best if score(best) else NO_DELIMITER
