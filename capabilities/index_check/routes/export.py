"""Export: an index job's URLs as CSV, a page of rows at a time."""

import csv
import io
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from capabilities.index_check.results.urls import UrlRecord, next_urls
from pipeline.csv_cells import defused
from pipeline.database import AsyncDatabase
from pipeline.lifecycle.jobs import Item
from pipeline.timestamps import timestamp

#: Rows that are in memory at a time.
PAGE_ROWS = 1_000
#: The columns that have always been there, in their order, and the later ones.
BASIC_COLUMNS = ("url", "status", "is_indexed", "reason", "search_status", "created_at", "updated_at")
MORE_COLUMNS = ("provider", "index", "code", "matched_url", "checked_at")
COLUMNS = {"basic": BASIC_COLUMNS, "all": BASIC_COLUMNS + MORE_COLUMNS}
#: Tells Excel that a CSV file is UTF-8.
BYTE_ORDER_MARK = "\ufeff".encode()

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
