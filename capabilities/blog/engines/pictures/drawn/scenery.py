"""Scenery: what landscapes, cities and interiors are made of."""

import math

from capabilities.blog.engines.pictures.drawn.canvas import HEIGHT, WIDTH, Point, rounded
from capabilities.blog.engines.pictures.drawn.colours import Colour
from capabilities.blog.engines.pictures.drawn.scene import Scene, height_at, sprig


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
    shade = [(x, top), (x + half, foot), (x + half, HEIGHT), (x + half * 0.1, HEIGHT), (x - half * 0.12, foot)]
    canvas.fill(shade, scene.palette.deep, 0.22)
    low = top + half * 0.82 * 0.27
    edge = ((0.27, 0), (0.12, -14), (0.02, 16), (-0.12, -8), (-0.27, 0))
    canvas.fill([(x, top), *((x + half * share, low + down) for share, down in edge)], snow)


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


def draw_tall_plant(scene: Scene, x: float, y: float, size: float) -> None:
    """Draw tall stems with leaves."""
    p = scene.palette
    paint = p.bright if p.is_dark else p.deep
    for angle, length in ((-90, 2.5), (-74, 1.9), (-106, 2.0)):
        sprig(scene, (x, y), size * length, angle, paint, leaves=5)
