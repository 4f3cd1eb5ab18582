"""Bars: an SVG of horizontal bars in panels, readable on light and dark pages, with its figures as text."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 760
#: Where names end, bars begin, and the longest ends; figures stand right of it.
LABEL, BAR, MOST = 106, 114, 470
ROW, HEAD, GAP, THICKNESS = 22, 28, 14, 14
#: A text colour for both themes: a page can't style a linked image.
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #24292f }
.head { font-weight: 600 }
.bar { fill: #8c959f }
.ours { fill: #0969da }
.range { stroke: #24292f; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
  text { fill: #d0d7de }
  .bar { fill: #6e7681 }
  .ours { fill: #58a6ff }
  .range { stroke: #d0d7de }
}"""


@dataclass(frozen=True)
class Bar:
    """A median with its range; without a figure, the text alone says why."""

    name: str
    text: str
    median: float = 0
    low: float = 0
    high: float = 0
    is_ours: bool = False


@dataclass(frozen=True)
class Panel:
    """Bars that are drawn on the same scale."""

    head: str
    bars: Sequence[Bar]


def draw(title: str, panels: Sequence[Panel]) -> str:
    """Return the SVG."""
    parts, top = [], 0.0
    for panel in panels:
        parts.append(f'<text class="head" x="0" y="{top + 18:g}">{escape(panel.head)}</text>')
        scale = (MOST - BAR) / (max((bar.high for bar in panel.bars), default=0) or 1)
        for row, bar in enumerate(panel.bars):
            parts.append(_bar(bar, top + HEAD + row * ROW, scale))
        top += HEAD + len(panel.bars) * ROW + GAP
    height = f"{top:g}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img"><title>{escape(title)}</title><style>{STYLE}\n</style>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _bar(bar: Bar, top: float, scale: float) -> str:
    middle = top + ROW / 2
    kind = "bar ours" if bar.is_ours else "bar"
    parts = [f'<text x="{LABEL}" y="{middle + 4:g}" text-anchor="end">{escape(bar.name)}</text>']
    if bar.median:
        length = max(1, bar.median * scale)
        parts.append(
            f'<rect class="{kind}" x="{BAR}" y="{middle - THICKNESS / 2:g}" width="{length:.1f}" height="{THICKNESS}"/>'
        )
        low, high = (f"{BAR + figure * scale:.1f}" for figure in (bar.low, bar.high))
        parts.append(f'<path class="range" d="M{low} {middle:g}H{high}"/>')
    parts.append(f'<text x="{MOST + 10}" y="{middle + 4:g}">{escape(bar.text)}</text>')
    return "".join(parts)
