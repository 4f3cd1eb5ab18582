"""Pen: draws on a canvas in the coordinates of one thing, which has its own place, size and angle."""

import math
from collections.abc import Sequence

from workers.engines.pictures.drawn.canvas import Canvas, Point, rounded
from workers.engines.pictures.drawn.colours import Colour


class Pen:
    """Draws in a square from -1 to 1, its middle at `centre`, `size` pixels from middle to edge, turned by `angle`."""

    def __init__(self, canvas: Canvas, centre: Point, size: float, angle: float = 0.0) -> None:
        self.canvas, self.centre, self.size = canvas, centre, size
        self._cos, self._sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))

    def fill(self, outline: Sequence[Point], paint: Colour, opacity: float = 1.0) -> None:
        """Fill a closed outline."""
        self.canvas.fill(self._placed(outline), paint, opacity)

    def box(
        self,
        left: float,
        top: float,
        right: float,
        bottom: float,
        paint: Colour,
        radius: float = 0.0,
        turn: float = 0.0,
    ) -> None:
        """Fill a box with round corners, turned around its middle by `turn` degrees."""
        left, top, right, bottom = (edge * self.size for edge in (left, top, right, bottom))
        drawn = rounded(left, top, right, bottom, radius * self.size)
        points = [(x / self.size, y / self.size) for x, y in drawn]
        middle = ((left + right) / 2 / self.size, (top + bottom) / 2 / self.size)
        self.fill(turned(points, middle, turn) if turn else points, paint)

    def disc(self, centre: Point, radius: float, paint: Colour, opacity: float = 1.0) -> None:
        """Fill a circle."""
        self.canvas.disc(self._placed([centre])[0], radius * self.size, paint, opacity)

    def ring(self, centre: Point, radius: float, width: float, paint: Colour) -> None:
        """Draw a circle line."""
        self.canvas.ring(self._placed([centre])[0], radius * self.size, width * self.size, paint)

    def line(self, points: Sequence[Point], width: float, paint: Colour) -> None:
        """Draw a line with round ends."""
        self.canvas.stroke(self._placed(points), width * self.size, paint)

    def _placed(self, points: Sequence[Point]) -> list[Point]:
        (x0, y0), size, cos, sin = self.centre, self.size, self._cos, self._sin
        return [(x0 + size * (x * cos - y * sin), y0 + size * (x * sin + y * cos)) for x, y in points]


def turned(points: Sequence[Point], middle: Point, angle: float) -> list[Point]:
    """Return points turned around a middle, by degrees clockwise."""
    (x0, y0), cos, sin = middle, math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return [(x0 + (x - x0) * cos - (y - y0) * sin, y0 + (x - x0) * sin + (y - y0) * cos) for x, y in points]
