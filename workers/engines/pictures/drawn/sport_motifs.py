"""Sport motifs: what stands for sports, and for nights outdoors, each in a square from -1 to 1 on a floor at 1."""

import math

from workers.engines.pictures.drawn.canvas import Point
from workers.engines.pictures.drawn.palettes import Palette
from workers.engines.pictures.drawn.pen import Pen


def football(pen: Pen, p: Palette) -> None:
    """A ball of pentagons and hexagons, seen from the middle of a pentagon."""
    middle, radius = (0.0, 0.13), 0.85
    pen.disc(middle, radius, p.white)
    ways = range(-90, 270, 72)
    pen.fill([_at(middle, 0.3, way) for way in ways], p.deep)
    for way in ways:
        # Where two patches meet; the outer ones end at the rim.
        pen.line([_at(middle, 0.28, way), _at(middle, 0.62, way)], 0.045, p.deep)
        pen.line([_at(middle, 0.75, way + 17), _at(middle, 0.75, way + 55)], 0.045, p.deep)
        rim = [_at(middle, radius, way + turn) for turn in (14, 7, 0, -7, -14)]
        pen.fill([_at(middle, 0.6, way), _at(middle, 0.75, way + 18), *rim, _at(middle, 0.75, way - 18)], p.deep)
    pen.ring(middle, radius, 0.06, p.deep)


def dumbbell(pen: Pen, p: Palette) -> None:
    """A dumbbell."""
    pen.box(-0.5, 0.14, 0.5, 0.36, p.mid)
    for side in (-1, 1):
        near, far, end = (side * x for x in (0.4, 0.78, 1.04))
        pen.box(min(near, far), -0.5, max(near, far), 1, p.deep, 0.1)
        pen.box(min(far, end), -0.2, max(far, end), 0.7, p.accent, 0.08)


def tent(pen: Pen, p: Palette) -> None:
    """A tent with an open door."""
    for side in (-1, 1):
        pen.line([(side * 0.1, -0.82), (0, -0.66)], 0.06, p.deep)
    pen.fill([(-1, 1), (0, -0.72), (1, 1)], p.accent)
    pen.fill([(0.34, 1), (0, -0.72), (1, 1)], p.mid)
    pen.fill([(-0.4, 1), (0, -0.1), (0.34, 1)], p.deep)
    pen.fill([(-0.4, 1), (0, -0.1), (-0.14, 1)], p.bright)
    pen.box(-1.08, 0.95, 1.08, 1.02, p.deep, 0.03)


def _at(middle: Point, radius: float, angle: float) -> Point:
    turn = math.radians(angle)
    return middle[0] + radius * math.cos(turn), middle[1] + radius * math.sin(turn)
