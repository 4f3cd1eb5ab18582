"""Scenery: what landscapes, cities and interiors are made of."""

import math

from workers.engines.pictures.drawn.canvas import HEIGHT, WIDTH, Point, rounded
from workers.engines.pictures.drawn.colours import Colour
from workers.engines.pictures.drawn.scene import Scene, height_at, sprig


def draw_sun(scene: Scene, x: float, y: float, radius: float) -> None:
    """Draw a sun, or a moon, with a halo."""
    p = scene.palette
    scene.canvas.disc((x, y), radius * 1.6, p.accent, 0.13)
    scene.canvas.disc((x, y), radius * 1.28, p.accent, 0.2)
    scene.canvas.disc((x, y), radius, p.accent)


def draw_trees(scene: Scene, outline: list[Point], paint: Colour, size: float, count: int) -> None:
    """Draw trees here and there on a ridge."""
    random = scene.random
    for _ in range(count):
        x = random.uniform(20, WIDTH - 20)
        y, tall = height_at(outline, x), size * random.uniform(0.8, 1.25)
        scene.canvas.stroke([(x, y + 10), (x, y - tall * 0.6)], tall * 0.09, scene.palette.deep)
        scene.canvas.fill(
            [(x + tall * 0.42 * math.cos(a / 8), y - tall + tall * 0.66 * math.sin(a / 8)) for a in range(51)], paint
        )


def draw_peak(scene: Scene, x: float, top: float, width: float, paint: Colour, snow: Colour) -> None:
    """Draw a mountain with snow on it, one side in the shade."""
    canvas, half = scene.canvas, width / 2
    foot = top + half * 0.82
    canvas.fill([(x, top), (x + half, foot), (x + half, HEIGHT), (x - half, HEIGHT), (x - half, foot)], paint)
    canvas.fill(
        [(x, top), (x + half, foot), (x + half, HEIGHT), (x + half * 0.1, HEIGHT), (x - half * 0.12, foot)],
        scene.palette.deep,
        0.22,
    )
    share = 0.27
    left, right, low = x - half * share, x + half * share, top + half * 0.82 * share
    canvas.fill(
        [
            (x, top),
            (right, low),
            (x + half * 0.12, low - 14),
            (x + half * 0.02, low + 16),
            (x - half * 0.12, low - 8),
            (left, low),
        ],
        snow,
    )


def draw_pine(scene: Scene, x: float, y: float, tall: float) -> None:
    """Draw a pine that stands at a point."""
    p = scene.palette
    for step in range(3):
        half, top = tall * (0.17 + 0.07 * step), y - tall + tall * 0.24 * step
        scene.canvas.fill([(x, top), (x + half, top + tall * 0.44), (x - half, top + tall * 0.44)], p.deep)
    scene.canvas.stroke([(x, y), (x, y - tall * 0.2)], tall * 0.08, p.deep)


def waves(shift: float, base: float, height: float, length: float) -> list[Point]:
    """Return the outline of a row of waves, down to the lower edge."""
    top = []
    for x in range(-20, WIDTH + 21, 5):
        phase = ((x + shift) % length) / length
        top.append((float(x), base - height * (2 * abs(phase - 0.5)) ** 1.7 * 2 + height))
    return [*top, (WIDTH + 20, HEIGHT + 4), (-20, HEIGHT + 4)]


