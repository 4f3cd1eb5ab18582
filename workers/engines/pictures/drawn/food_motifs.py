"""Food motifs: what stands for baking and for what is grown to be eaten, in a square from -1 to 1 on a floor at 1."""

from workers.engines.pictures.drawn.canvas import Point, leaf, smooth
from workers.engines.pictures.drawn.palettes import Palette
from workers.engines.pictures.drawn.pen import Pen


def bread(pen: Pen, p: Palette) -> None:
    """A loaf of bread on a board, and a slice that leans on it."""
    half = [(0.0, -0.32), (0.5, -0.22), (0.86, 0.1), (0.98, 0.5), (0.94, 0.86), (0.4, 0.9)]
    pen.fill(smooth([*half, *((-x, y) for x, y in reversed(half[1:]))]), p.accent)
    for x, y, length in ((-0.74, 0.32, 0.5), (-0.46, 0.22, 0.52), (-0.17, 0.14, 0.42)):
        pen.leaf((x, y), length, 0.16, -60, p.deep)
    for paint, rim in ((p.deep, 0.0), (p.white, 0.08)):
        pen.fill(_slice(0.52, 0.36, 0.5 - rim), paint)
    pen.box(-1.08, 0.84, 1.08, 1, p.mid, 0.06)


def cake(pen: Pen, p: Palette) -> None:
    """A cake with icing and candles on a stand."""
    for x in (-0.34, 0.0, 0.34):
        pen.box(x - 0.045, -0.5, x + 0.045, -0.02, p.mid, 0.02)
        pen.leaf((x, -0.5), 0.3, 0.17, -90, p.accent)
    pen.box(-0.72, -0.04, 0.72, 0.66, p.accent, 0.06)
    pen.box(-0.72, 0.38, 0.72, 0.47, p.white)
    pen.box(-0.74, -0.08, 0.74, 0.12, p.deep, 0.08)
    for step, length in enumerate((0.26, 0.4, 0.22, 0.34, 0.24, 0.38)):
        left = -0.74 + step * 0.2467
        pen.box(left, 0.0, left + 0.2467, length, p.deep, 0.12)
    pen.box(-0.98, 0.64, 0.98, 0.75, p.mid, 0.05)
    pen.fill([(-0.1, 0.74), (0.1, 0.74), (0.14, 0.92), (-0.14, 0.92)], p.mid)
    pen.box(-0.4, 0.9, 0.4, 1, p.mid, 0.05)


def tomatoes(pen: Pen, p: Palette) -> None:
    """A large tomato and a small one, with their leaves."""
    for x, y, size in ((-0.32, 0.34, 0.7), (0.72, 0.64, 0.38)):
        pen.fill(_tomato(x, y, size), p.accent)
        pen.fill(leaf((x - size * 0.7, y + size * 0.16), size * 0.6, size * 0.17, -68), p.white, 0.45)
        for angle, length in ((-172, 0.66), (-8, 0.66), (148, 0.52), (32, 0.52), (92, 0.46)):
            pen.leaf((x, y - size * 0.74), size * length, size * 0.22, angle, p.deep)
        stem = [(x, y - size * 0.72), (x + size * 0.06, y - size), (x + size * 0.2, y - size * 1.2)]
        pen.line(stem, size * 0.12, p.deep)


def _slice(x: float, y: float, size: float) -> list[Point]:
    """Return the outline of a slice of bread: a box under two round shoulders."""
    half = [
        (0.0, -0.96),
        (0.46, -1.0),
        (0.86, -0.82),
        (0.92, -0.46),
        (0.76, -0.2),
        (0.76, 0.2),
        (0.76, 0.7),
        (0.68, 0.96),
    ]
    return smooth([(x + size * a, y + size * b) for a, b in (*half, *((-a, b) for a, b in reversed(half[1:])))])


def _tomato(x: float, y: float, size: float) -> list[Point]:
    """Return the outline of a tomato: broad, and hollow where its stem is."""
    half = [(0.0, -0.74), (0.42, -0.88), (0.86, -0.56), (1.0, 0.04), (0.78, 0.66), (0.34, 0.93)]
    return smooth([(x + size * a, y + size * b) for a, b in (*half, *((-a, b) for a, b in reversed(half[1:])))])
