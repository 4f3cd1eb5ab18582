"""Columns: the file's own, followed by those of the import."""

from collections.abc import Iterator, Sequence
from itertools import count

from pipeline.csv_cells import kept
from pipeline.sheets.sheet import Row

#: Prefix of our names that the file has already.
PREFIX = "pressroom_"


class Columns:
    """The columns of an import's output; `theirs` come from its input."""

    def __init__(self, theirs: Sequence[str], ours: Sequence[str]) -> None:
        self._width = len(theirs)
        taken = {name.lower() for name in theirs}
        self.header = [kept(name) for name in theirs]
        for name in ours:
            fresh = next(one for one in _names(name) if one not in taken)
            taken.add(fresh)
            self.header.append(fresh)

    def row(self, row: Row, *ours: str) -> list[str]:
        """Return an input row, followed by our cells."""
        theirs = [kept(cell) for cell in row.cells]
        return [*theirs, *[""] * (self._width - len(theirs)), *ours]


def _names(name: str) -> Iterator[str]:
    """Yield a name of ours and its alternatives."""
    yield name
    yield f"{PREFIX}{name}"
    # Results that are imported again have ours already.
    yield from (f"{PREFIX}{name}_{number}" for number in count(2))
