"""Work motifs: what stands for work, news and play, each drawn in a square from -1 to 1 on a floor at 1."""

import math

from workers.engines.pictures.drawn.canvas import Point, smooth
from workers.engines.pictures.drawn.palettes import Palette
from workers.engines.pictures.drawn.pen import Pen, turned


def chart(pen: Pen, p: Palette) -> None:
    """A chart that rises."""
    for step, (height, paint) in enumerate(((0.5, p.bright), (0.8, p.mid), (1.15, p.deep), (1.55, p.accent))):
        left = -0.9 + step * 0.47
        pen.box(left, 1 - height, left + 0.36, 1, paint, 0.06)
    pen.line([(-0.75, 0.1), (-0.25, -0.18), (0.15, -0.42), (0.7, -0.9)], 0.055, p.ink)
    for x, y in ((-0.75, 0.1), (-0.25, -0.18), (0.15, -0.42), (0.7, -0.9)):
        pen.disc((x, y), 0.085, p.ink)
        pen.disc((x, y), 0.045, p.ground)


def laptop(pen: Pen, p: Palette) -> None:
    """A laptop with code."""
    pen.box(-0.84, -0.62, 0.84, 0.66, p.deep, 0.08)
    pen.box(-0.74, -0.52, 0.74, 0.56, p.ground, 0.03)
    rows = (
        (0, 0.42, p.mid),
        (1, 0.7, p.accent),
        (1, 0.36, p.bright),
        (2, 0.56, p.mid),
        (1, 0.28, p.accent),
        (0, 0.5, p.bright),
    )
    for step, (indent, length, paint) in enumerate(rows):
        left, y = -0.6 + indent * 0.15, -0.36 + step * 0.155
        pen.line([(left, y), (left + length, y)], 0.06, paint)
    pen.fill([(-0.98, 0.72), (0.98, 0.72), (1.08, 0.88), (-1.08, 0.88)], p.mid)
    pen.box(-1.08, 0.86, 1.08, 0.95, p.deep, 0.04)


def flask(pen: Pen, p: Palette) -> None:
    """A flask with bubbles."""
    pen.fill(
        [(-0.22, -0.8), (0.22, -0.8), (0.22, -0.2), (0.84, 0.84), (0.7, 1), (-0.7, 1), (-0.84, 0.84), (-0.22, -0.2)],
        p.bright,
    )
    pen.fill([(-0.46, 0.24), (0.46, 0.24), (0.8, 0.82), (0.68, 0.96), (-0.68, 0.96), (-0.8, 0.82)], p.deep)
    pen.box(-0.32, -0.94, 0.32, -0.78, p.deep, 0.06)
    for x, y, radius in (
        (-0.24, 0.6, 0.11),
        (0.2, 0.76, 0.08),
        (0.14, 0.42, 0.06),
        (0.05, 0.0, 0.09),
        (-0.08, -0.36, 0.06),
    ):
        pen.disc((x, y), radius, p.accent)


def coins(pen: Pen, p: Palette) -> None:
    """Stacks of coins."""
    for left, count in ((-0.92, 3), (-0.28, 5), (0.36, 8)):
        for step in range(count):
            top = 0.84 - step * 0.19
            pen.box(left, top, left + 0.56, top + 0.16, p.accent if step % 2 else p.mid, 0.06)
    pen.leaf((0.64, -0.5), 0.5, 0.24, -54, p.deep)
    pen.leaf((0.64, -0.5), 0.42, 0.2, -126, p.deep)


def gamepad(pen: Pen, p: Palette) -> None:
    """A game controller."""
    pen.fill(
        _curve(
            (-0.5, -0.42),
            (0, -0.36),
            (0.5, -0.42),
            (0.86, -0.14),
            (1.0, 0.5),
            (0.8, 0.72),
            (0.42, 0.36),
            (0, 0.32),
            (-0.42, 0.36),
            (-0.8, 0.72),
            (-1.0, 0.5),
            (-0.86, -0.14),
        ),
        p.deep,
    )
    pen.box(-0.68, -0.06, -0.28, 0.07, p.ground, 0.03)
    pen.box(-0.545, -0.195, -0.415, 0.205, p.ground, 0.03)
    for x, y, paint in ((0.48, -0.18, p.accent), (0.64, 0.0, p.bright), (0.32, 0.0, p.mid), (0.48, 0.18, p.pale)):
        pen.disc((x, y), 0.085, paint)


def clapper(pen: Pen, p: Palette) -> None:
    """A film clapper."""
    pen.box(-0.95, -0.12, 0.95, 0.95, p.deep, 0.06)
    for top, slant in ((-0.36, 0.16), (-0.72, -0.16)):
        pen.box(-0.95, top, 0.95, top + 0.22, p.ink, 0.03, turn=0 if slant > 0 else -9)
    for step in range(4):
        left = -0.8 + step * 0.46
        pen.fill([(left, -0.14), (left + 0.2, -0.14), (left + 0.32, -0.36), (left + 0.12, -0.36)], p.accent)
    pen.fill([(-0.2, 0.16), (0.36, 0.44), (-0.2, 0.72)], p.ground)


def ball(pen: Pen, p: Palette) -> None:
    """A ball that bounces."""
    pen.disc((0, 0.1), 0.86, p.accent)
    pen.line([(-0.86, 0.1), (0.86, 0.1)], 0.055, p.deep)
    pen.line([(0, -0.76), (0, 0.96)], 0.055, p.deep)
    pen.arc((-1.05, 0.1), 0.66, -58, 58, 0.055, p.deep)
    pen.arc((1.05, 0.1), 0.66, 122, 238, 0.055, p.deep)