def draw_building(scene: Scene, x: float, top: float, width: float, depth: int, paint: Colour) -> None:
    """Draw a building; the nearer (`depth` 0 to 2), the more windows are lit."""
    canvas, p, random = scene.canvas, scene.palette, scene.random
    roof = random.choice(("flat", "flat", "slope", "mast", "steps"))
    canvas.fill(rounded(x, top, x + width, HEIGHT), paint)
    if roof == "slope":
        canvas.fill([(x, top + 1), (x + width, top + 1), (x + width, top - width * 0.3)], paint)
    elif roof == "mast":
        canvas.fill(rounded(x + width / 2 - 2, top - 38, x + width / 2 + 2, top + 1), paint)
    elif roof == "steps":
        canvas.fill(rounded(x + width * 0.2, top - 16, x + width * 0.8, top + 1), paint)
    if depth == 0:
        return
    lit = (p.bright, p.accent)[depth - 1]
    columns = int(width // 24)
    gap = (width - columns * 11) / (columns + 1)
    for row in range(int((HEIGHT - top) // 26)):
        for column in range(columns):
            if random.random() < (0.3, 0.42)[depth - 1]:
                left, y = x + gap + column * (11 + gap), top + 16 + row * 26
                canvas.fill(rounded(left, y, left + 11, y + 14), lit)


def draw_little_pot(scene: Scene, x: float, floor: float, size: float = 34) -> None:
    """Draw a small plant in a pot on a floor."""
    p = scene.palette
    pen = scene.pen(x, floor - size, size)
    for angle in (-90, -60, -120, -35, -145):
        pen.leaf((0, 0.2), 1.3, 0.4, angle, p.mid if not p.is_dark else p.bright)
    pen.fill([(-0.5, 0.1), (0.5, 0.1), (0.38, 1), (-0.38, 1)], p.accent)


def draw_lamp(scene: Scene, x: float, floor: float) -> None:
    """Draw a desk lamp on a floor."""
    p = scene.palette
    paint = p.deep if not p.is_dark else p.mid
    pen = scene.pen(x, floor - 120, 120)
    pen.box(-0.32, 0.93, 0.32, 1, paint, 0.03)
    pen.line([(0, 0.95), (0.26, 0.1), (-0.2, -0.62)], 0.06, paint)
    pen.disc((0.26, 0.1), 0.07, p.accent)
    pen.fill([(-0.12, -0.86), (0.02, -0.62), (-0.42, -0.12), (-0.78, -0.52)], p.accent)
    pen.disc((-0.6, -0.32), 0.1, p.ground if not p.is_dark else p.ink)


def draw_bush(scene: Scene, x: float, y: float, size: float) -> None:
    """Draw the leaves of a bush."""
    p = scene.palette
    for index, angle in enumerate((-90, -66, -114, -44, -136, -24, -156)):
        paint = (p.mid, p.deep if not p.is_dark else p.bright)[index % 2]
        scene.pen(x, y, size).leaf((0, 0.1), 1.5 - 0.09 * index, 0.42, angle, paint)


def draw_cactus(scene: Scene, x: float, y: float, size: float) -> None:
    """Draw a cactus in flower."""
    p = scene.palette
    paint = p.mid
    pen = scene.pen(x, y, size)
    pen.line([(0, 0.1), (0, -1.55)], 0.52, paint)
    pen.line([(0, -0.5), (0.56, -0.5), (0.56, -0.98)], 0.26, paint)
    pen.line([(0, -0.25), (-0.54, -0.25), (-0.54, -0.72)], 0.26, paint)
    for step in range(5):
        pen.line([(-0.06, -1.5 + step * 0.32), (0.06, -1.42 + step * 0.32)], 0.04, p.pale)
    pen.disc((0, -1.84), 0.13, p.accent)


def draw_tall_plant(scene: Scene, x: float, y: float, size: float) -> None:
    """Draw tall stems with leaves."""
    p = scene.palette
    paint = p.bright if p.is_dark else p.deep
    for angle, length in ((-90, 2.5), (-74, 1.9), (-106, 2.0)):
        sprig(scene, (x, y), size * length, angle, paint, leaves=5)


def draw_round_tree(scene: Scene, x: float, y: float, size: float) -> None:
    """Draw a little tree with fruits."""
    p = scene.palette
    pen = scene.pen(x, y, size)
    pen.line([(0, 0.1), (0, -1.2)], 0.1, p.deep)
    pen.disc((0, -1.62), 0.78, p.bright)
    pen.disc((0.24, -1.42), 0.5, p.mid)
    for a, b in ((-0.3, -1.85), (0.1, -2.0), (-0.1, -1.35), (0.35, -1.7)):
        pen.disc((a, b), 0.085, p.accent)


def draw_jar(scene: Scene, x: float, floor: float, size: float) -> None:
    """Draw a jar with a lid on a floor."""
    p = scene.palette
    pen = scene.pen(x, floor - size, size)
    pen.box(-0.62, -0.4, 0.62, 1, p.white, 0.2)
    pen.box(-0.62, 0.2, 0.62, 1, p.accent, 0.2)
    pen.box(-0.5, -0.62, 0.5, -0.36, p.mid, 0.08)


def draw_bottle(scene: Scene, x: float, floor: float, size: float) -> None:
    """Draw a bottle with a label on a floor."""
    p = scene.palette
    pen = scene.pen(x, floor - size, size)
    paint = p.bright if p.is_dark else p.deep
    pen.box(-0.13, -1.2, 0.13, -0.2, paint, 0.05)
    pen.box(-0.36, -0.5, 0.36, 1, paint, 0.24)
    pen.box(-0.17, -1.28, 0.17, -1.08, p.accent, 0.05)
    pen.box(-0.36, 0.1, 0.36, 0.62, p.white)


def draw_cooking_pot(scene: Scene, x: float, floor: float, size: float) -> None:
    """Draw a cooking pot with its lid on a floor."""
    p = scene.palette
    pen = scene.pen(x, floor - size, size)
    pen.line([(-0.98, 0.2), (0.98, 0.2)], 0.16, p.deep if not p.is_dark else p.bright)
    pen.box(-0.8, 0.0, 0.8, 1, p.mid, 0.2)
    pen.box(-0.88, -0.14, 0.88, 0.06, p.deep if not p.is_dark else p.bright, 0.08)
    pen.disc((0, -0.22), 0.13, p.accent)


def draw_mugs(scene: Scene, x: float, floor: float, size: float) -> None:
    """Draw a mug on a floor, and another on it."""
    p = scene.palette
    for lift, paint in ((0.0, p.accent), (0.78, p.bright if not p.is_dark else p.ink)):
        pen = scene.pen(x, floor - size * (1 + lift), size)
        pen.ring((0.48, 0.6), 0.2, 0.1, paint)
        pen.box(-0.46, 0.24, 0.46, 1, paint, 0.14)
