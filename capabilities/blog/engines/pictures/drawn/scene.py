"""Scene: the tools of all designs, and the parts of landscapes, cities and interiors."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from PIL import Image

from capabilities.blog.engines.pictures.drawn.canvas import HEIGHT, WIDTH, Canvas, Pen, Point, leaf, rounded
from capabilities.blog.engines.pictures.drawn.colours import Colour, Palette, blended
from capabilities.blog.engines.pictures.drawn.shapes import Drawing
from capabilities.blog.engines.pictures.drawn.typesetting import Box, TypesetPage

MARGIN = 72

#: The middle of the picture beside a title, and without one.
BESIDE, MIDDLE = 896.0, WIDTH / 2


@dataclass(slots=True)
class Scene:
    """A canvas and its content. All chance comes from `random`, which is seeded."""

    canvas: Canvas
    palette: Palette
    random: Random
    motif: Drawing
    has_title: bool

    @property
    def focus(self) -> float:
        """Return the middle of the picture, from the left."""
        return BESIDE if self.has_title else MIDDLE

    def pen(self, x: float, y: float, size: float, angle: float = 0.0) -> Pen:
        """Return a pen for a thing of `size` pixels from middle to edge."""
        return Pen(self.canvas, (x, y), size, angle)

    def stand(self, thing: Drawing, x: float, floor: float, size: float) -> None:
        """Draw a thing of `size` pixels from middle to edge on a floor."""
        thing(self.pen(x, floor - size, size), self.palette)

    def beside(self, largest: int = 118) -> TypesetPage:
        return TypesetPage(Box(MARGIN, MARGIN, 572, HEIGHT - MARGIN), self.palette.ink, down="middle", largest=largest)

    def above(self, bottom: float = 268, right: float = WIDTH - MARGIN) -> TypesetPage:
        return TypesetPage(Box(MARGIN, 60, right, bottom), self.palette.ink, largest=124, smallest=32, lines=4)


#: Draws a scene, and returns the place of its title.
Design = Callable[[Scene], TypesetPage]


def by_name(*designs: Design) -> Mapping[str, Design]:
    """Return designs by their names, which wording.toml and topics.toml use."""
    return {design.__name__: design for design in designs}


def gradient(colours: Sequence[Colour], *, top: int = 0, bottom: int = HEIGHT) -> Image.Image:
    """Return a picture of the canvas's size with a gradient from `top` to `bottom`."""
    rows = [blended(colours, min(1.0, max(0.0, (y - top) / (bottom - top)))) for y in range(HEIGHT)]
    column = Image.new("RGB", (1, HEIGHT))
    column.putdata(rows)
    return column.resize((WIDTH, HEIGHT))


def ridge(random: Random, base: float, height: float) -> list[Point]:
    """Return the outline of gentle hills around `base`, down to the lower edge."""
    places = [float(x) for x in range(-20, WIDTH + 21, 10)]
    sums = [0.0] * len(places)
    for n in (1, 2, 3.2):
        a, f, phase = random.uniform(0.5, 1) * height / n, n * random.uniform(0.9, 1.5), random.uniform(0, 7)
        sums = [total + a * math.sin(math.pi * f * x / WIDTH + phase) for total, x in zip(sums, places, strict=True)]
    top = [(x, base - total / 1.6) for total, x in zip(sums, places, strict=True)]
    return [*top, (WIDTH + 20, HEIGHT + 4), (-20, HEIGHT + 4)]


def height_at(outline: Sequence[Point], x: float) -> float:
    return min(outline[:-2], key=lambda point: abs(point[0] - x))[1]


def sprig(scene: Scene, root: Point, length: float, angle: float, paint: Colour, leaves: int = 5) -> None:
    turn = math.radians(angle)
    tip = (root[0] + length * math.cos(turn), root[1] + length * math.sin(turn))
    scene.canvas.stroke([root, tip], max(3.0, length / 60), paint)
    for index in range(leaves):
        share = 0.25 + 0.7 * index / leaves
        place = (root[0] + (tip[0] - root[0]) * share, root[1] + (tip[1] - root[1]) * share)
        size = length * (0.42 - 0.2 * share)
        for side in (-1, 1):
            scene.canvas.fill(leaf(place, size, size * 0.42, angle + side * 48), paint)
    scene.canvas.fill(leaf(tip, length * 0.2, length * 0.09, angle), paint)


def draw_sun(scene: Scene, x: float, y: float, radius: float) -> None:
    p = scene.palette
    scene.canvas.disc((x, y), radius * 1.6, p.accent, 0.13)
    scene.canvas.disc((x, y), radius * 1.28, p.accent, 0.2)
    scene.canvas.disc((x, y), radius, p.accent)


def draw_trees(scene: Scene, outline: list[Point], paint: Colour, size: float, count: int) -> None:
    random = scene.random
    for _ in range(count):
        x = random.uniform(20, WIDTH - 20)
        y, tall = height_at(outline, x), size * random.uniform(0.8, 1.25)
        scene.canvas.stroke([(x, y + 10), (x, y - tall * 0.6)], tall * 0.09, scene.palette.deep)
        scene.canvas.fill(
            [(x + tall * 0.42 * math.cos(a / 8), y - tall + tall * 0.66 * math.sin(a / 8)) for a in range(51)], paint
        )


def draw_peak(scene: Scene, x: float, top: float, width: float, paint: Colour, snow: Colour) -> None:
    canvas, half = scene.canvas, width / 2
    foot = top + half * 0.82
    canvas.fill([(x, top), (x + half, foot), (x + half, HEIGHT), (x - half, HEIGHT), (x - half, foot)], paint)
    shade = [(x, top), (x + half, foot), (x + half, HEIGHT), (x + half * 0.1, HEIGHT), (x - half * 0.12, foot)]
    canvas.fill(shade, scene.palette.deep, 0.22)
    low = top + half * 0.82 * 0.27
    edge = ((0.27, 0), (0.12, -14), (0.02, 16), (-0.12, -8), (-0.27, 0))
    canvas.fill([(x, top), *((x + half * share, low + down) for share, down in edge)], snow)


def draw_pine(scene: Scene, x: float, y: float, tall: float) -> None:
    p = scene.palette
    for step in range(3):
        half, top = tall * (0.17 + 0.07 * step), y - tall + tall * 0.24 * step
        scene.canvas.fill([(x, top), (x + half, top + tall * 0.44), (x - half, top + tall * 0.44)], p.deep)
    scene.canvas.stroke([(x, y), (x, y - tall * 0.2)], tall * 0.08, p.deep)


def waves(shift: float, base: float, height: float, length: float) -> list[Point]:
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
    p = scene.palette
    paint = p.bright if p.is_dark else p.deep
    for angle, length in ((-90, 2.5), (-74, 1.9), (-106, 2.0)):
        sprig(scene, (x, y), size * length, angle, paint, leaves=5)
