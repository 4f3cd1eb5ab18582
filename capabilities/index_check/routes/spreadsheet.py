"""Spreadsheet: an index job's URLs as XLSX, written row by row in threads."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from capabilities.index_check.routes.export import Cell, Export
from pipeline.lifecycle.jobs import Item

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
CHUNK_BYTES = 2**18
#: Widths of columns, in characters.
WIDE, MIDDLE, NARROW = 60, 25, 12
WIDTHS = {"url": WIDE, "matched_url": WIDE, "created_at": MIDDLE, "updated_at": MIDDLE, "checked_at": MIDDLE}
#: Format of times: shown as in JSON, and still sorted and filtered as times.
MOMENT = 'yyyy-mm-dd"T"hh:mm:ss.000"Z"'
#: Texts stay texts: nothing from outside becomes a formula or a link.
OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}


class Spreadsheet:
    """An XLSX file in progress, with its rows on disk, not in memory."""

    def __init__(self, file: Path, columns: Sequence[str]) -> None:
        import xlsxwriter  # 60 ms, which other exports need not wait for

        self._workbook = xlsxwriter.Workbook(file, {**OPTIONS, "tmpdir": str(file.parent)})
        self._sheet: Worksheet = self._workbook.add_worksheet("URLs")
        self._moment: Format = self._workbook.add_format({"num_format": MOMENT})
        for place, column in enumerate(columns):
            self._sheet.set_column(place, place, WIDTHS.get(column, NARROW))
        self._sheet.freeze_panes(1, 0)
        self._columns = len(columns)
        self._rows = 0
        self._write(list(columns))

    def add(self, export: Export, items: list[Item]) -> None:
        """Write the rows of items."""
        for item in items:
            self._write(export.row(item))

    def close(self) -> None:
        """Write the file."""
        self._sheet.autofilter(0, 0, max(1, self._rows - 1), self._columns - 1)
        self._workbook.close()

    def _write(self, cells: list[Cell]) -> None:
        for place, cell in enumerate(cells):
            match cell:
                case None:
                    pass
                case bool():
                    self._sheet.write_boolean(self._rows, place, cell)
                case datetime():
                    moment = cell.astimezone(UTC).replace(tzinfo=None)  # spreadsheets know no time zones
                    self._sheet.write_datetime(self._rows, place, moment, self._moment)
                case _:
                    self._sheet.write_string(self._rows, place, cell)
        self._rows += 1


async def xlsx_pieces(export: Export, turn: asyncio.Semaphore) -> AsyncIterator[bytes]:
    """Yield the XLSX file in pieces, once it is written, a page at a time within `turn`."""
    # A client that leaves ends this between two pages, while a thread may still be writing.
    with TemporaryDirectory(prefix="pressroom-export-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "export.xlsx"
        sheet = await asyncio.to_thread(Spreadsheet, file, export.columns)
        async for items in export.pages():
            async with turn:
                await asyncio.to_thread(sheet.add, export, items)
        async with turn:
            await asyncio.to_thread(sheet.close)
        with file.open("rb") as opened:
            while chunk := await asyncio.to_thread(opened.read, CHUNK_BYTES):
                yield chunk
