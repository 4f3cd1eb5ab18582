"""Batches: the rows of a sheet in groups to send; equal questions are sent once."""

import hashlib
from array import array
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise

from pipeline.sheets.sheet import Row, Sheet
from scripts.imports.base import ErrorFile


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows, and their distinct questions that no earlier batch has."""

    number: int
    rows: list[Row]
    questions: list[str]


@dataclass(frozen=True)
class ImportBatches:
    """The batches of a sheet of URLs.

    `fault_of` returns why a row is skipped, or None; `question_of` returns its question, mostly a URL. `answered` are
    questions not to repeat."""

    sheet: Sheet
    size: int
    fault_of: Callable[[Row], str | None]
    question_of: Callable[[Row], str]
    answered: Container[str] = ()

    def read(self, faults: ErrorFile | None = None) -> Iterator[Batch]:
        """Yield the batches; faulty rows are skipped and noted in `faults`."""
        rows = self._rows(faults)
        sent: set[str] = set()
        number = 0
        while some := list(islice(rows, self.size)):
            asked = dict.fromkeys(map(self.question_of, some))
            questions = [one for one in asked if one not in sent and one not in self.answered]
            sent.update(filter(self.is_repeated, questions))
            yield Batch(number, some, questions)
            number += 1

    def is_repeated(self, question: str) -> bool:
        """Return whether several rows ask this, by its hash: a collision only costs memory."""
        return _hash_of(question) in self._repeated

    @cached_property
    def _repeated(self) -> frozenset[int]:
        """The hashes of repeated questions, at eight bytes a row."""
        hashes = sorted(array("Q", (_hash_of(self.question_of(row)) for row in self.sheet.rows())))
        return frozenset(one for one, following in pairwise(hashes) if one == following)

    @property
    def begins_with_names(self) -> bool:
        """True if the first row names the columns, known or not."""
        value = self.sheet.first_value
        if self.sheet.has_header or not value:
            return True
        return "://" not in value and self.fault_of(Row(1, value)) is not None

    def _rows(self, faults: ErrorFile | None) -> Iterator[Row]:
        rows = self.sheet.rows()
        if self.begins_with_names and not self.sheet.has_header:
            next(rows, None)
        for row in rows:
            fault = self.fault_of(row) if row.value else "the row has no such column, or it is empty"
            if fault is None:
                yield row
            elif faults is not None:
                faults.note(row, fault)


def _hash_of(question: str) -> int:
    return int.from_bytes(hashlib.blake2b(question.encode("utf-8", "replace"), digest_size=8).digest())
