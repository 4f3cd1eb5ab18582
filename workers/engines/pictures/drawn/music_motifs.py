"""Music motifs: instruments, each drawn in a square from -1 to 1 on a floor at 1."""

from workers.engines.pictures.drawn.canvas import smooth
from workers.engines.pictures.drawn.palettes import Palette
from workers.engines.pictures.drawn.pen import Pen

#: White keys, and after which of them there is a black one: those of an octave, twice.
WHITE_KEYS, BLACK_KEYS = 14, (1, 2, 4, 5, 6, 8, 9, 11, 12, 13)


def piano(pen: Pen, p: Palette) -> None:
    """An upright piano with a sheet of music."""
    for left in (-0.86, 0.7):
        pen.box(left, 0.2, left + 0.16, 1, p.deep, 0.03)
    pen.box(-0.86, -0.66, 0.86, 0.9, p.deep, 0.05)
    pen.box(-0.94, -0.74, 0.94, -0.62, p.mid, 0.04)
    pen.box(-0.3, -0.52, 0.3, -0.06, p.white, 0.02)
    for step in range(3):
        pen.line([(-0.2, -0.4 + step * 0.12), (0.2, -0.4 + step * 0.12)], 0.035, p.accent)
    pen.box(-1, 0.0, 1, 0.4, p.accent, 0.05)
    width = 1.82 / WHITE_KEYS
    for key in range(WHITE_KEYS):
        left = -0.91 + key * width
        pen.box(left + 0.008, 0.06, left + width - 0.008, 0.34, p.white, 0.02)
    for key in BLACK_KEYS:
        middle = -0.91 + key * width
        pen.box(middle - 0.04, 0.06, middle + 0.04, 0.23, p.black, 0.012)
    for x in (-0.12, 0.12):
        pen.box(x - 0.05, 0.84, x + 0.05, 0.97, p.accent, 0.03)


def guitar(pen: Pen, p: Palette) -> None:
    """A guitar."""
    leaning = Pen(pen.canvas, pen.centre, pen.size, 28)
    leaning.box(-0.075, -0.98, 0.075, 0.2, p.deep, 0.02)
    leaning.box(-0.13, -1.22, 0.13, -0.92, p.deep, 0.05)
    for step in range(3):
        y = -1.15 + step * 0.09
        for side in (-1, 1):
            leaning.disc((side * 0.17, y), 0.04, p.mid)
    half = [
        (0.0, -0.2),
        (0.28, -0.16),
        (0.39, 0.04),
        (0.33, 0.25),
        (0.44, 0.48),
        (0.52, 0.72),
        (0.32, 0.98),
        (0.0, 1.04),
    ]
    leaning.fill(smooth([*half, *((-x, y) for x, y in reversed(half[1:-1]))]), p.accent)
    leaning.box(-0.075, -0.3, 0.075, 0.2, p.deep, 0.02)
    leaning.ring((0, 0.28), 0.19, 0.04, p.mid)
    leaning.disc((0, 0.28), 0.15, p.deep)
    leaning.box(-0.2, 0.7, 0.2, 0.78, p.deep, 0.03)
    for x in (-0.04, 0.0, 0.04):
        leaning.line([(x, -0.94), (x, 0.72)], 0.014, p.white)
