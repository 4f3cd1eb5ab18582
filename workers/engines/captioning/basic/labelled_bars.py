"""Labelled bars: those of charts whose values can't be read, proved by a row of labels that each has a bar over it."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from PIL import Image

from workers.engines.captioning.basic.charts import strong_in
from workers.engines.captioning.basic.ocr import Line
from workers.engines.captioning.basic.tables import rows_of

#: Bars that prove a chart.
FEWEST = 3
#: Shares of the height: how far over its label a bar may end, how near to one line all do, how high the lowest is, and
#: by how much the highest is higher. Pictures over their names are as high as each other.
OVER_LABEL, AT_LINE, LEAST_HEIGHT, LEAST_SPREAD = 0.06, 0.015, 0.04, 0.03


def have_bars(image: Image.Image, lines: Sequence[Line]) -> bool:
    """Return whether a row of labels has bars of different heights over it, with gaps between them."""
    import numpy as np

    row = next((row for row in reversed(rows_of(lines)) if len(row) >= FEWEST), None)
    if row is None:
        return False
    is_strong = strong_in(np.asarray(image).astype(np.int16))
    bars = [_over(is_strong, label) for label in row]
    if any(bar is None for bar in bars):
        return False
    feet, heights = zip(*(bar for bar in bars if bar is not None), strict=True)
    if max(feet) - min(feet) > AT_LINE or min(heights) < LEAST_HEIGHT or max(heights) - min(heights) < LEAST_SPREAD:
        return False
    level = round((min(feet) - min(heights) / 2) * image.height)
    gaps = [(left.middle[0] + right.middle[0]) / 2 for left, right in pairwise(row)]
    return not any(is_strong[level, round(gap * image.width)] for gap in gaps)


def _over(is_strong: Any, label: Line) -> tuple[float, float] | None:
    """Return where what stands over a label ends, and how high it is, in shares of the height; None: nothing does."""
    import numpy as np

    height, width = is_strong.shape
    top = max(1, round(label.top * height))
    upwards = is_strong[:top, min(width - 1, round(label.middle[0] * width))][::-1]
    start = int(upwards.argmax())
    if not upwards[start] or start > OVER_LABEL * height:
        return None
    ground = np.flatnonzero(~upwards[start:])
    end = start + int(ground[0]) if len(ground) else len(upwards)
    return (top - start) / height, (end - start) / height
