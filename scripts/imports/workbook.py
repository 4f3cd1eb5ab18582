"""Workbook: the first sheet of a spreadsheet file (xlsx, xls, xlsb, ods), its cells as texts."""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook

from pipeline.errors import InvalidRequest

#: How files begin: zip archives, as xlsx and ods are, and the older form of xls.
BEGINNINGS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


def is_workbook(file: Path) -> bool:
    """Return whether a file is a spreadsheet, by its first bytes: a name may say anything."""
    with file.open("rb") as opened:
        return opened.read(4) in BEGINNINGS


def cells_of(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of the first sheet, each with its number from 1. Raises InvalidRequest for a broken file."""
    try:
        with CalamineWorkbook.from_path(str(file)) as workbook:
            sheet = workbook.get_sheet_by_index(0)
            first = sheet.start[0] + 1 if sheet.start else 1
            rows = sheet.to_python(skip_empty_area=True)
    except (CalamineError, IndexError) as error:
        raise InvalidRequest(f"{file} can't be read as a spreadsheet: {error}. Save it as CSV.") from error
    for number, row in enumerate(rows, first):
        yield number, [_text(cell) for cell in row]


def _text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, date | datetime | time):
        return cell.isoformat()
    return str(cell).lower() if isinstance(cell, bool) else "" if isinstance(cell, timedelta) else str(cell)
