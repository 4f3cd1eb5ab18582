"""Exporting: an index job's URLs as CSV, a page of rows at a time."""

import csv
import io
from collections.abc import AsyncIterator
from uuid import UUID

from pipeline.cells import defused
from pipeline.database import AsyncDatabase
from pipeline.kinds.index_check.urls import UrlRecord, next_urls
from pipeline.timestamps import timestamp

#: Rows of a page: as much is in memory, however long the job is.
PAGE_ROWS = 1_000
COLUMNS = ("url", "status", "is_indexed", "reason", "search_status", "created_at", "updated_at")


async def export_lines(database: AsyncDatabase, job_id: UUID) -> AsyncIterator[bytes]:
    """Yield the CSV in pieces. Pages go by key, so that no transaction outlives one of them."""
    yield _lines([COLUMNS])
    after = -1
    while items := await database.run(next_urls(job_id, after=after, limit=PAGE_ROWS)):
        yield _lines([_row(UrlRecord.of(item)) for item in items])
        after = items[-1].index
        if len(items) < PAGE_ROWS:
            return


def _row(record: UrlRecord) -> tuple[str, ...]:
    is_indexed = {True: "true", False: "false", None: ""}[record.is_indexed]
    reason = record.raw_result.reason if record.raw_result else ""
    moments = (timestamp(record.created_at), timestamp(record.updated_at))
    return (record.url, record.status, is_indexed, reason, "", *moments)


def _lines(rows: list[tuple[str, ...]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(
        [defused(cell) for cell in row] for row in rows
    )
    return text.getvalue().encode()
