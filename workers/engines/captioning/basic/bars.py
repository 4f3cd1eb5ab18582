"""Bars: what those of a chart stand for, by the numbers at them or else by the value axis."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from PIL import Image

from workers.engines.captioning.basic.charts import Axis, labels_along, plot_of, strong_in, upended, value_of
from workers.engines.captioning.basic.ocr import Line

#: Bars that a text has room for.
FEWEST, MOST = 2, 12
#: A bar's columns end at about one height, as a share of the axis's; of touching or grouped bars they don't.
LEVEL = 0.02
#: Bars end above the highest mark in many a chart, but less than a step of the axis above it; it has two or more.
HEADROOM = 0.5
#: How far a label's middle may stand from its bar's, in widths of the bar.
OFF_MIDDLE = 0.6
#: Heights are read off an axis to a hundredth of its span; below this span, that would need decimals.
LEAST_SPAN = 10
#: A mark without a currency or another unit than per cent: of those it may be behind, or in front.
PLAIN = re.compile(r"\d[\d.,'’ ]*%?")


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: where it stands, in shares of the picture's width, and its height as a share of the axis's."""

    left: float
    right: float
    height: float

    def holds(self, line: Line) -> bool:
        """Return whether a text stands at, over or under it."""
        return abs(line.middle[0] - (self.left + self.right) / 2) <= OFF_MIDDLE * (self.right - self.left)


@dataclass(frozen=True, slots=True)
class Readings:
    """Each bar's label and value, from left to right; `texts` are those that they were taken from."""

    pairs: Sequence[tuple[str, str]]
    is_exact: bool
    texts: Sequence[str]


def readings_of(image: Image.Image, axis: Axis, lines: Sequence[Line]) -> Readings | None:
    """Return what the upright bars of a chart say; None where not all of it is clear."""
    bars = _bars(image, axis)
    if not FEWEST <= len(bars) <= MOST:
        return None
    row = labels_along(axis, lines)
    labels = _one_each(bars, row)
    # A label without a bar: that bar is too low to be seen, and the others are not all.
    if not labels or len(labels) != len(row):
        return None
    above = [line for line in lines if line not in axis.marks and line.middle[1] < axis.bottom - 0.01]
    numbers = _one_each(bars, [line for line in above if value_of(line.text) is not None])
    values = [line.text for line in numbers] or _read_off(bars, axis)
    if not values:
        return None
    pairs = [(label.text, value) for label, value in zip(labels, values, strict=True)]
    return Readings(pairs, bool(numbers), [line.text for line in (*labels, *numbers)])


def level_readings_of(image: Image.Image, axis: Axis, lines: Sequence[Line]) -> Readings | None:
    """Return what the level bars of a chart say, from top to bottom; `axis` is its axis, upended."""
    found = readings_of(image.transpose(Image.Transpose.TRANSVERSE), axis, list(map(upended, lines)))
    return None if found is None else replace(found, pairs=found.pairs[::-1])


def _one_each(bars: Sequence[Bar], lines: Sequence[Line]) -> list[Line]:
    """Return the one text that each bar has; none where one has none, or several."""
    found = [[line for line in lines if bar.holds(line)] for bar in bars]
    return [here[0] for here in found] if all(len(here) == 1 for here in found) else []


def _read_off(bars: Sequence[Bar], axis: Axis) -> list[str]:
    """Return the bars' values by their height, to a hundredth of the axis's span; none where marks are no numbers."""
    unit = "%" if axis.highest.endswith("%") else ""
    low, high = value_of(axis.lowest), value_of(axis.highest)
    if low is None or high is None or high - low < LEAST_SPAN or not PLAIN.fullmatch(axis.highest):
        return []
    scale = 10 ** math.floor(math.log10((high - low) / 100))
    step = max(1, next(scale * by for by in (1, 2, 5, 10) if scale * by >= (high - low) / 100))
    # Not "g", which writes a million as 1e+06.
    return [f"{round((low + bar.height * (high - low)) / step) * step:.0f}{unit}" for bar in bars]


def _bars(image: Image.Image, axis: Axis) -> list[Bar]:
    """Return the bars that stand apart on the axis's lowest line; none where one's top is not level or not seen."""
    import numpy as np

    area, plot = plot_of(image, axis, headroom=HEADROOM)
    if plot is None:
        return []
    span = (axis.bottom - axis.top) * image.height
    # From the foot up, so that a number over a bar does not make it taller. The line of the axis is left out.
    upwards = strong_in(plot)[::-1]
    margin = max(3, round(span) // 40)
    above = upwards[margin:]
    heights = margin + np.where(above.all(axis=0), len(above), (~above).argmax(axis=0))
    found = []
    for start, end in _runs(upwards[2:margin].mean(axis=0) > 0.6):
        if end - start < max(4, plot.shape[1] // 100):
            continue
        inner = heights[start + 1 : end - 1]
        if float(inner.max() - inner.min()) > max(3, LEVEL * span) or inner.max() == len(plot):
            return []
        left, right = (area[0] + start) / image.width, (area[0] + end) / image.width
        found.append(Bar(left, right, float(np.median(inner)) / span))
    return found


def _runs(is_in: Any) -> list[tuple[int, int]]:
    """Return where runs of true values begin and end."""
    import numpy as np

    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_in, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
