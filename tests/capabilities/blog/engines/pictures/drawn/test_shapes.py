"""Shapes are read from files, and checked."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from capabilities.blog.engines.pictures.drawn.shapes import Drawing, read_drawings


def _read(tmp_path: Path, shape: str) -> Drawing:
    file = tmp_path / "drawings.toml"
    file.write_text(f"[thing]\nshapes = [{shape}]\n")
    return read_drawings(file)["thing"]


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
