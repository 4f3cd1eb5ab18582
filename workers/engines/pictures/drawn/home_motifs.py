"""Home motifs: what stands for people and what they do at home, each in a square from -1 to 1 on a floor at 1."""

from workers.engines.pictures.drawn.canvas import circle
from workers.engines.pictures.drawn.palettes import Palette
from workers.engines.pictures.drawn.pen import Pen


def rings(pen: Pen, p: Palette) -> None:
    """Two rings, one through the other, with a stone."""
    left, right, radius, width = (-0.38, 0.36), (0.38, 0.36), 0.56, 0.15
    pen.ring(right, radius, width, p.accent)
    pen.ring(left, radius, width, p.deep)
    # One ring lies over the other where they cross above, and under it where they cross below.
    pen.arc(right, radius, 205, 260, width, p.accent)
    pen.fill([(0.38, -0.1), (0.06, -0.46), (0.2, -0.66), (0.56, -0.66), (0.7, -0.46)], p.mid)
    pen.fill([(0.38, -0.1), (0.26, -0.46), (0.5, -0.46)], p.bright)


def bubbles(pen: Pen, p: Palette) -> None:
    """Two speech bubbles."""
    pen.fill([(-0.78, 0.0), (-0.46, 0.0), (-0.8, 0.46)], p.deep)
    pen.box(-1, -0.84, 0.5, 0.1, p.deep, 0.22)
    for x in (-0.6, -0.25, 0.1):
        pen.disc((x, -0.37), 0.09, p.white)
    pen.fill([(0.5, 0.6), (0.82, 0.6), (0.84, 1.0)], p.accent)
    pen.box(-0.34, -0.06, 1, 0.72, p.accent, 0.22)
    for y, right in ((0.2, 0.74), (0.46, 0.4)):
        pen.line([(-0.08, y), (right, y)], 0.08, p.black)


def tools(pen: Pen, p: Palette) -> None:
    """A spanner and a hammer, crossed."""
    pen.line([(0.72, 0.9), (-0.44, -0.42)], 0.2, p.mid)
    outer, inner = (circle((-58, -58), radius, 270, 540) for radius in (34, 15))
    pen.fill([(x / 100, y / 100) for x, y in (*outer, *reversed(inner))], p.mid)
    pen.line([(-0.72, 0.9), (0.44, -0.44)], 0.18, p.accent)
    pen.box(0.02, -0.76, 0.94, -0.4, p.deep, 0.06, turn=40)


def yarn(pen: Pen, p: Palette) -> None:
    """A ball of wool and two needles."""
    for side in (-1, 1):
        pen.line([(side * 0.72, 0.66), (-side * 0.66, -0.86)], 0.07, p.deep)
        pen.disc((-side * 0.68, -0.88), 0.11, p.deep)
    pen.disc((0, 0.32), 0.68, p.accent)
    for radius in (0.86, 0.7, 0.54):
        pen.arc((-0.6, -0.14), radius, 14, 66, 0.05, p.deep)
        pen.arc((0.66, 0.86), radius, 190, 244, 0.05, p.bright)
    pen.line([(0.2, 0.96), (0.7, 0.97), (1.02, 0.9)], 0.06, p.accent)


def blocks(pen: Pen, p: Palette) -> None:
    """Three toy blocks, one upon two."""
    for left, top, paint in ((-0.96, 0.06, p.deep), (0.02, 0.06, p.mid), (-0.48, -0.9, p.accent)):
        pen.box(left, top, left + 0.94, top + 0.94, paint, 0.1)
    pen.disc((-0.49, 0.53), 0.24, p.white)
    pen.fill([(0.49, 0.26), (0.77, 0.76), (0.21, 0.76)], p.white)
    pen.box(-0.22, -0.64, 0.2, -0.22, p.white, 0.04)


def lotion(pen: Pen, p: Palette) -> None:
    """A pump bottle and a jar of cream."""
    pen.box(-0.48, -0.6, -0.34, -0.2, p.mid)
    pen.box(-0.9, -0.76, -0.22, -0.58, p.mid, 0.06)
    pen.box(-0.62, -0.34, -0.2, -0.16, p.mid, 0.04)
    pen.box(-0.84, -0.18, 0.02, 1, p.deep, 0.16)
    pen.box(-0.84, 0.22, 0.02, 0.7, p.white)
    pen.leaf((-0.41, 0.62), 0.34, 0.18, -60, p.accent)
    pen.leaf((-0.41, 0.62), 0.34, 0.18, -120, p.mid)
    pen.box(0.14, 0.44, 0.96, 1, p.accent, 0.1)
    pen.box(0.08, 0.24, 1.02, 0.48, p.mid, 0.07)
