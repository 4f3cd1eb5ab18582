"""URL import: sends the URLs of a file in batches, a job each, and writes a row of results for each row."""

import asyncio
import csv
import hashlib
import os
from abc import abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, TextIO

from rich.progress import Progress, TaskID

import pressroom
from pipeline.downloads.urls import fault_of
from pipeline.errors import Conflict, Gone
from pipeline.sheets.sheet import Row
from pressroom import AsyncPressroom
from scripts.imports.base import PATIENCE, ErrorFile, Import
from scripts.imports.batches import Batch, ImportBatches
from scripts.imports.journal import BEGIN_ANEW, Earlier, Journal
from scripts.terminal import plain, progress_bar

#: Open jobs at once: the service never waits for the next, and few rows are in memory.
OPEN_JOBS = 2

Cells = Sequence[str]


def is_web_url(text: str) -> bool:
    return text.strip().lower().startswith(("http://", "https://"))


class UrlImport(Import):
    """An import of URLs. A subclass defines the questions and the results."""

    #: Its name in its journal, and the label of its progress bar.
    name: ClassVar[str]
    doing: ClassVar[str]
    #: The result columns, which follow the file's and the line, and their cells without an answer.
    columns: ClassVar[Cells]
    unanswered: ClassVar[Cells]
    #: Seconds between polls of a job of up to a thousand URLs; longer for longer jobs.
    pause: ClassVar[float] = 0.3
    price_note = " at most (repeated addresses are asked once)"

    def __init__(self, file: Path, *, out: Path | None, batch: int, again: bool = False, **options: Any) -> None:
        """`batch` is the most URLs of one job. `again` keeps the answers in the results and asks for the others."""
        super().__init__(file, out=out or file.with_suffix(".results.csv"), **options)
        self._batch = batch
        self._earlier = Earlier(self.out) if again else None
        #: Results for repeated questions, and earlier answers.
        self._known: dict[str, Cells] = {}
        self._batches = ImportBatches(self.sheet, batch, self.fault_of, self.question_of, self._known)
        self._total: int | None = None

    def is_wanted(self, cell: str) -> bool:
        return is_web_url(cell)

    def fault_of(self, row: Row) -> str | None:
        return fault_of(row.value or "")

    def question_of(self, row: Row) -> str:
        """Return a row's question: its URL, and perhaps more."""
        return row.value or ""

    @abstractmethod
    def is_answered(self, cells: Cells) -> bool:
        """Return whether the results of a URL are an answer."""

    @abstractmethod
    async def submit(self, client: AsyncPressroom, questions: Sequence[str], key: str) -> str:
        """Submit a job for questions, with an Idempotency-Key; returns its id."""

    @abstractmethod
    async def answers(self, client: AsyncPressroom, questions: Sequence[str], job_id: str) -> Mapping[str, Cells]:
        """Return the results of an ended job by question."""

    async def standstill(self, client: AsyncPressroom, job_id: str) -> str | None:
        """Return why a job stands still, if that should be shown now."""
        return None

    @property
    def has_names(self) -> bool:
        return self._batches.begins_with_names

    def costs(self, faults: ErrorFile) -> Iterator[tuple[int, int]]:
        """Yield the rows and the credits of each batch."""
        self._read_earlier()
        self._total = 0
        for batch in self._batches.read(faults):
            self._total += len(batch.rows)
            yield len(batch.rows), len(batch.questions)

    async def run(self, url: str, key: str) -> None:
        """Send all batches and write all results, except those that the journal has as done."""
        self._read_earlier()
        self._columns = self.columns_with(("line", *self.columns))
        journal = self._journal()
        if self._earlier:
            self._earlier.set_aside()
        elif not journal.steps:
            self._refuse_other_results()
        number, size = journal.written
        if not self._has_results(size):
            number = size = 0  # the results were lost; they are read again from the paid jobs
        batches = self._batches.read()
        done = (row for batch in islice(batches, number) for row in batch.rows)
        total = self._total or self.estimate().rows
        with progress_bar() as bar, self._output(size) as output:
            shown = bar.add_task(self.doing, total=total, completed=self._restore(output, done))
            async with AsyncPressroom(key, url=url, patience=PATIENCE) as client:
                async for batch, job_id in self._jobs(client, batches, journal):
                    try:
                        await self._follow(client, batch, job_id, bar, shown)
                        await self._write(client, batch, job_id, output)
                    except pressroom.Gone as error:
                        kept = f"{journal.file} knows a job whose results are not kept any more."
                        raise Gone(f"{kept} {BEGIN_ANEW}") from error
                    output.flush()
                    journal.note(batch=batch.number, size=output.buffer.tell())
        if self._earlier:
            self._earlier.close()  # first: without its journal it would pass for the last results
        journal.close()

    def _read_earlier(self) -> None:
        if self._earlier is None or self._known:
            return
        # By a row's own cells, as rows may have been mended, added or moved since; their hashes take less memory.
        earlier = {hash(theirs): cells for theirs, cells in self._earlier.rows(self.columns)}
        columns = self.columns_with(())
        for row in (row for batch in self._batches.read() for row in batch.rows):
            cells = earlier.get(hash(tuple(columns.row(row))))
            if cells and self.is_answered(cells):
                self._known[self.question_of(row)] = cells

    def _journal(self) -> Journal:
        digest = self.sheet.digest()
        about = {"import": self.name, "file": digest, "batch": self._batch, "column": self.sheet.index, **self._fields}
        if self._earlier:
            about["again"] = self._earlier.digest
        return Journal(self.out.with_name(f"{self.out.name}.journal"), about=about)

    async def _jobs(
        self, client: AsyncPressroom, batches: Iterator[Batch], journal: Journal
    ) -> AsyncIterator[tuple[Batch, str]]:
        """Yield the batches with their jobs, in order; the next job is submitted before one is awaited."""
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

    async def _submit(self, client: AsyncPressroom, batch: Batch, digest: str) -> str:
        """Submit a batch's job; returns an empty id if no question is new."""
        if not batch.questions:
            return ""
        # Made from the content alone, so that it is the same job even without the journal.
        again = self._earlier.digest if self._earlier else ""
        content = f"{digest}{again} {batch.number} {self._fields} {chr(10).join(batch.questions)}"
        return await self.submit(client, batch.questions, f"import-{hashlib.sha256(content.encode()).hexdigest()}")

    async def _follow(self, client: AsyncPressroom, batch: Batch, job_id: str, bar: Progress, shown: TaskID) -> None:
        before = bar.tasks[shown].completed

        pause = self.pause * max(1, len(batch.questions) / 1_000)
        while job_id and not (job := await client.job(job_id)).has_ended:
            done = (job.progress.done + job.progress.failed) / max(1, job.progress.total)
            bar.update(shown, completed=before + round(done * len(batch.rows)))
            if (told := await self.standstill(client, job_id)) is not None:
                bar.console.print(plain(told), soft_wrap=True, highlight=False)
            await asyncio.sleep(pause)
        bar.update(shown, completed=before + len(batch.rows))

    async def _write(self, client: AsyncPressroom, batch: Batch, job_id: str, output: TextIO) -> None:
        """Write a batch's results in the file's order."""
        found = await self.answers(client, batch.questions, job_id) if job_id else {}
        writer = csv.writer(output, quoting=csv.QUOTE_ALL)
        for row in batch.rows:
            question = self.question_of(row)
            cells = self._known.get(question) or found.get(question, self.unanswered)
            self._keep(question, cells)
            writer.writerow(self._columns.row(row, str(row.line), *cells))

    def _keep(self, question: str, cells: Cells) -> None:
        """Count rows without an answer, and keep results that later rows need."""
        self.unanswered_rows += not self.is_answered(cells)
        if self._batches.is_repeated(question):
            self._known[question] = cells

    def _output(self, size: int) -> TextIO:
        """Open the results, cut to the size in the journal; a new file gets its header."""
        if not size:
            output = self.out.open("w", encoding="utf-8", newline="")
            csv.writer(output, quoting=csv.QUOTE_ALL).writerow(self._columns.header)
            return output
        output = self.out.open("r+", encoding="utf-8", newline="")
        output.truncate(size)
        return output

    def _has_results(self, size: int) -> bool:
        """Return whether the results have at least this size, and this release's columns."""
        if not (self.out.is_file() and self.out.stat().st_size >= size):
            return False
        with self.out.open(encoding="utf-8", newline="") as output:
            return next(csv.reader(output), None) == self._columns.header

    def _refuse_other_results(self) -> None:
        """Raise Conflict if the results are those of another file or import."""
        if not self.out.is_file():
            return
        row = next(row for batch in self._batches.read() for row in batch.rows)
        expected = self._columns.row(row, str(row.line))
        with self.out.open(encoding="utf-8", newline="") as output:
            written = csv.reader(output)
            head, first = next(written, []), next(written, [])
        if head != self._columns.header or first[: len(expected)] != list(expected):
            raise Conflict(f"{self.out} has the results of another import. Name another file with --out.")

    def _restore(self, output: TextIO, done: Iterator[Row]) -> int:
        """Read the results of finished rows up to the file's end; returns their number."""
        count = 0
        written = islice(csv.reader(output), 1, None) if output.readable() else iter(())
        for count, row in enumerate(done, 1):  # noqa: B007  it is what is returned
            self._keep(self.question_of(row), next(written, self.unanswered)[-len(self.columns) :])
        output.seek(0, os.SEEK_END)
        return count
