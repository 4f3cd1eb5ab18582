"""Tables: short texts in rows and columns, with or without rules between them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean, median
from typing import Any

from PIL import Image

from workers.engines.captioning.basic.charts import value_of
from workers.engines.captioning.basic.ocr import Line
from workers.engines.captioning.text.cleaning import clean

#: Rows and columns of a table at least, and the share of a picture's texts that stand in it.
LEAST_ROWS, LEAST_COLUMNS, LEAST_SHARE = 3, 3, 0.6
#: How far the edges or middles of a column's texts may differ, in shares of the width.
ALIGNED = 0.02
#: Rows are no farther apart, in heights of their texts: the names under the pictures of a catalogue are.
MOST_APART = 4.5
YEAR = re.compile(r"(?:19|20)\d\d")

Row = Sequence[Line]


@dataclass(frozen=True, slots=True)
class Table:
    """What a table says: the names of its columns, and the rows under them; `score`: how surely its cells were read."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    cells: frozenset[Line]
    score: float


def table_of(image: Image.Image, lines: Sequence[Line]) -> Table | None:
    """Return the table that most of a picture's texts stand in; None: there is none, or not all of it is clear.

    Without names over its columns it may be a keyboard, or a shelf."""
    rows = _full(rows_of(lines))
    if len(rows) < LEAST_ROWS or len(rows) * len(rows[0]) < LEAST_SHARE * len(lines):
        return None
    if not _are_columns(list(zip(*rows, strict=True))) or not _are_near(rows):
        return None
    names, *others = [[clean(cell.text) or cell.text for cell in row] for row in rows]
    if not _are_names(names, others) and not _has_own_ground(image, rows):
        return None
    cells = [cell for row in rows for cell in row]
    return Table(names, others, frozenset(cells), mean(cell.score for cell in cells))


def rows_of(lines: Sequence[Line]) -> list[list[Line]]:
    """Return lines in rows, from top to bottom, and each from left to right."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: line.middle[1]):
        if rows and abs(rows[-1][0].middle[1] - line.middle[1]) <= line.height / 2:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [sorted(row, key=lambda line: line.left) for row in rows]


def _full(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the rows of the commonest number of cells; none where others stand between them, or they have too few."""
    counts = Counter(len(row) for row in rows)
    count = max(counts, key=lambda count: counts[count], default=0)
    places = [place for place, row in enumerate(rows) if len(row) == count]
    is_whole = count >= LEAST_COLUMNS and places[-1] - places[0] + 1 == len(places)
    return [rows[place] for place in places] if is_whole else []


def _are_columns(columns: Sequence[Row]) -> bool:
    """Return whether each column's texts have an edge or a middle in common, and end before the next begins."""
    are_apart = all(
        max(cell.right for cell in column) < min(cell.left for cell in following)
        for column, following in pairwise(columns)
    )
    return are_apart and all(
        any(max(places) - min(places) <= ALIGNED for places in _edges(column)) for column in columns
    )


def _edges(column: Row) -> Sequence[list[float]]:
    return (
        [cell.left for cell in column],
        [cell.middle[0] for cell in column],
        [cell.right for cell in column],
    )


def _are_near(rows: Sequence[Row]) -> bool:
    """Return whether rows stand under each other as lines do, and at about equal distances."""
    tops = [median(cell.middle[1] for cell in row) for row in rows]
    steps = [below - above for above, below in pairwise(tops)]
    height = median(cell.height for row in rows for cell in row)
    return max(steps) <= MOST_APART * height and max(steps) <= 2 * min(steps)


def _are_names(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether they are words or years, one of which stands over a column of numbers."""
    is_worded = all(value_of(name) is None or YEAR.fullmatch(name) for name in names)
    return is_worded and any(all(_is_number(cell) for cell in column) for column in zip(*rows, strict=True))


def _is_number(text: str) -> bool:
    return value_of(text) is not None and not YEAR.fullmatch(text)


def _has_own_ground(image: Image.Image, rows: Sequence[Row]) -> bool:
    """Return whether the first row stands on a colour that no other has."""
    first, *others = (_ground(image, row) for row in rows)
    return first not in others


def _ground(image: Image.Image, row: Row) -> Any:
    import numpy as np

    edges = (
        min(cell.left for cell in row),
        min(cell.top for cell in row),
        row[-1].right,
        max(cell.bottom for cell in row),
    )
    box = [round(edge * side) for edge, side in zip(edges, image.size * 2, strict=True)]
    pixels = np.asarray(image.crop((box[0], box[1], max(box[2], box[0] + 1), max(box[3], box[1] + 1)))) >> 4
    codes = pixels.reshape(-1, 3).astype(np.int32) @ np.array([256, 16, 1])
    return int(np.bincount(codes).argmax())
