"""Charts: the marks that prove that a picture is one: a value axis, bars on a common line, shares of a whole."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from PIL import Image

from workers.engines.captioning.basic.ocr import Line

NUMBER = re.compile(r"[-–−+]?\s?[$€£¥]?\s?(\d[\d.,'’ ]*)\s?(?:[%€$£¥kKMm]|bn|mio|mil|°\s?[CF]?|[℃℉])?\.?")
SHARE = re.compile(r"(\d{1,3}(?:[.,]\d)?)\s?%")

#: What programs write at the end of an axis of large numbers: 1e6, x10^3; none is above 15.
POWER = re.compile(r"(?:1e\+?|[x×]\s?10\^?)(1[0-5]|\d)")
#: Shades that a bar of colours has between its lowest and highest marks at least; a frame and its ticks have a few.
LEAST_SHADES = 16
#: The share of rows in which a bar of colours is as it is to the left and to the right.
EVEN = 0.95

#: Marks that make an axis, and how much of the height it takes at least.
LEAST_MARKS, LEAST_SPAN = 3, 0.25
#: How far marks may stand from a common edge and from their place on the scale, in shares of the picture.
ALIGNED, ON_SCALE = 0.02, 0.02
#: How much lower labels of one row may begin: small letters than capitals. Upended ones are as high as they are long.
IN_ROW = 0.03
#: What shares of a whole add up to, rounded as they may be.
WHOLE = (98.0, 102.0)


@dataclass(frozen=True, slots=True)
class Axis:
    """A value axis: its lowest and highest marks as they are written, where it ends, and its marks.

    Below the lowest there may be another: a lone 0 is often not read."""

    lowest: str
    highest: str
    top: float
    bottom: float
    marks: tuple[Line, ...]
    #: The power of ten that stands at its end and is meant with each mark, which `lowest` and `highest` have in them.
    power: Line | None = None


def value_of(text: str) -> float | None:
    """Return the number that a whole text is; None: it is no number."""
    found = NUMBER.fullmatch(text.strip())
    if found is None:
        return None
    digits = re.sub(r"[ '’]", "", found[1]).rstrip(".,")
    # 1.000 and 1,000 are thousands; 1.5 and 0,25 are not.
    digits = re.sub(r"[.,](?=\d{3}(?:[.,]|\Z))", "", digits).replace(",", ".")
    try:
        value = float(digits)
    except ValueError:
        return None
    return -value if text.strip()[0] in "-–−" else value


def axis_of(lines: Sequence[Line]) -> Axis | None:
    """Return the vertical axis: numbers under each other, evenly spaced by their value, the largest at the top."""
    numbers = [(line, value) for line in lines if (value := value_of(line.text)) is not None]
    for edge in ("right", "left"):
        for anchor, _ in numbers:
            column = [one for one in numbers if abs(getattr(one[0], edge) - getattr(anchor, edge)) <= ALIGNED]
            if _is_scale(column):
                low, high = min(column, key=lambda one: one[1])[0], max(column, key=lambda one: one[1])[0]
                marks = tuple(line for line, _ in column)
                return _multiplied(Axis(low.text, high.text, high.middle[1], low.middle[1], marks), lines)
    return None


def _multiplied(axis: Axis, lines: Sequence[Line]) -> Axis:
    """Return an axis with the power of ten that a program has written over it: 2.00 under 1e6 are two million."""
    right = max(mark.right for mark in axis.marks)
    for line in lines:
        found = POWER.fullmatch(line.text)
        if found is not None and line.bottom <= axis.top and line.left <= right + ALIGNED:
            lowest, highest = ((value_of(mark) or 0.0) * 10 ** int(found[1]) for mark in (axis.lowest, axis.highest))
            return replace(axis, lowest=f"{lowest:.0f}", highest=f"{highest:.0f}", power=line)
    return axis


def stands_at_colours(image: Image.Image, axis: Axis) -> bool:
    """Return whether an axis's numbers belong to a bar of colours, which say what a map's colours mean."""
    import numpy as np

    left = round(min(mark.left for mark in axis.marks) * image.width)
    # Between the bar and its numbers stand ticks.
    strip = image.crop(
        (max(0, left - image.width // 20), round(axis.top * image.height), left, round(axis.bottom * image.height))
    )
    if min(strip.size) < LEAST_SHADES:
        return False
    codes = np.asarray(strip).astype(np.int16) >> 3
    # A bar is as it is over some pixels' width; the letters of an axis's name, of as many shades, are not.
    across = max(4, image.width // 100)
    is_even = (np.abs(codes[:, across:] - codes[:, :-across]).max(axis=2) <= 1).mean(axis=0) > EVEN
    return any(len(np.unique(codes[:, column], axis=0)) >= LEAST_SHADES for column in np.flatnonzero(is_even))


def upended(line: Line) -> Line:
    """Return where a text stands in its picture once level bars stand upright: that of Image.Transpose.TRANSVERSE."""
    return replace(line, left=1 - line.bottom, top=1 - line.right, right=1 - line.top, bottom=1 - line.left)


def level_axis_of(lines: Sequence[Line]) -> Axis | None:
    """Return a level axis: four numbers or more beside each other. Not a calendar's days, which rise by one."""
    axis = axis_of(list(map(upended, lines)))
    if axis is None or len(axis.marks) < LEAST_MARKS + 1:
        return None
    values = sorted(value for line in axis.marks if (value := value_of(line.text)) is not None)
    return axis if values[1] - values[0] != 1 else None


