"""Lines: an SVG of panels with a line for each system over time, readable on light and dark pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import log10

#: Two panels stand beside each other.
WIDTH, COLUMNS = 760, 2
PANEL, LEFT, HEAD, HEIGHT, FOOT = 362, 46, 26, 120, 30
#: Colours of our line, which comes first, and of others; readers who confuse red and green can tell them apart.
COLOURS = ("#0969da", "#d1701f", "#8c5fc7", "#2f9e77")
STYLE = """
text { font: 11px system-ui, sans-serif; fill: #24292f }
.head { font-weight: 600 }
.axis { stroke: #8c959f; stroke-width: 1; fill: none }
.mark { stroke: #8c959f; stroke-dasharray: 3 3 }
.line { fill: none; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) { text { fill: #d0d7de } }"""


@dataclass(frozen=True)
class Line:
    """The points of one system, in order."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Panel:
    """Lines on the same scale, which is logarithmic."""

    head: str
    lines: Sequence[Line]


def draw(title: str, panels: Sequence[Panel], *, marks: Sequence[float], along: str) -> str:
    """Return the SVG; `marks` are upright lines, `along` says what the points' first figure is."""
    parts = []
    for number, line in enumerate(panels[0].lines):
        left = LEFT + number * 120
        parts.append(f'<path class="line" stroke="{COLOURS[number]}" d="M{left} 10h20"/>')
        parts.append(f'<text x="{left + 26}" y="14">{escape(line.name)}</text>')
    for number, panel in enumerate(panels):
        across, down = number % COLUMNS, number // COLUMNS
        moved = f"translate({across * WIDTH // COLUMNS} {24 + down * (HEAD + HEIGHT + FOOT)})"
        parts.append(f'<g transform="{moved}">{_panel(panel, marks, along)}</g>')
    height = 24 + -(-len(panels) // COLUMNS) * (HEAD + HEIGHT + FOOT)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img"><title>{escape(title)}</title><style>{STYLE}\n</style>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _panel(panel: Panel, marks: Sequence[float], along: str) -> str:
    points = [point for line in panel.lines for point in line.points]
    first, last = min(x for x, _ in points), max(x for x, _ in points)
    figures = [y for _, y in points if y > 0] or [1.0]
    low, high = log10(min(figures)), log10(max(figures))
    low, high = (low, high) if high - low > 0.3 else (low - 0.15, high + 0.15)

    def at(x: float, y: float) -> str:
        right = LEFT + (x - first) / (last - first or 1) * (PANEL - LEFT)
        down = HEAD + HEIGHT * (1 - (log10(max(y, 10**low)) - low) / (high - low))
        return f"{right:.1f} {down:.1f}"

    bottom = HEAD + HEIGHT
    parts = [f'<text class="head" x="{LEFT}" y="16">{escape(panel.head)}</text>']
    parts.append(f'<path class="axis" d="M{LEFT} {HEAD}V{bottom}H{PANEL}"/>')
    for figure in (10**low, 10 ** ((low + high) / 2), 10**high):
        height = at(first, figure).split()[1]
        parts.append(f'<text x="{LEFT - 5}" y="{height}" dy="4" text-anchor="end">{_short(figure)}</text>')
    for x in marks:
        parts.append(f'<path class="mark" d="M{at(x, 10**low)}V{HEAD}"/>')
        parts.append(f'<text x="{at(x, 0).split()[0]}" y="{bottom + 14}" text-anchor="middle">{x:g}</text>')
    parts.append(f'<text x="{(LEFT + PANEL) / 2:g}" y="{bottom + 14}" text-anchor="middle">{escape(along)}</text>')
    for line, colour in zip(panel.lines, COLOURS, strict=False):
        parts.append(f'<path class="line" stroke="{colour}" d="M{"L".join(at(x, y) for x, y in line.points)}"/>')
    return "".join(parts)


def _short(figure: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if figure >= size:
            return f"{figure / size:.3g}{unit}"
    return f"{figure:.3g}"
