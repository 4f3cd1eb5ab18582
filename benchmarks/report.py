"""Report: figures as tables, with the raw limit, the ratio and the target beside each."""

import os
import platform
import statistics
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from revision import revision

HEADER = ("what", "ours", "raw limit", "ratio", "target", "met")


@dataclass
class Table:
    """Findings of one measurement; `note` says how to read them."""

    title: str
    note: str = ""
    rows: list[Sequence[str]] = field(default_factory=list)

    def compare(
        self, what: str, ours: Sequence[float], raw: Sequence[float], *, unit: str, least: float | None = None
    ) -> None:
        """Add a figure where more is better, by the median ratio of rounds that followed each other."""
        ratio = statistics.median(mine / other for mine, other in zip(ours, raw, strict=True))
        target, met = ("", "") if least is None else (f"≥ {least:g}", _met(ratio >= least))
        self.rows.append((what, _spread(ours, unit), _spread(raw, unit), f"{ratio:.2f}", target, met))

    def bound(
        self, what: str, ours: Sequence[float], *, unit: str, most: float | None = None, raw: Sequence[float] = ()
    ) -> None:
        """Add a figure where less is better, with the most that it may be."""
        median = statistics.median(ours)
        ratio = f"{median / statistics.median(raw):.2f}" if raw else ""
        target, met = ("", "") if most is None else (f"≤ {most:g} {unit}", _met(median <= most))
        self.rows.append((what, _spread(ours, unit), _spread(raw, unit) if raw else "", ratio, target, met))

    def say(self, what: str, ours: str, *, target: str = "", is_met: bool | None = None) -> None:
        """Add a figure that has no raw limit."""
        self.rows.append((what, ours, "", "", target, "" if is_met is None else _met(is_met)))

    def __str__(self) -> str:
        rows = [HEADER, *self.rows]
        kept = [column for column in range(len(HEADER)) if any(row[column] for row in self.rows)]
        widths = {column: max(len(row[column]) for row in rows) for column in kept}
        lines = ["  ".join(row[column].ljust(widths[column]) for column in kept).rstrip() for row in rows]
        return "\n".join(filter(None, (f"## {self.title}", self.note, *lines)))


def machine() -> str:
    """Say on what the figures were measured."""
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    processor = names[0].partition(":")[2].strip() if names else platform.processor()
    load = os.getloadavg()[0]
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, commit {revision()}, {os.cpu_count()} cores ({processor}), Python "
        f"{platform.python_version()}, load {load:.1f} before the start. Medians [lowest – highest round]."
    )


def _met(is_met: bool) -> str:
    return "yes" if is_met else "NO"


def _spread(figures: Sequence[float], unit: str) -> str:
    median = statistics.median(figures)
    spread = f" [{_short(min(figures))} – {_short(max(figures))}]" if len(figures) > 1 else ""
    return f"{_short(median)} {unit}{spread}".strip()


def _short(figure: float) -> str:
    return f"{figure:,.0f}" if abs(figure) >= 100 else f"{figure:,.1f}" if abs(figure) >= 10 else f"{figure:.2f}"
