"""Shapes are read from files, checked, and drawn in a palette's colours."""

from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from capabilities.blog.engines.pictures.drawn.canvas import HEIGHT, WIDTH, Canvas, Pen
from capabilities.blog.engines.pictures.drawn.colours import DARK, LIGHT
from capabilities.blog.engines.pictures.drawn.shapes import Drawing, read_drawings


def _read(tmp_path: Path, shape: str) -> Drawing:
    file = tmp_path / "drawings.toml"
    file.write_text(f"[thing]\nshapes = [{shape}]\n")
    return read_drawings(file)["thing"]


def _drawn(drawing: Drawing, palette: object = LIGHT[0]) -> np.ndarray:
    canvas = Canvas((255, 255, 255))
    drawing(Pen(canvas, (WIDTH / 2, HEIGHT / 2), 100), palette)
    return np.asarray(canvas.image)


@pytest.mark.parametrize(
    "shape",
    [
        '{ disc = [0, 0], radius = 1, paint = "purple" }',
        '{ disc = [0, 0], paint = "deep" }',
        '{ disc = [0, 0], radius = 1, colour = "deep" }',
        '{ blob = [0, 0], paint = "deep" }',
        '{ box = [0, 0, 1], paint = "deep" }',
    ],
)
def test_a_shape_with_a_mistake_is_refused(shape: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError):
        _read(tmp_path, shape)


def test_a_mirrored_outline_is_the_same_on_both_sides(tmp_path: Path) -> None:
    picture = _drawn(_read(tmp_path, '{ polygon = [[0, -1], [0.8, 0.2], [0.3, 1]], mirrored = true, paint = "deep" }'))

    assert (picture != 255).any()
    assert (picture == picture[:, ::-1]).mean() > 0.999  # edges are smoothed from the left


def test_a_paint_may_be_another_by_night(tmp_path: Path) -> None:
    drawing = _read(tmp_path, '{ disc = [0, 0], radius = 0.5, paint = "deep/bright" }')

    assert tuple(_drawn(drawing, LIGHT[0])[HEIGHT // 2, WIDTH // 2]) == LIGHT[0].deep
    assert tuple(_drawn(drawing, DARK[0])[HEIGHT // 2, WIDTH // 2]) == DARK[0].bright


def test_a_leaning_shape_is_turned_around_the_middle_of_the_square(tmp_path: Path) -> None:
    leaning = _read(tmp_path, '{ disc = [0.8, 0], radius = 0.1, lean = 90, paint = "deep" }')
    below = _read(tmp_path, '{ disc = [0, 0.8], radius = 0.1, paint = "deep" }')

    assert (_drawn(leaning) == _drawn(below)).mean() > 0.999
