"""Shapes: the parts of motifs and props, read from TOML and drawn in a palette's colours."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from capabilities.blog.engines.pictures.drawn.canvas import Box, Pen, Point, circle, leaf, smooth, turned
from capabilities.blog.engines.pictures.drawn.colours import Colour, Palette

_ROLE = "(?:ground|sky|ink|deep|mid|bright|accent|pale|white|black)"


class Shape(BaseModel):
    """A shape in one paint: a role of the palette, or one for day and one for night."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    paint: Annotated[str, Field(pattern=f"^{_ROLE}(?:/{_ROLE})?$")]
    opacity: float = 1.0
    mirrored: bool = False
    lean: float = 0.0

    def colour(self, palette: Palette) -> Colour:
        day, _, night = self.paint.partition("/")
        colour: Colour = getattr(palette, night if night and palette.is_dark else day)
        return colour

    def draw(self, pen: Pen, paint: Colour) -> None:
        """Draw it: most shapes are a filled outline."""
        outline = self.outline()
        pen.fill(_whole(outline) if self.mirrored else outline, paint, self.opacity)

    def outline(self) -> Sequence[Point]:
        raise NotImplementedError


class _Polygon(Shape):
    polygon: list[Point]

    def outline(self) -> Sequence[Point]:
        return self.polygon


class _Curve(Shape):
    curve: list[Point]

    def draw(self, pen: Pen, paint: Colour) -> None:
        # Mirrored first, to be smooth at the axis, too.
        pen.fill(smooth(_whole(self.curve) if self.mirrored else self.curve), paint, self.opacity)


class _Box(Shape):
    box: Box
    radius: float = 0.0
    turn: float = 0.0

    def draw(self, pen: Pen, paint: Colour) -> None:
        pen.box(self.box, paint, self.radius, self.turn)


class _Disc(Shape):
    disc: Point
    radius: float

    def draw(self, pen: Pen, paint: Colour) -> None:
        pen.disc(self.disc, self.radius, paint, self.opacity)


class _Ring(Shape):
    ring: Point
    radius: float
    width: float

    def draw(self, pen: Pen, paint: Colour) -> None:
        pen.ring(self.ring, self.radius, self.width, paint)


class _Ellipse(Shape):
    ellipse: Point
    across: float
    down: float
    start: float = 0.0
    end: float = 360.0
    turn: float = 0.0
    steps: int = 48

    def outline(self) -> Sequence[Point]:
        x, y = self.ellipse
        angles = (math.radians(self.start + (self.end - self.start) * n / self.steps) for n in range(self.steps + 1))
        points = [(x + self.across * math.cos(angle), y + self.down * math.sin(angle)) for angle in angles]
        return turned(points, self.ellipse, self.turn)


class _Band(Shape):
    band: Point
    outer: float
    inner: float
    start: float
    end: float

    def outline(self) -> Sequence[Point]:
        outer, inner = (circle((0, 0), 100 * radius, self.start, self.end) for radius in (self.outer, self.inner))
        return _scaled([*outer, *reversed(inner)], self.band, 1 / 100)


class _Leaf(Shape):
    leaf: Point
    length: float
    width: float
    angle: float

    def outline(self) -> Sequence[Point]:
        return leaf(self.leaf, self.length, self.width, self.angle)


class _Stroke(Shape):
    """A line along the points of its outline."""

    width: float

    def draw(self, pen: Pen, paint: Colour) -> None:
        pen.stroke(self.outline(), self.width, paint)


class _Line(_Stroke):
    line: list[Point]

    def outline(self) -> Sequence[Point]:
        return self.line


class _Wave(_Stroke):
    wave: Point
    step: Point
    swing: Point
    phase: float
    count: int

    def outline(self) -> Sequence[Point]:
        (x, y), (right, down), (across, along) = self.wave, self.step, self.swing
        swings = enumerate(math.sin(n * self.phase) for n in range(self.count))
        return [(x + right * n + across * swing, y + down * n + along * swing) for n, swing in swings]


class _Arc(_Stroke):
    arc: Point
    radius: float
    start: float
    end: float

    def outline(self) -> Sequence[Point]:
        return _scaled(circle((0, 0), 60, self.start, self.end), self.arc, self.radius / 60)


_Any = _Polygon | _Curve | _Box | _Disc | _Ring | _Ellipse | _Band | _Leaf | _Line | _Wave | _Arc
_Entry = dict[Literal["shapes"], Annotated[list[_Any], Field(min_length=1)]]


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes one over the other; those with a `lean` are turned around the middle of the square."""

    shapes: tuple[Shape, ...]

    def __call__(self, pen: Pen, palette: Palette) -> None:
        for shape in self.shapes:
            leaning = Pen(pen.canvas, pen.centre, pen.size, shape.lean) if shape.lean else pen
            shape.draw(leaning, shape.colour(palette))


def read_drawings(path: Path) -> Mapping[str, Drawing]:
    """Return the drawings of a TOML file by name. Raises ValidationError."""
    entries = TypeAdapter(dict[str, _Entry]).validate_python(tomllib.loads(path.read_text("utf-8")))
    return {name: Drawing(tuple(entry["shapes"])) for name, entry in entries.items()}


def _whole(half: Sequence[Point]) -> list[Point]:
    """Return a whole outline from its half, with points on the axis once."""
    return [*half, *((-x, y) for x, y in reversed(half) if x)]


def _scaled(points: Sequence[Point], centre: Point, scale: float) -> list[Point]:
    return [(centre[0] + x * scale, centre[1] + y * scale) for x, y in points]


#: Things that stand for a post's subject, and furniture of scenes, by name.
MOTIFS, PROPS = (read_drawings(Path(__file__).with_name(name)) for name in ("motifs.toml", "props.toml"))

NOTHING = Drawing(())
