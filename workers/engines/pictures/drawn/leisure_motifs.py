"""Leisure motifs: what stands for life at home and outdoors, each in a square from -1 to 1 on a floor at 1."""

import math

from workers.engines.pictures.drawn.canvas import Point, smooth
from workers.engines.pictures.drawn.palettes import Palette
from workers.engines.pictures.drawn.pen import Pen, turned


def plant(pen: Pen, p: Palette) -> None:
    """A plant in a pot."""
    for angle, length, paint in (
        (-28, 0.92, p.deep),
        (-152, 0.92, p.deep),
        (-58, 1.1, p.mid),
        (-122, 1.1, p.mid),
        (-90, 1.2, p.deep),
    ):
        pen.leaf((0, 0.28), length, 0.38, angle, paint)
    pen.line([(0, 0.3), (0, -0.6)], 0.025, p.bright)
    pen.fill([(-0.46, 0.32), (0.46, 0.32), (0.34, 1), (-0.34, 1)], p.accent)
    pen.box(-0.54, 0.22, 0.54, 0.42, p.accent, 0.06)
    pen.box(-0.46, 0.42, 0.46, 0.47, p.deep, 0.0)


def paw(pen: Pen, p: Palette) -> None:
    """A paw print."""
    for x, y, size, angle in (
        (-0.68, -0.1, 0.25, -24),
        (-0.26, -0.56, 0.28, -8),
        (0.26, -0.56, 0.28, 8),
        (0.68, -0.1, 0.25, 24),
    ):
        toe = [(x + size * 0.78 * a, y + size * 1.12 * b) for a, b in _round(48)]
        pen.fill(turned(toe, (x, y), angle), p.mid)
    pen.fill(
        _curve(
            (0, 0.0),
            (0.34, 0.2),
            (0.6, 0.56),
            (0.46, 0.9),
            (0.14, 0.84),
            (-0.14, 0.84),
            (-0.46, 0.9),
            (-0.6, 0.56),
            (-0.34, 0.2),
        ),
        p.deep,
    )


def book(pen: Pen, p: Palette) -> None:
    """An open book."""
    pen.fill([(-1, -0.36), (0, -0.2), (1, -0.36), (1, 0.76), (0, 0.92), (-1, 0.76)], p.deep)
    for side in (-1, 1):
        pen.fill(
            [(0, -0.3), (side * 0.3, -0.46), (side * 0.9, -0.42), (side * 0.9, 0.62), (side * 0.3, 0.6), (0, 0.78)],
            p.ground if side < 0 else p.pale,
        )
        for step in range(4):
            y = -0.2 + step * 0.2
            pen.line([(side * 0.2, y + 0.02), (side * (0.74 if step < 3 else 0.5), y - 0.04)], 0.035, p.bright)
    pen.fill([(0.46, -0.46), (0.62, -0.45), (0.62, 0.02), (0.54, -0.07), (0.46, 0.02)], p.accent)


def cup(pen: Pen, p: Palette) -> None:
    """A cup of something hot."""
    pen.ring((0.62, 0.36), 0.26, 0.12, p.deep)
    pen.fill(_cup(), p.deep)
    pen.fill([(-0.6, 0.02), (0.6, 0.02), (0.57, 0.18), (-0.57, 0.18)], p.accent)
    pen.box(-0.85, 0.9, 0.85, 1, p.mid, 0.05)
    for x in (-0.3, 0.0, 0.3):
        pen.line(_wave((x, -0.85), 0.6), 0.06, p.mid)


def bowl(pen: Pen, p: Palette) -> None:
    """A bowl of vegetables."""
    pen.disc((-0.36, 0.06), 0.32, p.accent)
    pen.leaf((0.1, 0.3), 1.15, 0.42, -72, p.mid)
    pen.leaf((0.0, 0.3), 1.0, 0.36, -104, p.bright)
    pen.disc((0.44, 0.1), 0.26, p.bright)
    pen.disc((0.44, 0.1), 0.2, p.accent)
    pen.slice((0, 0.2), 0.86, 0, 180, p.deep)
    pen.box(-0.95, 0.13, 0.95, 0.28, p.mid, 0.07)
    pen.box(-0.34, 0.93, 0.34, 1.03, p.deep, 0.04)


def heart(pen: Pen, p: Palette) -> None:
    """A heart with a pulse."""
    pen.fill(
        _curve(
            (0, -0.32),
            (0.2, -0.66),
            (0.58, -0.76),
            (0.92, -0.42),
            (0.84, 0.08),
            (0.4, 0.58),
            (0, 0.95),
            (-0.4, 0.58),
            (-0.84, 0.08),
            (-0.92, -0.42),
            (-0.58, -0.76),
            (-0.2, -0.66),
        ),
        p.accent,
    )
    pen.line(
        [(-0.72, 0.04), (-0.34, 0.04), (-0.18, -0.3), (0.06, 0.4), (0.24, -0.1), (0.34, 0.04), (0.72, 0.04)],
        0.075,
        p.ground,
    )


def house(pen: Pen, p: Palette) -> None:
    """A house."""
    pen.box(0.36, -0.8, 0.58, -0.2, p.deep)
    pen.box(-0.7, -0.1, 0.7, 1, p.bright, 0.03)
    pen.fill([(0, -0.9), (1, 0.02), (0.86, 0.16), (-0.86, 0.16), (-1, 0.02)], p.deep)
    pen.box(-0.16, 0.42, 0.2, 1, p.accent, 0.05)
    for left in (-0.54, 0.34):
        pen.box(left, 0.36, left + 0.22, 0.62, p.ground, 0.03)
    pen.disc((0, -0.28), 0.14, p.accent)


