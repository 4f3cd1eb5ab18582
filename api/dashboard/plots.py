"""Plots: series of numbers as shapes for an SVG, which parts/plots.html draws; labels and the table are HTML."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from api.dashboard.filters import NONE, number

#: The plane that shapes are drawn on; the page stretches it, so labels stand beside it.
WIDTH = 1_000.0
HEIGHT = 300.0
#: Part of its place that a bar fills.
BAR_PART = 0.75
#: Labels below the plane.
MAX_LABELS = 5
#: Colours that style.css has (.s0 …); further series begin again.
COLOURS = 6
#: Tops of an axis, times a power of ten.
ROUND = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)

Values = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar, with what it says."""

    x: float
    y: float
    width: float
    height: float
    text: str


@dataclass(frozen=True, slots=True)
class Series:
    """One series: bars, or a line as an SVG path."""

    name: str
    colour: str
    bars: Sequence[Bar] = ()
    path: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot; `ticks` are the axis's labels from the top down, `rows` the same numbers as a table."""

    id: str
    title: str
    unit: str
    series: Sequence[Series]
    ticks: Sequence[str]
    labels: Sequence[str]
    rows: Sequence[Sequence[str]]
    summary: str
    width: float = WIDTH
    height: float = HEIGHT

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to see."""
        return not self.rows


def bar_plot(title: str, labels: Sequence[str], series: Mapping[str, Values], *, unit: str = "") -> Plot:
    """Return bars, one a label, in which the series lie on top of each other; without any bar the plot is empty."""
    if not any(any(_zeros(values)) for values in series.values()):
        labels, series = (), dict.fromkeys(series, ())
    top = _top(sum(column) for column in zip(*(_zeros(values) for values in series.values()), strict=True))
    step = WIDTH / max(1, len(labels))
    heights = [0.0] * len(labels)
    drawn = []
    for place, (name, values) in enumerate(series.items()):
        bars = []
        for index, value in enumerate(_zeros(values)):
            if value <= 0:
                continue
            height = value / top * HEIGHT
            heights[index] += height
            text = f"{labels[index]}: {number(value)} {unit}".strip() + (f" ({name})" if len(series) > 1 else "")
            x = step * (index + (1 - BAR_PART) / 2)
            bars.append(Bar(_short(x), _short(HEIGHT - heights[index]), _short(step * BAR_PART), _short(height), text))
        drawn.append(Series(name, f"s{place % COLOURS}", bars=bars))
    return _plot(title, labels, series, drawn, top, unit)


def line_plot(title: str, labels: Sequence[str], series: Mapping[str, Values], *, unit: str = "") -> Plot:
    """Return a line for each series; None is a gap in it."""
    top = _top(value for values in series.values() for value in _zeros(values))
    step = WIDTH / max(1, len(labels) - 1)
    drawn = [
        Series(name, f"s{place % COLOURS}", path=_path(values, step, top))
        for place, (name, values) in enumerate(series.items())
    ]
    return _plot(title, labels, series, drawn, top, unit)


def _plot(
    title: str, labels: Sequence[str], series: Mapping[str, Values], drawn: list[Series], top: float, unit: str
) -> Plot:
    rows = [
        [label, *(NONE if value is None else number(_plain(value)) for value in column)]
        for label, *column in zip(labels, *series.values(), strict=True)
    ]
    return Plot(
        id="plot-" + (re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "untitled"),
        title=title,
        unit=unit,
        series=drawn,
        ticks=[number(_plain(value)) for value in (top, top / 2, 0.0)],
        labels=_some(labels),
        rows=rows,
        summary=_summary(labels, series, unit),
    )


def _path(values: Values, step: float, top: float) -> str:
    path, is_down = [], False
    for index, value in enumerate(values):
        if value is None:
            is_down = False
            continue
        point = f"{_short(index * step):g} {_short(HEIGHT - value / top * HEIGHT):g}"
        # A point without a neighbour would not be seen: a line of no length has round ends.
        path.append(f"L{point}" if is_down else f"M{point}L{point}")
        is_down = True
    return "".join(path)


def _top(values: Iterable[float]) -> float:
    highest = max(values, default=0.0)
    if highest <= 0:
        return 1.0
    power = 10.0 ** floor(log10(highest))
    return float(next(step * power for step in ROUND if step * power >= highest * (1 - 1e-9)))


def _summary(labels: Sequence[str], series: Mapping[str, Values], unit: str) -> str:
    """Return in words what a reader sees at a glance."""
    if not labels:
        return "No values yet."
    parts = []
    for name, values in series.items():
        known = [value for value in values if value is not None]
        if known:
            last = values[-1]
            latest = "" if last is None else f", last {number(_plain(last))}"
            parts.append(f"{name}: highest {number(_plain(max(known)))}{latest}")
    return f"{labels[0]} to {labels[-1]}{f', in {unit}' if unit else ''}. " + "; ".join(parts) + "."


def _some(labels: Sequence[str]) -> list[str]:
    """Return first, last and some evenly spaced labels between them."""
    if len(labels) <= MAX_LABELS:
        return list(labels)
    every = ceil((len(labels) - 1) / (MAX_LABELS - 1))
    between = [labels[index] for index in range(0, len(labels) - every // 2 - 1, every)]
    return [*between, labels[-1]]


def _zeros(values: Values) -> list[float]:
    return [float(value or 0) for value in values]


def _plain(value: float) -> float:
    """Return a whole number as an int, which is shown without a fraction."""
    return int(value) if float(value).is_integer() else value


def _short(value: float) -> float:
    return round(value, 2)
