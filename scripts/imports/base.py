"""Importing: what all imports of a CSV file of URLs have in common: batches, a job each, and their results as CSV."""

import csv
import hashlib
import os
from array import array
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, ClassVar, TextIO

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from pipeline.cells import defused
from pipeline.urls import fault_of
from scripts.client import Client
from scripts.imports.faulty_rows import ErrorFile
from scripts.imports.journals import Journal, told_if_gone
from scripts.imports.sheets import Row, Sheet

#: Jobs that are open at once: the service always has the next when one ends, and we keep few rows in memory.
OPEN_JOBS = 2
#: How long a service that asks for patience gets it.
PATIENCE = timedelta(hours=1)

Cells = Sequence[str]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an import will send, and the most it will cost."""

    rows: int
    faulty: int
    credits: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that are done together, and those of their URLs, each once, that no batch before has asked for."""

    number: int
    rows: list[Row]
    urls: list[str]


def progress_bar() -> Progress:
    """Return the bar that all imports show."""
    return Progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())


class Import:
    """One import of URLs. A subclass says what is asked of them, and what is written of the answers."""

    #: What it is in its journal, and what its progress bar says.
    name: ClassVar[str]
    doing: ClassVar[str]
    #: Names that the URLs' column goes by.
    names: ClassVar[tuple[str, ...]]
    #: The columns of the results after that of the line, and what follows the URL where there is no answer.
    columns: ClassVar[Cells]
    unanswered: ClassVar[Cells]

    def __init__(
        self, file: Path, *, column: str | None, out: Path, errors: Path, batch: int, fields: dict[str, Any]
    ) -> None:
        self.sheet = Sheet(file, column=column, names=self.names)
        self.sheet.spare(out, errors)
        self.out, self.errors = out, errors
        #: Rows whose results hold no answer, and where it stands why.
        self.unanswered_rows = 0
        self.reasons = out
        self._batch = batch
        self._fields = fields
        self._total: int | None = None
        #: Answers that later batches need again.
        self._known: dict[str, Cells] = {}

    def fault_of(self, url: str) -> str | None:
        """Return why a URL is not sent; None: it is."""
        return fault_of(url)

    def is_answered(self, cells: Cells) -> bool:
        """Return whether the results of a URL are an answer."""
        raise NotImplementedError

    async def submit(self, client: Client, urls: Sequence[str], key: str) -> str:
        """Ask for URLs; returns the job's id."""
        raise NotImplementedError

    async def follow(self, client: Client, job_id: str, progress: Callable[[float], None]) -> None:
        """Return when a job has ended, however it did; `progress` takes the share that is done."""
        raise NotImplementedError

    async def answers(self, client: Client, urls: Sequence[str], job_id: str) -> Mapping[str, Cells]:
        """Return the cells of an ended job's URLs."""
        raise NotImplementedError

    def estimate(self) -> Estimate:
        """Look at every row, and write faulty ones down."""
        rows = cost = 0
        with ErrorFile(self.errors) as faults:
            for batch in self._batches(faults):
                rows += len(batch.rows)
                cost += len(batch.urls)
        self._total = rows
        return Estimate(rows, faults.count, cost)

    async def run(self, url: str, key: str) -> None:
        """Send all batches and write all results; what a journal says is done is not done again."""
        journal = self._journal()
        written = [step["size"] for step in journal.steps if "size" in step]
        if written and not (self.out.is_file() and self.out.stat().st_size >= written[-1]):
            written = []  # the results are gone, and are read again: their jobs are known, and paid for
        batches = self._batches()
        done = (row for batch in islice(batches, len(written)) for row in batch.rows)
        total = self._total or self.estimate().rows
        with progress_bar() as bar, self._output(written[-1] if written else 0) as output:
            shown = bar.add_task(self.doing, total=total, completed=self._recall(output, done))
            async with Client.open(url, key, patience=PATIENCE) as client:
                async for batch, job_id in self._jobs(client, batches, journal):
                    with told_if_gone(journal):
                        await self._follow(client, batch, job_id, bar, shown)
                        await self._write(client, batch, job_id, output)
                    output.flush()
                    journal.note(batch=batch.number, size=output.buffer.tell())
        journal.close()

    def _journal(self) -> Journal:
        digest = self.sheet.digest()
        about = {"import": self.name, "file": digest, "batch": self._batch, "column": self.sheet.index, **self._fields}
        return Journal(self.out.with_name(f"{self.out.name}.journal"), about=about)

    async def _jobs(
        self, client: Client, batches: Iterator[Batch], journal: Journal
    ) -> AsyncIterator[tuple[Batch, str]]:
        """Yield the batches with their jobs, in order; the next job is always submitted before one is waited for."""
        digest = self.sheet.digest()
        jobs = {step["batch"]: step["job_id"] for step in journal.steps if "job_id" in step}
        waiting: deque[tuple[Batch, str]] = deque()
        while True:
            for batch in islice(batches, OPEN_JOBS - len(waiting)):
                job_id = jobs.get(batch.number) or await self._submit(client, batch, digest)
                if batch.number not in jobs:
                    journal.note(batch=batch.number, job_id=job_id)
                waiting.append((batch, job_id))
            if not waiting:
                return
            yield waiting.popleft()

    async def _follow(self, client: Client, batch: Batch, job_id: str, bar: Progress, shown: TaskID) -> None:
        before = bar.tasks[shown].completed

        def progress(share: float) -> None:
            bar.update(shown, completed=before + round(share * len(batch.rows)))

        if job_id:
            await self.follow(client, job_id, progress)
        progress(1)

    async def _submit(self, client: Client, batch: Batch, digest: str) -> str:
        """Ask for a batch's URLs; a batch without any of its own needs no job."""
        if not batch.urls:
            return ""
        # Of the content alone, so that a journal that was lost costs nothing.
        content = f"{digest} {batch.number} {self._fields} {chr(10).join(batch.urls)}"
        return await self.submit(client, batch.urls, f"import-{hashlib.sha256(content.encode()).hexdigest()}")

    async def _write(self, client: Client, batch: Batch, job_id: str, output: TextIO) -> None:
        """Write a batch's results, a row for each of the file's, in its order."""
        found = await self.answers(client, batch.urls, job_id) if job_id else {}
        writer = csv.writer(output, quoting=csv.QUOTE_ALL)
        for row in batch.rows:
            url = row.value or ""
            cells = self._known.get(url) or found.get(url, self.unanswered)
            self._take_in(url, cells)
            writer.writerow((row.line, defused(url), *cells))

    def _take_in(self, url: str, cells: Cells) -> None:
        """Count a row's results, and keep them where a later row wants the same."""
        self.unanswered_rows += not self.is_answered(cells)
        if mark_of(url) in self._repeated:
            self._known[url] = cells

    def _output(self, size: int) -> TextIO:
        """Open the results where they were last whole."""
        if not size:
            output = self.out.open("w", encoding="utf-8", newline="")
            csv.writer(output, quoting=csv.QUOTE_ALL).writerow(("line", *self.columns))
            return output
        output = self.out.open("r+", encoding="utf-8", newline="")
        output.truncate(size)
        return output

    def _recall(self, output: TextIO, done: Iterator[Row]) -> int:
        """Read what the results say of the rows that are done, and go to their end; returns how many those are."""
        count = 0
        written = islice(csv.reader(output), 1, None) if output.readable() else iter(())
        for count, row in enumerate(done, 1):  # noqa: B007  it is what is returned
            self._take_in(row.value or "", next(written, ("", "", *self.unanswered))[2:])
        output.seek(0, os.SEEK_END)
        return count

    @cached_property
    def _repeated(self) -> frozenset[int]:
        """The marks of URLs that stand in several rows; at eight bytes a row, a long file fits as well."""
        marks = sorted(array("Q", (mark_of(row.value or "") for row in self.sheet.rows())))
        return frozenset(mark for mark, following in pairwise(marks) if mark == following)

    def _batches(self, faults: ErrorFile | None = None) -> Iterator[Batch]:
        rows = self._rows(faults)
        asked: set[str] = set()
        number = 0
        while some := list(islice(rows, self._batch)):
            urls = [url for url in dict.fromkeys(row.value or "" for row in some) if url not in asked]
            asked.update(url for url in urls if mark_of(url) in self._repeated)
            yield Batch(number, some, urls)
            number += 1

    def _rows(self, faults: ErrorFile | None) -> Iterator[Row]:
        is_first = not self.sheet.has_header
        for row in self.sheet.rows():
            fault = self.fault_of(row.value) if row.value else "the row has no such column, or it is empty"
            if fault is None:
                yield row
            elif is_first and "://" not in (row.value or ""):
                pass  # a header with a name of its own
            elif faults is not None:
                faults.note(row, fault)
            is_first = False


def mark_of(url: str) -> int:
    """Return 64 bits that tell a URL from others; whether two are the same is then looked at."""
    return int.from_bytes(hashlib.blake2b(url.encode("utf-8", "replace"), digest_size=8).digest())
