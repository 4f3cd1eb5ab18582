"""Import of texts: speaks the rows of a CSV file, some at a time. A row whose file exists is done."""

import asyncio
import csv
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.progress import Progress, TaskID

from capabilities.speech.kinds.batch import MAX_CHARACTERS
from capabilities.speech.kinds.fields import speech_credits
from pipeline.sheets.sheet import Row
from pressroom import AsyncPressroom, Refused
from scripts.imports.base import PATIENCE, ErrorFile, Import
from scripts.imports.journal import Journal
from scripts.terminal import progress_bar

#: Texts that are spoken at once.
OPEN_TEXTS = 8
#: Refusals of the account or its key, which every text would meet.
OF_ACCOUNT = frozenset({401, 402, 403})


class SpeechImport(Import):
    """One import of texts."""

    names = ("text", "texts")

    def __init__(self, file: Path, *, out: Path, **options: Any) -> None:
        """`out` is a folder."""
        super().__init__(file, out=out, **options)
        self.reasons = out / "refused.csv"

    def costs(self, faults: ErrorFile) -> Iterator[tuple[int, int]]:
        """Yield the credits of each row."""
        return ((1, speech_credits(len(row.value or ""))) for row in self._rows(faults))

    async def run(self, url: str, key: str) -> None:
        """Speak the texts that have no recording yet; then list all recordings."""
        self.out.mkdir(parents=True, exist_ok=True)
        digest = self.sheet.digest()
        about = {"import": "speech", "file": digest, "column": self.sheet.index, **self._fields}
        # A folder is for one file and one voice, since recordings are named by their line alone.
        Journal(self.out / "import.journal", about=about, remedy="Choose another folder for --out.").begin()
        with self.error_file(self.reasons) as refused, progress_bar() as bar:
            shown = bar.add_task("speaking", total=sum(1 for _ in self._rows()))
            async with AsyncPressroom(key, url=url, patience=PATIENCE) as client:
                rows = self._rows()
                speakers = [self._speak_all(client, rows, digest, refused, bar, shown) for _ in range(OPEN_TEXTS)]
                await asyncio.gather(*speakers)
        self.unanswered_rows = refused.count
        self._list()

    async def _speak_all(
        self, client: AsyncPressroom, rows: Iterator[Row], digest: str, refused: ErrorFile, bar: Progress, shown: TaskID
    ) -> None:
        for row in rows:
            file = self._file(row)
            if not file.exists():
                try:
                    await self._speak(client, row, file, digest)
                except Refused as error:
                    if error.status in OF_ACCOUNT:
                        raise
                    refused.note(row, error.message)
            bar.advance(shown)

    async def _speak(self, client: AsyncPressroom, row: Row, file: Path, digest: str) -> None:
        key = hashlib.sha256(f"{digest} {row.line} {self._fields} {row.value}".encode()).hexdigest()
        fields = {"text": row.value, **self._fields}
        job = await client.submit("/tts/batch", fields, idempotency_key=f"import-{key}")
        await client.wait(job.id)
        await client.result(job.id, to=file)

    def _list(self) -> None:
        with (self.out / "results.csv").open("w", encoding="utf-8", newline="") as output:
            writer = csv.writer(output, quoting=csv.QUOTE_ALL)
            writer.writerow(("line", "file", "bytes"))
            for row in self._rows():
                file = self._file(row)
                writer.writerow((row.line, *((file.name, file.stat().st_size) if file.exists() else ("", ""))))

    def _file(self, row: Row) -> Path:
        return self.out / f"{row.line:06d}.mp3"

    def _rows(self, faults: ErrorFile | None = None) -> Iterator[Row]:
        for row in self.sheet.rows():
            length = len(row.value or "")
            if 0 < length <= MAX_CHARACTERS:
                yield row
            elif faults is not None:
                faults.note(row, f"the text has {length:,} characters; the limit is 1 to {MAX_CHARACTERS:,}")
