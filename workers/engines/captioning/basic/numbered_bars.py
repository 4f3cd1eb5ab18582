"""Numbered bars: those of charts without an axis, proved by numbers at their ends that agree with their lengths."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from PIL import Image

from workers.engines.captioning.basic.bars import MOST, Readings
from workers.engines.captioning.basic.charts import strong_in, upended, value_of
from workers.engines.captioning.basic.ocr import Line

#: Bars that prove a chart; of two, lengths agree with any numbers now and then.
FEWEST = 3
#: Shares of the width: how near a bar ends to its number, all begin to one line, and each comes to its right length.
NEAR_NUMBER, AT_LINE, AGREEING = 0.04, 0.01, 0.015
#: The longest bar is at least so long.
LEAST_LENGTH = 0.15
#: Pixels that differ by less, of 255, are of one bar.
ALIKE = 40


@dataclass(frozen=True, slots=True)
class Bar:
    """A level bar before a number: where it begins and how long it is, in shares of the width."""

    start: float
    length: float
    number: Line
    value: float


def numbered_level(image: Image.Image, lines: Sequence[Line]) -> Readings | None:
    """Return what level bars say, from top to bottom; None where no bars have numbers that their lengths agree with."""
    import numpy as np

    numbers = [(line, value) for line in lines if (value := value_of(line.text)) is not None and value > 0]
    if len(numbers) < FEWEST:
        return None
    pixels = np.asarray(image).astype(np.int16)
    is_strong = strong_in(pixels)
    bars = [bar for line, value in numbers if (bar := _bar_before(pixels, is_strong, line, value)) is not None]
    if not FEWEST <= len(bars) <= MOST or not _agree(bars):
        return None
    told = []
    for bar in sorted(bars, key=lambda bar: bar.number.middle[1]):
        labels = [line for line in lines if _is_label(line, bar)]
        if len(labels) != 1:
            return None
        told.append((labels[0].text, bar.number.text))
    return Readings(told, True, [text for pair in told for text in pair])


def numbered_upright(image: Image.Image, lines: Sequence[Line]) -> Readings | None:
    """Return what upright bars say, from left to right."""
    found = numbered_level(image.transpose(Image.Transpose.TRANSVERSE), list(map(upended, lines)))
    return None if found is None else replace(found, pairs=found.pairs[::-1])


def _bar_before(pixels: Any, is_strong: Any, number: Line, value: float) -> Bar | None:
    """Return the bar that ends a little before a number; `pixels` are of shape (h, w, 3), `is_strong` of (h, w)."""
    import numpy as np

    height, width = is_strong.shape
    row, end = min(height - 1, round(number.middle[1] * height)), round(number.left * width)
    first = max(0, round(end - NEAR_NUMBER * width))
    inked = np.flatnonzero(is_strong[row, first:end])
    if not len(inked):
        return None
    end = first + int(inked[-1])
    # Its last pixel may be a mixture.
    is_other = np.abs(pixels[row, :end] - pixels[row, max(0, end - 1)]).max(axis=1) > ALIKE
    start = int(np.flatnonzero(is_other)[-1]) + 1 if is_other.any() else 0
    return Bar(start / width, (end - start) / width, number, value)


def _agree(bars: Sequence[Bar]) -> bool:
    """Return whether bars begin on one line, and are as long as their numbers say, which are not all the same."""
    line, longest = bars[0].start, max(bars, key=lambda bar: bar.value)
    if longest.length < LEAST_LENGTH or len({bar.value for bar in bars}) == 1:
        return False
    return all(
        abs(bar.start - line) <= AT_LINE and abs(bar.length - longest.length * bar.value / longest.value) <= AGREEING
        for bar in bars
    )


def _is_label(line: Line, bar: Bar) -> bool:
    """Return whether a text stands before a bar, in its middle."""
    is_beside = abs(line.middle[1] - bar.number.middle[1]) <= min(line.height, bar.number.height) / 2
    return is_beside and line.right <= bar.start + AT_LINE