def hanger(pen: Pen, p: Palette) -> None:
    """A dress on a hanger."""
    pen.arc((0, -0.84), 0.12, 180, 400, 0.05, p.deep)
    pen.line([(-0.42, -0.46), (0.02, -0.68), (0.42, -0.46)], 0.06, p.deep)
    pen.fill(
        [
            (-0.34, -0.5),
            (-0.12, -0.34),
            (0.12, -0.34),
            (0.34, -0.5),
            (0.36, -0.06),
            (0.26, 0.14),
            (0.74, 0.92),
            (0.4, 1),
            (-0.4, 1),
            (-0.74, 0.92),
            (-0.26, 0.14),
            (-0.36, -0.06),
        ],
        p.accent,
    )
    pen.box(-0.28, 0.08, 0.28, 0.2, p.deep, 0.03)
    for x in (-0.3, 0.02, 0.32):
        pen.line([(x * 0.5, 0.3), (x, 0.92)], 0.03, p.mid)


def headphones(pen: Pen, p: Palette) -> None:
    """Headphones over a sound wave."""
    for step, height in enumerate((0.14, 0.3, 0.5, 0.26, 0.62, 0.4, 0.2, 0.46, 0.16)):
        x = (step - 4) * 0.115
        pen.line([(x, 0.3 - height / 2), (x, 0.3 + height / 2)], 0.06, p.accent if step % 2 else p.bright)
    pen.arc((0, 0.12), 0.82, 180, 360, 0.13, p.deep)
    for side in (-1, 1):
        pen.box(side * 0.82 - 0.17, 0.06, side * 0.82 + 0.17, 0.74, p.mid, 0.16)
        pen.box(side * 0.72 - 0.09, 0.14, side * 0.72 + 0.09, 0.66, p.deep, 0.08)


def camera(pen: Pen, p: Palette) -> None:
    """A camera."""
    pen.fill([(-0.38, -0.5), (-0.24, -0.76), (0.24, -0.76), (0.38, -0.5)], p.deep)
    pen.box(-1, -0.5, 1, 0.82, p.deep, 0.14)
    pen.box(-1, -0.2, 1, 0.08, p.mid)
    pen.box(-0.8, -0.62, -0.52, -0.5, p.accent, 0.03)
    for radius, paint in ((0.56, p.ground), (0.48, p.mid), (0.34, p.deep), (0.2, p.bright)):
        pen.disc((0, 0.16), radius, paint)
    pen.disc((-0.1, 0.06), 0.07, p.ground)
    pen.disc((0.76, -0.35), 0.07, p.accent)


def balloon(pen: Pen, p: Palette) -> None:
    """A hot-air balloon."""
    outline = _curve(
        (0, -1),
        (0.5, -0.86),
        (0.76, -0.42),
        (0.66, 0.06),
        (0.26, 0.5),
        (-0.26, 0.5),
        (-0.66, 0.06),
        (-0.76, -0.42),
        (-0.5, -0.86),
    )
    pen.fill(outline, p.accent)
    for share, paint in ((0.66, p.bright), (0.3, p.mid)):
        pen.fill([(x * share, y) for x, y in outline], paint)
    for x in (-0.16, 0.16):
        pen.line([(x * 1.5, 0.5), (x, 0.76)], 0.02, p.deep)
    pen.box(-0.2, 0.74, 0.2, 1, p.deep, 0.05)


def artist(pen: Pen, p: Palette) -> None:
    """A painter's palette and a brush."""
    pen.fill(
        _curve(
            (-0.9, 0.1),
            (-0.72, -0.5),
            (-0.1, -0.8),
            (0.6, -0.66),
            (0.94, -0.1),
            (0.72, 0.22),
            (0.3, 0.24),
            (0.24, 0.52),
            (0.36, 0.82),
            (0.0, 0.9),
            (-0.6, 0.72),
        ),
        p.deep,
    )
    for x, y, paint in ((-0.5, -0.1, p.accent), (-0.14, -0.46, p.bright), (0.34, -0.42, p.mid), (-0.46, 0.4, p.pale)):
        pen.disc((x, y), 0.16, paint)
    pen.line([(0.98, -0.9), (0.24, 0.3)], 0.07, p.accent)
    pen.leaf((0.3, 0.2), 0.42, 0.17, 122, p.ground)


def _round(steps: int) -> list[Point]:
    return [(math.cos(2 * math.pi * step / steps), math.sin(2 * math.pi * step / steps)) for step in range(steps)]


def _curve(*points: Point) -> list[Point]:
    return smooth(points)


def _cup() -> list[Point]:
    side = [
        (0.66 - 0.42 * (1 - math.cos(step * math.pi / 40)), 0.02 + 0.9 * math.sin(step * math.pi / 40))
        for step in range(21)
    ]
    return [*side, *((-x, y) for x, y in reversed(side))]


def _wave(start: Point, length: float) -> list[Point]:
    return [(start[0] + 0.08 * math.sin(step * 0.42), start[1] + length * step / 15) for step in range(16)]