def _is_scale(column: Sequence[tuple[Line, float]]) -> bool:
    places = [line.middle[1] for line, _ in column]
    values = [value for _, value in column]
    if len(set(values)) < LEAST_MARKS or max(places) - min(places) < LEAST_SPAN or len(set(values)) < len(values):
        return False
    top, bottom = places.index(min(places)), places.index(max(places))
    if values[top] <= values[bottom]:  # a list's numbers grow downwards
        return False
    slope = (places[bottom] - places[top]) / (values[bottom] - values[top])
    return all(
        abs(place - places[top] - (value - values[top]) * slope) <= ON_SCALE
        for place, value in zip(places, values, strict=True)
    )


def labels_along(axis: Axis, lines: Sequence[Line]) -> list[Line]:
    """Return the labels in the row under an upright axis, from left to right: months, years, names."""
    under = [line for line in lines if line not in axis.marks and line.top > axis.bottom - 0.01]
    first = min((line.top for line in under), default=0.0)
    return sorted(
        (line for line in under if line.top - first <= min(line.height / 2, IN_ROW)), key=lambda line: line.left
    )


def ends_of(labels: Sequence[Line]) -> tuple[str, str] | None:
    """Return the first and the last label of a row; None where one may have been missed, as a lone 0 often is."""
    is_sure = len(labels) >= LEAST_MARKS and all(len(label.text) > 1 for label in labels)
    return (labels[0].text, labels[-1].text) if is_sure else None


def tells_shares(lines: Sequence[Line]) -> bool:
    """Return whether at least three percentages in the picture make up a whole."""
    shares = [float(found[1].replace(",", ".")) for line in lines if (found := SHARE.search(line.text))]
    return len(shares) >= LEAST_MARKS and WHOLE[0] <= sum(shares) <= WHOLE[1]


def count_bars(image: Image.Image, axis: Axis) -> int:
    """Return how many flat upright bars stand on the axis's lowest line; 0 where there are not at least two."""
    import numpy as np

    _, plot = plot_of(image, axis)
    if plot is None:
        return 0
    is_bar = strong_in(plot)
    foot = is_bar[-max(3, len(plot) // 40) : -2].mean(axis=0) > 0.6
    tops = np.where(foot, is_bar.argmax(axis=0), -1)
    return _count_runs(tops, least=max(4, plot.shape[1] // 100), tolerance=max(2, len(plot) // 50))


def plot_of(image: Image.Image, axis: Axis, *, headroom: float = 0.0) -> tuple[tuple[int, int, int, int], Any]:
    """Return where a chart's bars and lines are, right of its axis's marks, and its pixels; None: it is too small.

    `headroom`: what of it to take above the highest mark, as a share of the axis's height."""
    import numpy as np

    right = max(line.right for line in axis.marks)
    area = (
        round(right * image.width) + 4,
        max(0, round((axis.top - headroom * (axis.bottom - axis.top)) * image.height)),
        image.width,
        round(axis.bottom * image.height),
    )
    is_large = area[2] - area[0] >= 40 and area[3] - area[1] >= 40
    return area, np.asarray(image.crop(area)).astype(np.int16) if is_large else None


def strong_in(plot: Any) -> Any:
    """Return where a plot's pixels have a colour that is far from its paper's, the commonest."""
    import numpy as np

    codes = (plot[..., 0] >> 4 << 8) | (plot[..., 1] >> 4 << 4) | (plot[..., 2] >> 4)
    common = np.bincount(codes.ravel()).argmax()
    paper = plot[codes == common].mean(axis=0)
    return np.abs(plot - paper).max(axis=2) > 70


def _count_runs(tops: Any, *, least: int, tolerance: int) -> int:
    """Return the number of runs of equal heights that are wide enough, with gaps or steps between them."""
    bars, start = 0, 0
    for column in range(1, len(tops) + 1):
        ends = (
            column == len(tops)
            or (tops[column] < 0) != (tops[start] < 0)
            or abs(int(tops[column]) - int(tops[start])) > tolerance
        )
        if ends:
            bars += bool(tops[start] >= 0 and column - start >= least)
            start = column
    return bars if bars > 1 else 0
