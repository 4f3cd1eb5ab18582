"""Motifs stand within their square, and stand out from what is behind them."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from capabilities.blog.engines.pictures.drawn import shapes
from capabilities.blog.engines.pictures.drawn.canvas import HEIGHT, WIDTH, Canvas, Pen
from capabilities.blog.engines.pictures.drawn.colours import DARK, LIGHT, Colour, Palette

#: Things that stand above the floor.
FLOATING = {"artist", "book", "camera", "car", "clapper", "gamepad", "headphones", "heart", "laptop", "paw"}
#: From the middle of a thing to its edge, and to the next thing's room: none reaches beyond 1.15 of its size.
SIZE, ROOM = 66, 78
#: Where things stand on one canvas.
PLACES = [(x, y) for y in range(ROOM, HEIGHT - ROOM + 1, 2 * ROOM) for x in range(ROOM, WIDTH - ROOM + 1, 2 * ROOM)]


@pytest.mark.parametrize("name", sorted(shapes.MOTIFS.keys() - FLOATING))
def test_things_stand_within_their_square_on_the_floor(name: str) -> None:
    palette, size = LIGHT[0], 200
    canvas = Canvas((255, 255, 255))
    shapes.MOTIFS[name](Pen(canvas, (WIDTH / 2, HEIGHT / 2), size), palette)

    rows, columns = np.nonzero((np.asarray(canvas.image) != 255).any(axis=2))

    assert HEIGHT / 2 - 1.15 * size <= rows.min()
    assert HEIGHT / 2 + 0.95 * size <= rows.max() <= HEIGHT / 2 + 1.06 * size
    assert WIDTH / 2 - 1.15 * size <= columns.min()
    assert columns.max() <= WIDTH / 2 + 1.15 * size


@pytest.mark.parametrize("palette", [*LIGHT, *DARK], ids=lambda palette: palette.names[0])
def test_things_stand_out_from_what_is_behind_them_by_day_and_by_night(palette: Palette) -> None:
    # Before the arch or disc of an illustration, and right on the ground of a minimalist cover.
    for behind, paints in ((_behind(palette), palette), (palette.ground, palette.on_ground())):
        for page in batched(list(shapes.MOTIFS), len(PLACES)):
            canvas = Canvas(behind)
            for name, (x, y) in zip(page, PLACES, strict=False):
                shapes.MOTIFS[name](Pen(canvas, (x, y), SIZE), paints)
            seen = _differs(canvas, behind)
            for name, (x, y) in zip(page, PLACES, strict=False):
                there = seen[y - ROOM : y + ROOM, x - ROOM : x + ROOM]
                assert there.sum() > 0.3 * SIZE**2, name


def batched(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), size):
        yield names[start : start + size]


def _behind(palette: Palette) -> Colour:
    """Return the colour of the arch or disc that things stand before in an illustration."""
    return palette.bright if palette.is_dark else palette.pale


def _differs(canvas: Canvas, behind: Colour) -> NDArray[np.bool_]:
    """Return for each pixel whether it differs clearly from the ground."""
    return np.abs(np.asarray(canvas.image, np.int16) - np.array(behind, np.int16)).sum(axis=2) > 90
