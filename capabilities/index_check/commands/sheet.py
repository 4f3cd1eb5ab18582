"""Import of a CSV file's URLs as index jobs."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from capabilities.index_check.requests.given import read_url
from pipeline.csv_cells import defused
from pipeline.sheets.sheet import Row
from pressroom import AsyncPressroom
from pressroom.documents.index import UrlRecord
from scripts.imports.url_import import Cells, UrlImport

#: One in so many looks at a job's progress also asks why it waits.
LOOKS_APART = 10
#: Columns of results, and the fields that they show.
RESULTS = (
    ("code", "code"),
    ("provider", "provider"),
    ("index", "index"),
    ("matched_url", "matched_url"),
    ("proof_url", "proofUrl"),
    ("checked_at", "checked_at"),
    ("message", "message"),
)


class IndexCheckImport(UrlImport):
    """An import of URLs for index checks."""

    name = "check"
    doing = "checking"
    names = ("url", "urls", "link", "links", "permalink", "loc", "address", "page")
    columns = ("status", "is_indexed", "reason", *(column for column, _ in RESULTS))
    unanswered = ("failed", "", "error", *[""] * len(RESULTS))
    pause = 1.0

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._looks = 0
        self._causes: list[tuple[str, str]] | None = None

    def fault_of(self, row: Row) -> str | None:
        """Return why a row is invalid; a bare domain is valid."""
        return read_url(row.value or "").fault

    def is_answered(self, cells: Cells) -> bool:
        return "done" in cells[:1]

    async def submit(self, client: AsyncPressroom, questions: Sequence[str], key: str) -> str:
        fields = {"type": "check", "urls": questions, "source": "batch", **self._fields}
        return (await client.submit("/indexing/jobs", fields, idempotency_key=key)).id

    async def standstill(self, client: AsyncPressroom, job_id: str) -> str | None:
        """Return the providers that the job waits for, until when and why; each cause once."""
        self._looks += 1
        if self._looks % LOOKS_APART != 1:
            return None
        waiting = (await client.index_job(job_id)).waiting_for
        before, self._causes = self._causes, _causes(waiting) if waiting else None
        return _waits(waiting) if waiting and self._causes != before else None

    async def answers(self, client: AsyncPressroom, questions: Sequence[str], job_id: str) -> Mapping[str, Cells]:
        found = {record.url: _cells(record) async for record in client.index_urls(job_id)}
        # By the URL as sent: a bare domain was checked with a scheme.
        return {url: found[made] for url in questions if (made := read_url(url).url) in found}


def _causes(waiting: dict[str, Any]) -> list[tuple[str, str]]:
    return sorted((one["provider"], one["code"]) for one in waiting["providers"])


def _waits(waiting: dict[str, Any]) -> str:
    return "; ".join(
        f"{one['provider']} is asked again at {datetime.fromisoformat(one['until']):%Y-%m-%d %H:%M} UTC:"
        f" {one['message']}"
        for one in waiting["providers"]
    )


def _cells(record: UrlRecord) -> Cells:
    raw = record.raw_result or {}
    indexed = {True: "true", False: "false", None: ""}[record.is_indexed]
    cells = (defused(str(raw.get(field) or "")) for _, field in RESULTS)
    return (record.status, indexed, raw.get("reason", ""), *cells)
