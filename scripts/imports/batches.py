"""Batches: the rows of a sheet, parted into those that are sent together; each URL is sent once."""

import hashlib
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise

from scripts.imports.base import ErrorFile
from scripts.imports.sheet import Row, Sheet


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows, and those of their URLs, each once, that are in no batch before."""

    number: int
    rows: list[Row]
    urls: list[str]


class Batches:
    """The batches of a sheet of URLs. `fault_of` returns why a URL is not sent; None: it is."""

    def __init__(self, sheet: Sheet, size: int, fault_of: Callable[[str], str | None]) -> None:
        self._sheet = sheet
        self._size = size
        self._fault_of = fault_of

    def read(self, faults: ErrorFile | None = None) -> Iterator[Batch]:
        """Yield the batches; faulty rows are left out, and noted in `faults`."""
        rows = self._rows(faults)
        sent: set[str] = set()
        number = 0
        while some := list(islice(rows, self._size)):
            urls = [url for url in dict.fromkeys(row.value or "" for row in some) if url not in sent]
            sent.update(filter(self.is_repeated, urls))
            yield Batch(number, some, urls)
            number += 1

    def is_repeated(self, url: str) -> bool:
        """Return whether a URL stands in several rows. By its hash: a URL with the same hash only costs memory."""
        return _hash_of(url) in self._repeated

    @cached_property
    def _repeated(self) -> frozenset[int]:
        """The hashes of URLs that stand in several rows. Eight bytes a row, so that a long file fits into memory."""
        hashes = sorted(array("Q", (_hash_of(row.value or "") for row in self._sheet.rows())))
        return frozenset(one for one, following in pairwise(hashes) if one == following)

    @property
    def begins_with_names(self) -> bool:
        """Whether the first row names the columns, one of which no import may know."""
        value = self._sheet.first_value
        if self._sheet.has_header or not value:
            return True
        return self._fault_of(value) is not None and "://" not in value

    def _rows(self, faults: ErrorFile | None) -> Iterator[Row]:
        rows = self._sheet.rows()
        if self.begins_with_names and not self._sheet.has_header:
            next(rows, None)
        for row in rows:
            fault = self._fault_of(row.value) if row.value else "the row has no such column, or it is empty"
            if fault is None:
                yield row
            elif faults is not None:
                faults.note(row, fault)


def _hash_of(url: str) -> int:
    return int.from_bytes(hashlib.blake2b(url.encode("utf-8", "replace"), digest_size=8).digest())