def car(pen: Pen, p: Palette) -> None:
    """A car."""
    pen.fill(
        _curve((-0.62, 0.16), (-0.44, -0.28), (-0.1, -0.4), (0.34, -0.36), (0.66, 0.12), (0.4, 0.3), (-0.4, 0.3)),
        p.deep,
    )
    pen.fill([(-0.46, 0.14), (-0.34, -0.2), (0.0, -0.26), (0.0, 0.14)], p.pale)
    pen.fill([(0.1, 0.14), (0.1, -0.26), (0.3, -0.22), (0.52, 0.14)], p.pale)
    pen.box(-1.02, 0.12, 1.02, 0.66, p.accent, 0.18)
    pen.box(0.88, 0.26, 1.02, 0.38, p.pale, 0.04)
    for x in (-0.56, 0.56):
        pen.disc((x, 0.66), 0.25, p.deep)
        pen.disc((x, 0.66), 0.11, p.pale)


def bulb(pen: Pen, p: Palette) -> None:
    """A light bulb."""
    for angle in range(180, 361, 36):
        pen.line([_ray(angle, 0.86), _ray(angle, 1.06)], 0.06, p.bright)
    pen.fill(
        _curve(
            (0, -0.78),
            (0.46, -0.6),
            (0.64, -0.14),
            (0.44, 0.24),
            (0.26, 0.54),
            (-0.26, 0.54),
            (-0.44, 0.24),
            (-0.64, -0.14),
            (-0.46, -0.6),
        ),
        p.accent,
    )
    pen.line([(-0.18, 0.02), (-0.07, 0.22), (0.07, 0.02), (0.18, 0.22)], 0.045, p.deep)
    for top in (0.56, 0.72, 0.88):
        pen.box(-0.25, top, 0.25, top + 0.13, p.deep, 0.05)


def newspaper(pen: Pen, p: Palette) -> None:
    """A newspaper."""
    pen.box(-0.8, -0.86, 0.86, 0.98, p.deep, 0.06, turn=4)
    pen.box(-0.86, -0.9, 0.8, 0.94, p.pale, 0.06)
    pen.box(-0.7, -0.74, 0.64, -0.5, p.deep, 0.03)
    pen.box(-0.7, -0.34, -0.08, 0.26, p.accent, 0.03)
    for step in range(4):
        pen.line([(0.1, -0.3 + step * 0.18), (0.6, -0.3 + step * 0.18)], 0.05, p.mid)
    for step in range(3):
        pen.line([(-0.66, 0.46 + step * 0.18), (0.6 - step * 0.2, 0.46 + step * 0.18)], 0.05, p.bright)


def pencil(pen: Pen, p: Palette) -> None:
    """A pencil that draws a line."""
    turned_pen = Pen(pen.canvas, pen.centre, pen.size, 40)
    turned_pen.box(-0.17, -1.0, 0.17, -0.82, p.mid, 0.08)
    turned_pen.box(-0.17, -0.86, 0.17, 0.5, p.accent)
    turned_pen.box(-0.06, -0.86, 0.06, 0.5, p.bright)
    turned_pen.fill([(-0.17, 0.5), (0.17, 0.5), (0, 0.86)], p.pale)
    turned_pen.fill([(-0.06, 0.73), (0.06, 0.73), (0, 0.86)], p.deep)
    pen.line([(-0.86 + step * 0.043, 0.9 + 0.05 * _swing(step)) for step in range(41)], 0.05, p.deep)


def phone(pen: Pen, p: Palette) -> None:
    """A mobile phone with messages on it."""
    pen.box(-0.56, -1, 0.56, 1, p.deep, 0.16)
    pen.box(-0.46, -0.86, 0.46, 0.86, p.ground, 0.08)
    pen.box(-0.14, -0.955, 0.14, -0.905, p.mid, 0.025)
    for left, right, top, bottom, paint in (
        (-0.36, 0.2, -0.68, -0.42, p.mid),
        (-0.16, 0.36, -0.3, 0.1, p.accent),
        (-0.36, 0.06, 0.22, 0.48, p.mid),
    ):
        pen.box(left, top, right, bottom, paint, 0.1)
    pen.box(-0.36, 0.62, 0.36, 0.76, p.bright, 0.07)


def clock(pen: Pen, p: Palette) -> None:
    """An alarm clock."""
    for side in (-1, 1):
        pen.line([(side * 0.4, 0.7), (side * 0.58, 0.94)], 0.12, p.deep)
        bell = [(0.33 * math.cos(math.radians(a)), 0.33 * math.sin(math.radians(a))) for a in range(180, 361, 6)]
        pen.fill(turned([(side * 0.48 + x, -0.54 + y) for x, y in bell], (side * 0.48, -0.54), side * 40), p.accent)
    pen.line([(0, -0.6), (0, -0.86)], 0.07, p.deep)
    pen.box(-0.14, -0.96, 0.14, -0.84, p.deep, 0.05)
    pen.disc((0, 0.16), 0.78, p.deep)
    pen.disc((0, 0.16), 0.62, p.ground)
    for angle in range(0, 360, 30):
        inner, outer = (0.46, 0.54) if angle % 90 == 0 else (0.52, 0.54)
        turn = math.radians(angle)
        pen.line([(r * math.cos(turn), 0.16 + r * math.sin(turn)) for r in (inner, outer)], 0.045, p.mid)
    pen.line([(0, 0.16), (-0.22, -0.04)], 0.075, p.ink)
    pen.line([(0, 0.16), (0.24, -0.24)], 0.055, p.ink)
    pen.disc((0, 0.16), 0.075, p.accent)


def _curve(*points: Point) -> list[Point]:
    return smooth(points)


def _ray(angle: float, radius: float) -> Point:
    return radius * math.cos(math.radians(angle)), -0.1 + radius * math.sin(math.radians(angle))


def _swing(step: int) -> float:
    return math.sin(step * 0.6)
