"""Export: an index job's URLs as CSV or XLSX, a page of rows at a time."""

import asyncio
import csv
import io
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from uuid import UUID

from capabilities.index_check.results.urls import UrlRecord, next_urls
from pipeline.csv_cells import defused
from pipeline.database import AsyncDatabase
from pipeline.lifecycle.jobs import Item
from pipeline.timestamps import timestamp

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.worksheet import Worksheet

#: Rows that are in memory at a time.
PAGE_ROWS = 1_000
#: The columns that have always been there, in their order, and the later ones.
BASIC_COLUMNS = ("url", "status", "is_indexed", "reason", "search_status", "created_at", "updated_at")
MORE_COLUMNS = ("provider", "index", "code", "matched_url", "checked_at")
COLUMNS = {"basic": BASIC_COLUMNS, "all": BASIC_COLUMNS + MORE_COLUMNS}
#: Tells Excel that a CSV file is UTF-8.
BYTE_ORDER_MARK = "\ufeff".encode()
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
CHUNK_BYTES = 2**18
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

Cell = str | bool | datetime | None


@dataclass(frozen=True, slots=True)
class Export:
    """An index job's URLs, and the wanted columns."""

    database: AsyncDatabase
    job_id: UUID
    columns: Sequence[str]

    async def pages(self) -> AsyncIterator[list[Item]]:
        """Yield the job's items in pages by key, so that no transaction outlives a page."""
        after = -1
        while items := await self.database.run(next_urls(self.job_id, after=after, limit=PAGE_ROWS)):
            yield items
            after = items[-1].index
            if len(items) < PAGE_ROWS:
                return

    def row(self, item: Item) -> list[Cell]:
        """Return the cells of an item's URL; None is empty."""
        cells = cells_of(UrlRecord.of(item))
        return [cells[column] for column in self.columns]


def cells_of(record: UrlRecord) -> dict[str, Cell]:
    raw = record.raw_result
    return {
        "url": record.url,
        "status": record.status,
        "is_indexed": record.is_indexed,
        "search_status": record.search_status,
        "created_at": record.created_at,
        "updated_at": record.updated_at,
        # Answers of earlier releases lack some.
        **{name: str(getattr(raw, name, None) or "") for name in ("reason", *MORE_COLUMNS)},
        "checked_at": datetime.fromisoformat(raw.checked_at) if raw and raw.checked_at else None,
    }


async def csv_pieces(export: Export, *, byte_order_mark: bool) -> AsyncIterator[bytes]:
    yield (BYTE_ORDER_MARK if byte_order_mark else b"") + _lines([export.columns])
    async for items in export.pages():
        yield _lines([list(map(_text, export.row(item))) for item in items])


def _text(cell: Cell) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "true" if cell else "false"
        case datetime():
            return timestamp(cell)
    return cell


def _lines(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(
        [defused(cell) for cell in row] for row in rows
    )
    return text.getvalue().encode()


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
        for item in items:
            self._write(export.row(item))

    def close(self) -> None:
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
