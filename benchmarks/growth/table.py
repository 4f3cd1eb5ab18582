"""Tables of growth: pages and time of each call at each size, and how much the largest takes of the smallest."""

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from benchmarks.growth.filling import Size

if TYPE_CHECKING:
    from benchmarks.growth.asking import Cost

#: Longest time on the largest database, relative to the smallest.
MOST = 1.2


@dataclass
class PlainTable:
    """A table in Markdown."""

    title: str
    note: str
    header: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        return "\n".join([f"## {self.title}", "", self.note, "", *(f"| {' | '.join(line)} |" for line in lines)])


class GrowthTable:
    """The costs of each call, by size."""

    def __init__(self, sizes: Sequence[Size]) -> None:
        self._sizes = sizes
        self._costs: dict[str, dict[Size, list[Cost]]] = defaultdict(lambda: defaultdict(list))

    def add(self, name: str, size: Size, cost: "Cost") -> None:
        """Add one measurement."""
        self._costs[name][size].append(cost)

    def __str__(self) -> str:
        note = (
            "Pages of 8 kB that a statement touches, and milliseconds in the server, planning too, medians; by finished"
            " + open jobs of the account. `ratio`: the largest size to the smallest that has jobs."
        )
        header = ["call", *map(str, self._sizes), "ratio of pages", "ratio of time"]
        rows: list[Sequence[str]] = [self._row(name) for name in self._costs]
        return str(PlainTable("Growth", note, header, rows))

    def log_bytes(self) -> PlainTable:
        """Return what each call that writes adds to the write-ahead log."""
        note = "Bytes that a call writes to the write-ahead log, medians; whole pages after a checkpoint come on top."
        table = PlainTable("Bytes in the log", note, ["call", *map(str, self._sizes)])
        for name, costs in self._costs.items():
            written = [statistics.median(one.wal_bytes for one in costs[size]) for size in self._sizes]
            if min(written[1:]):
                table.rows.append([name, *(f"{one:,.0f}" for one in written)])
        return table

    def _row(self, name: str) -> list[str]:
        pages = {size: statistics.median(one.pages for one in self._costs[name][size]) for size in self._sizes}
        times = {size: statistics.median(one.milliseconds for one in self._costs[name][size]) for size in self._sizes}
        small, large = min(size for size in self._sizes if size.finished), max(self._sizes)
        cells = [f"{pages[size]:,.0f} · {times[size]:.2f}" for size in self._sizes]
        return [name, *cells, _ratio(pages[large], pages[small]), _ratio(times[large], times[small])]


def _ratio(large: float, small: float) -> str:
    ratio = large / max(small, 1e-9)
    return f"{ratio:.2f}" if ratio <= MOST else f"**{ratio:,.2f}**"
