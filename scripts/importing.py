"""Importing: URLs of a CSV file as index jobs, some at a time, and their results as CSV."""

import asyncio
import csv
import hashlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from pipeline.cells import defused
from pipeline.urls import fault_of
from scripts.client import Client
from scripts.journals import Journal
from scripts.sheets import Row, Sheet

#: Jobs that are open at once: the service always has the next when one ends, and we keep few rows in memory.
OPEN_JOBS = 2
#: URLs that are read of a finished job at once.
PAGE = 1_000
POLL_SECONDS = 1.0
#: How long a service that asks for patience gets it.
PATIENCE = timedelta(hours=1)
COLUMNS = ("line", "url", "status", "is_indexed", "reason", "provider", "matched_url", "proof_url", "checked_at")


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an import will send, and the most it will cost."""

    rows: int
    faulty: int
    credits: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of one job."""

    number: int
    rows: list[Row]

    @property
    def urls(self) -> list[str]:
        """The URLs, each once, as the job will have them."""
        return list(dict.fromkeys(row.value or "" for row in self.rows))


class ErrorFile:
    """Faulty rows with their line and why; there is no file when there is no fault."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._output: TextIO | None = None
        self.count = 0

    def note(self, row: Row, reason: str) -> None:
        """Write one down."""
        if self._output is None:
            self._output = self._file.open("w", encoding="utf-8", newline="")
            csv.writer(self._output).writerow(("line", "reason", "value"))
        self.count += 1
        csv.writer(self._output).writerow((row.line, reason, defused((row.value or "")[:200])))

    def close(self) -> None:
        """Write the rest."""
        if self._output is not None:
            self._output.close()


def progress_bar() -> Progress:
    """Return the bar that all imports show."""
    return Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())


class UrlImport:
    """One import of URLs."""

    def __init__(
        self, file: Path, *, column: str | None, out: Path, errors: Path, batch: int, fields: dict[str, Any]
    ) -> None:
        self.sheet = Sheet(file, column=column, names=("url", "urls", "link"))
        self.out, self.errors = out, errors
        self._batch = batch
        self._fields = fields

    def estimate(self) -> Estimate:
        """Look at every row once, and write faulty ones down."""
        faults = ErrorFile(self.errors)
        rows = cost = 0
        for batch in self._batches(faults):
            rows += len(batch.rows)
            cost += len(batch.urls)
        faults.close()
        return Estimate(rows, faults.count, cost)

    async def run(self, url: str, key: str) -> None:
        """Send all batches and write all results; what a journal says is done is not done again."""
        digest = self.sheet.digest()
        about = {"import": "check", "file": digest, "batch": self._batch, "column": self.sheet.index, **self._fields}
        journal = Journal(self.out.with_name(f"{self.out.name}.journal"), about=about)
        written = [step for step in journal.steps if "size" in step]
        jobs = {step["batch"]: step["job_id"] for step in journal.steps if "job_id" in step}
        total = sum(len(batch.rows) for batch in self._batches())
        with progress_bar() as bar, self._output(written[-1]["size"] if written else 0) as output:
            shown = bar.add_task("checking", total=total)
            async with Client.open(url, key, patience=PATIENCE) as client:
                waiting: deque[tuple[Batch, str]] = deque()
                batches = self._batches()
                for done in islice(batches, len(written)):
                    bar.advance(shown, len(done.rows))
                while True:
                    for batch in islice(batches, OPEN_JOBS - len(waiting)):
                        job_id = jobs.get(batch.number) or await self._submit(client, batch, digest)
                        if batch.number not in jobs:
                            journal.note(batch=batch.number, job_id=job_id)
                        waiting.append((batch, job_id))
                    if not waiting:
                        break
                    batch, job_id = waiting.popleft()
                    await self._follow(client, batch, job_id, bar, shown)
                    await self._write(client, batch, job_id, output)
                    output.flush()
                    journal.note(batch=batch.number, size=output.buffer.tell())
        journal.close()

    async def _submit(self, client: Client, batch: Batch, digest: str) -> str:
        urls = batch.urls
        # Of the content alone, so that a journal that was lost costs nothing.
        key = hashlib.sha256(f"{digest} {batch.number} {self._fields} {chr(10).join(urls)}".encode()).hexdigest()
        fields = {"type": "check", "urls": urls, "source": "batch", **self._fields}
        return await client.submit("/indexing/jobs", fields, key=f"import-{key}")

    async def _follow(self, client: Client, batch: Batch, job_id: str, bar: Progress, shown: TaskID) -> None:
        before = bar.tasks[shown].completed
        while True:
            job = await client.get(f"/indexing/jobs/{job_id}")
            share = job["processed_urls"] / max(1, job["total_urls"])
            bar.update(shown, completed=before + round(share * len(batch.rows)))
            if job["status"] != "running":
                bar.update(shown, completed=before + len(batch.rows))
                return
            await asyncio.sleep(POLL_SECONDS)

    async def _write(self, client: Client, batch: Batch, job_id: str, output: TextIO) -> None:
        """Write a batch's results, a row for each of the file's, in its order."""
        found: dict[str, tuple[str, ...]] = {}
        for offset in range(0, len(batch.urls), PAGE):
            for record in await client.get(f"/indexing/jobs/{job_id}/urls?limit={PAGE}&offset={offset}"):
                found[record["url"]] = _cells(record)
        writer = csv.writer(output, quoting=csv.QUOTE_ALL)
        for row in batch.rows:
            url = row.value or ""
            writer.writerow((row.line, defused(url), *found.get(url, ("failed", "", "error", "", "", "", ""))))

    def _output(self, size: int) -> TextIO:
        """Open the results where they were last whole."""
        if not size:
            output = self.out.open("w", encoding="utf-8", newline="")
            csv.writer(output, quoting=csv.QUOTE_ALL).writerow(COLUMNS)
            return output
        output = self.out.open("r+", encoding="utf-8", newline="")
        output.truncate(size)
        output.seek(size)
        return output

    def _batches(self, faults: ErrorFile | None = None) -> Iterator[Batch]:
        rows = (row for row in self._rows(faults))
        number = 0
        while batch := list(islice(rows, self._batch)):
            yield Batch(number, batch)
            number += 1

    def _rows(self, faults: ErrorFile | None) -> Iterator[Row]:
        is_first = not self.sheet.has_header
        for row in self.sheet.rows():
            fault = fault_of(row.value) if row.value else "the row has no such column, or it is empty"
            if fault is None:
                yield row
            elif is_first and "://" not in (row.value or ""):
                pass  # a header with a name of its own
            elif faults is not None:
                faults.note(row, fault)
            is_first = False


def _cells(record: dict[str, Any]) -> tuple[str, ...]:
    raw = record["raw_result"] or {}
    indexed = {True: "true", False: "false", None: ""}[record["is_indexed"]]
    fields = ("provider", "matched_url", "proofUrl", "checked_at")
    return (record["status"], indexed, raw.get("reason", ""), *(defused(str(raw.get(name) or "")) for name in fields))
