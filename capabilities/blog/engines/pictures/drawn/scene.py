"""Scene: what a design draws with, and what designs have in common."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from PIL import Image

from capabilities.blog.engines.pictures.drawn.canvas import HEIGHT, WIDTH, Canvas, Pen, Point, leaf
from capabilities.blog.engines.pictures.drawn.colours import Colour, Palette, blended
from capabilities.blog.engines.pictures.drawn.shapes import Drawing
from capabilities.blog.engines.pictures.drawn.typesetting import Box, TypesetPage

#: From the edges to the title.
MARGIN = 72

#: Where the picture stands beside a title, and where without one.
BESIDE, MIDDLE = 896.0, WIDTH / 2


@dataclass(slots=True)
class Scene:
    """A canvas and what is to be on it. All chance comes from `random`, which is seeded."""

    canvas: Canvas
    palette: Palette
    random: Random
    motif: Drawing
    has_title: bool

    @property
    def focus(self) -> float:
        """Return where the middle of the picture is, from the left."""
        return BESIDE if self.has_title else MIDDLE

    def pen(self, x: float, y: float, size: float, angle: float = 0.0) -> Pen:
        """Return a pen for a thing of `size` pixels from its middle to its edge."""
        return Pen(self.canvas, (x, y), size, angle)

    def stand(self, thing: Drawing, x: float, floor: float, size: float) -> None:
        """Draw a thing of `size` pixels from its middle to its edge so that it stands on a floor."""
        thing(self.pen(x, floor - size, size), self.palette)

    def beside(self, largest: int = 118) -> TypesetPage:
        """Return a page left of the picture."""
        return TypesetPage(Box(MARGIN, MARGIN, 572, HEIGHT - MARGIN), self.palette.ink, down="middle", largest=largest)

    def above(self, bottom: float = 268, right: float = WIDTH - MARGIN) -> TypesetPage:
        """Return a page above the picture."""
        return TypesetPage(Box(MARGIN, 60, right, bottom), self.palette.ink, largest=124, smallest=32, lines=4)


#: Draws a scene, and returns where its title goes.
Design = Callable[[Scene], TypesetPage]


def by_name(*designs: Design) -> Mapping[str, Design]:
    """Return designs by their names, which wording.json and topics.toml have, too."""
    return {design.__name__: design for design in designs}


def gradient(colours: Sequence[Colour], *, top: int = 0, bottom: int = HEIGHT) -> Image.Image:
    """Return a picture as large as the canvas that goes from colour to colour, from `top` down to `bottom`."""
    rows = [blended(colours, min(1.0, max(0.0, (y - top) / (bottom - top)))) for y in range(HEIGHT)]
    column = Image.new("RGB", (1, HEIGHT))
    column.putdata(rows)
    return column.resize((WIDTH, HEIGHT))


def ridge(random: Random, base: float, height: float) -> list[Point]:
    """Return the outline of gentle hills whose top is around `base`, down to the lower edge."""
    places = [float(x) for x in range(-20, WIDTH + 21, 10)]
    sums = [0.0] * len(places)
    for n in (1, 2, 3.2):
        a, f, phase = random.uniform(0.5, 1) * height / n, n * random.uniform(0.9, 1.5), random.uniform(0, 7)
        sums = [total + a * math.sin(math.pi * f * x / WIDTH + phase) for total, x in zip(sums, places, strict=True)]
    top = [(x, base - total / 1.6) for total, x in zip(sums, places, strict=True)]
    return [*top, (WIDTH + 20, HEIGHT + 4), (-20, HEIGHT + 4)]


def height_at(outline: Sequence[Point], x: float) -> float:
    """Return the height of a ridge's top at `x`."""
    return min(outline[:-2], key=lambda point: abs(point[0] - x))[1]


def sprig(scene: Scene, root: Point, length: float, angle: float, paint: Colour, leaves: int = 5) -> None:
    """Draw a stem with leaves on both sides."""
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
