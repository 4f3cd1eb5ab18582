"""Travel motifs: what stands for being on the move, in a square from -1 to 1 on a floor at 1."""

from workers.engines.pictures.drawn.canvas import smooth
from workers.engines.pictures.drawn.palettes import Palette
from workers.engines.pictures.drawn.pen import Pen

#: The outline of a shoe without its sole, from the heel over the laces to the toes.
UPPER = (
    (-0.96, 0.06),
    (-0.9, -0.06),
    (-0.8, -0.04),
    (-0.68, 0.14),
    (-0.48, 0.18),
    (-0.3, 0.06),
    (-0.16, -0.07),
    (-0.06, -0.06),
    (0.14, 0.14),
    (0.46, 0.38),
    (0.84, 0.5),
    (1.0, 0.64),
    (1.0, 0.82),
    (0.5, 0.9),
    (-0.6, 0.9),
    (-0.97, 0.84),
    (-0.94, 0.44),
)


def shoe(pen: Pen, p: Palette) -> None:
    """A running shoe."""
    pen.fill(smooth([(-0.5, 0.2), (-0.36, -0.02), (-0.2, -0.2), (-0.08, -0.2), (-0.04, -0.06), (-0.2, 0.2)]), p.mid)
    pen.fill(smooth(UPPER), p.accent)
    pen.fill(smooth([(0.6, 0.84), (0.58, 0.68), (0.7, 0.56), (0.9, 0.54), (1.0, 0.66), (0.98, 0.84)]), p.mid)
    pen.fill(smooth([(-0.98, 0.8), (-0.97, 0.44), (-0.8, 0.36), (-0.58, 0.52), (-0.5, 0.78), (-0.6, 0.86)]), p.mid)
    pen.line([(-0.36, 0.74), (-0.16, 0.68), (0.04, 0.56), (0.2, 0.42), (0.3, 0.36)], 0.1, p.deep)
    for x, y in ((-0.09, 0.1), (0.07, 0.21), (0.24, 0.32)):
        pen.line([(x - 0.09, y + 0.09), (x + 0.1, y - 0.1)], 0.05, p.deep)
    pen.fill(
        smooth([(-1.0, 0.76), (-0.5, 0.8), (0.3, 0.81), (1.0, 0.7), (1.06, 0.76), (1, 0.92), (0.6, 1), (-0.92, 1)]),
        p.deep,
    )
    pen.line([(-0.96, 0.88), (-0.3, 0.91), (0.4, 0.9), (0.98, 0.8)], 0.04, p.white)


def bicycle(pen: Pen, p: Palette) -> None:
    """A bicycle with a basket."""
    rear, front, pedals, seat, head = (-0.58, 0.54), (0.6, 0.54), (-0.08, 0.54), (-0.26, -0.1), (0.38, -0.16)
    for hub in (rear, front):
        pen.ring(hub, 0.42, 0.075, p.deep)
        pen.disc(hub, 0.07, p.deep)
    pen.box(0.44, -0.4, 0.92, -0.06, p.mid, 0.06)
    pen.line([front, head, (0.32, -0.44)], 0.075, p.deep)
    pen.line([(0.16, -0.5), (0.32, -0.5), (0.44, -0.44)], 0.07, p.deep)
    pen.line([seat, (-0.32, -0.32)], 0.07, p.deep)
    for tube in ((rear, seat, pedals, rear), (seat, head), (pedals, (0.42, -0.02))):
        pen.line(tube, 0.085, p.accent)
    pen.box(-0.52, -0.42, -0.14, -0.31, p.deep, 0.055)
    pen.disc(pedals, 0.13, p.deep)
    pen.line([pedals, (0.04, 0.76)], 0.06, p.deep)
    pen.box(-0.06, 0.73, 0.16, 0.81, p.mid, 0.03)


def suitcase(pen: Pen, p: Palette) -> None:
    """A suitcase with a tag."""
    for x in (-0.24, 0.24):
        pen.line([(x, -0.92), (x, -0.3)], 0.06, p.deep)
    pen.box(-0.32, -1, 0.32, -0.88, p.deep, 0.06)
    for x in (-0.44, 0.44):
        pen.disc((x, 0.91), 0.09, p.deep)
    pen.box(-0.66, -0.38, 0.66, 0.87, p.accent, 0.16)
    for x in (-0.36, 0.0, 0.36):
        pen.box(x - 0.03, -0.22, x + 0.03, 0.7, p.mid, 0.03)
    pen.box(-0.66, 0.12, 0.66, 0.26, p.deep)
    pen.box(-0.12, 0.06, 0.12, 0.32, p.mid, 0.04)
    pen.line([(0.24, -0.84), (0.44, -0.66)], 0.035, p.deep)
    pen.box(0.36, -0.72, 0.62, -0.34, p.mid, 0.05, turn=-24)


def train(pen: Pen, p: Palette) -> None:
    """A train that comes along its tracks, seen from the front."""
    pen.line([(-0.34, 0.62), (-0.86, 0.98)], 0.06, p.deep)
    pen.line([(0.34, 0.62), (0.86, 0.98)], 0.06, p.deep)
    for y, half in ((0.76, 0.72), (0.94, 0.98)):
        pen.line([(-half, y), (half, y)], 0.07, p.mid)
    pen.line([(-0.24, -0.98), (0, -0.84), (0.24, -0.98)], 0.05, p.deep)
    pen.box(-0.34, 0.5, 0.34, 0.74, p.deep, 0.06)
    side = [(0.0, -0.84), (0.36, -0.8), (0.56, -0.6), (0.64, -0.1), (0.68, 0.4), (0.56, 0.62), (0.3, 0.66)]
    pen.fill(smooth([*side, (0.0, 0.66), *((-x, y) for x, y in reversed(side[1:]))]), p.accent)
    pen.box(-0.46, -0.54, 0.46, -0.06, p.deep, 0.14)
    pen.fill([(-0.3, -0.12), (-0.06, -0.48), (0.1, -0.48), (-0.14, -0.12)], p.bright, 0.5)
    pen.box(-0.64, 0.06, 0.64, 0.14, p.mid)
    for x in (-0.42, 0.42):
        pen.disc((x, 0.34), 0.12, p.deep)
        pen.disc((x, 0.34), 0.075, p.white)
    pen.box(-0.16, 0.3, 0.16, 0.38, p.deep, 0.04)
