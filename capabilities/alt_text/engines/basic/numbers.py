"""Numbers: texts that are numbers, and the axes and percentages by which a chart is told."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from workers.engines.ocr import TextLine

NUMBER = re.compile(
    r"[-–−+]?\s?[$€£¥]?\s?(\d[\d.,'’ ]*)\s?"
    r"(?:[%€$£¥kKMm]|bn|mio|mil|°\s?[CF]?|[℃℉]|e[-+−]?\d{1,3})?[.\-–—]?"
)
SHARE = re.compile(r"(\d{1,3}(?:[.,]\d)?)\s?%")
#: Least marks of an upright and of a level axis, and its least length as a share of the picture's side.
LEAST_UPRIGHT, LEAST_LEVEL, LEAST_SPAN = 3, 4, 0.25
#: How far marks may be from a common edge and from their place on the scale, in shares of the picture.
ALIGNED, ON_SCALE = 0.02, 0.02
#: Least percentages of a whole, and the range of their sum, since each may be rounded.
LEAST_SHARES, WHOLE = 3, (98.0, 102.0)


@dataclass(frozen=True, slots=True)
class NumberMark:
    """A number on an axis: its distance from the axis's high end, and its two edges across the axis."""

    value: float
    place: float
    edges: tuple[float, float]


def value_of(text: str) -> float | None:
    """Return a text's value; None: it is no number, or more than one."""
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


def are_a_chart(lines: Sequence[TextLine]) -> bool:
    """Return whether numbers are the scale of an axis, or percentages add up to 100.

    A scale has its largest number at the top or on the right; the numbers of a list grow downwards."""
    numbers = [(line, value) for line in lines if (value := value_of(line.text)) is not None]
    upright = [NumberMark(value, line.middle[1], (line.left, line.right)) for line, value in numbers]
    level = [NumberMark(value, 1 - line.middle[0], (line.top, line.bottom)) for line, value in numbers]
    if _has_scale(upright, LEAST_UPRIGHT) or _has_scale(level, LEAST_LEVEL, is_level=True):
        return True
    shares = [float(found[1].replace(",", ".")) for line in lines if (found := SHARE.search(line.text))]
    return len(shares) >= LEAST_SHARES and WHOLE[0] <= sum(shares) <= WHOLE[1]


def _has_scale(marks: Sequence[NumberMark], least: int, *, is_level: bool = False) -> bool:
    """Return whether marks with a common edge are a scale."""
    for edge in (0, 1):
        for anchor in marks:
            column = [mark for mark in marks if abs(mark.edges[edge] - anchor.edges[edge]) <= ALIGNED]
            values = sorted(mark.value for mark in column)
            # Level numbers that rise by one are the days of a calendar, or pages.
            if len(column) >= least and not (is_level and values[1] - values[0] == 1) and _is_scale(column):
                return True
    return False


def _is_scale(marks: Sequence[NumberMark]) -> bool:
    first, last = min(marks, key=lambda mark: mark.place), max(marks, key=lambda mark: mark.place)
    if len({mark.value for mark in marks}) < len(marks) or first.value <= last.value:
        return False
    slope = (last.place - first.place) / (last.value - first.value)
    return last.place - first.place >= LEAST_SPAN and all(
        abs(mark.place - first.place - (mark.value - first.value) * slope) <= ON_SCALE for mark in marks
    )
