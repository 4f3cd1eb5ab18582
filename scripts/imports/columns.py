"""Columns: those of the file that an import reads, as they are, and its own ones behind them."""

from collections.abc import Iterator, Sequence
from itertools import count

from pipeline.csv_cells import kept
from scripts.imports.sheet import Row

#: What stands before a name of ours that the file has already.
PREFIX = "pressroom_"


class Columns:
    """The columns of a file that an import writes. `theirs` are those of the file that it reads."""

    def __init__(self, theirs: Sequence[str], ours: Sequence[str]) -> None:
        self._width = len(theirs)
        taken = {name.lower() for name in theirs}
        self.header = [kept(name) for name in theirs]
        for name in ours:
            fresh = next(one for one in _names(name) if one not in taken)
            taken.add(fresh)
            self.header.append(fresh)

    def row(self, row: Row, *ours: str) -> list[str]:
        """Return a row of the file that is read, with our cells behind it."""
        theirs = [kept(cell) for cell in row.cells]
        return [*theirs, *[""] * (self._width - len(theirs)), *ours]


def _names(name: str) -> Iterator[str]:
    """Yield a name of ours, and others in its place."""
    yield name
    yield f"{PREFIX}{name}"
    # Results that are sent in again have ours already.
    yield from (f"{PREFIX}{name}_{number}" for number in count(2))
