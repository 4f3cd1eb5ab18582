"""Abstract: designs of shapes and colours that show no thing."""

import math

from PIL import Image, ImageDraw, ImageFilter

from capabilities.blog.engines.pictures.drawn.canvas import (
    HEIGHT,
    WIDTH,
    Point,
    circle,
    rounded,
    sector,
    smooth,
)
from capabilities.blog.engines.pictures.drawn.colours import Colour, blended, mixed
from capabilities.blog.engines.pictures.drawn.scene import MARGIN, Scene, by_name
from capabilities.blog.engines.pictures.drawn.typesetting import Box, TypesetPage


def tiles(scene: Scene) -> TypesetPage:
    """A grid of quarter circles, half circles, dots and stripes."""
    canvas, p, random = scene.canvas, scene.palette, scene.random
    side = 126
    first = 5 if scene.has_title else 0
    for column in range(first, 10):
        for row in range(5):
            x, y = column * side, row * side
            back, front, third = random.sample([*p.colours, p.pale, p.ground], 3)
            canvas.fill(rounded(x, y, x + side, y + side), back)
            _tile(scene, x, y, side, front, third)
    return TypesetPage(Box(MARGIN, MARGIN, first * side - 50, HEIGHT - MARGIN), p.ink, down="bottom", largest=104)


def paper(scene: Scene) -> TypesetPage:
    """Layers of cut paper, one over the other, in graded colours."""
    canvas, p, random = scene.canvas, scene.palette, scene.random
    x, y = (1045.0, 330.0) if scene.has_title else (640.0, 320.0)
    wobble = [(random.uniform(0.02, 0.055), n, random.uniform(0, 7)) for n in (2, 3, 5)]
    layers = (p.pale, p.bright, p.mid, p.deep, mixed(p.deep, p.ink, 0.5) if not p.is_dark else p.ground, p.accent)
    for index, paint in enumerate(layers):
        wobbled = [(a * (1 + 0.4 * index), n, f + 0.35 * index) for a, n, f in wobble]
        outline = _blob((x + 12 * index, y - 6 * index), 455 - index * 76, wobbled)
        _shadow(scene, outline)
        canvas.fill(outline, paint)
    return TypesetPage(Box(MARGIN, MARGIN, 520, HEIGHT - MARGIN), p.ink, down="middle", largest=108)


def flow(scene: Scene) -> TypesetPage:
    """Bands that flow one under the other like waves."""
    canvas, p, random = scene.canvas, scene.palette, scene.random
    bend, phase, count = random.uniform(34, 52), random.uniform(0, 6), 13
    colours = (p.bright, p.mid, p.deep) if not p.is_dark else (p.bright, p.mid, p.pale)
    x = random.uniform(760, 1060)
    canvas.disc((x, 330), 62, p.accent)
    for index in range(count):
        share = index / (count - 1)
        top = []
        for step in range(81):
            t = step / 80
            lift = bend * (1.15 - 0.6 * share) * math.sin(7.2 * t + phase + 0.42 * index * (0.4 + t))
            top.append((t * WIDTH * 1.02 - 10, 366 + 268 * share**1.15 - lift * (0.35 + 0.65 * t)))
        outline = [*top, (WIDTH + 20, HEIGHT + 4), (-20, HEIGHT + 4)]
        canvas.fill(outline, p.accent if index < 2 else blended(colours, (index - 2) / (count - 3)))
        canvas.stroke(top, 2.4, p.ground)
    return scene.above(bottom=256)


def overlap(scene: Scene) -> TypesetPage:
    """Large translucent circles that overlap."""
    canvas, p, random, x = scene.canvas, scene.palette, scene.random, scene.focus
    turn = random.uniform(0, 360)
    for index, paint in enumerate((p.mid, p.accent, p.bright)):
        angle = math.radians(turn + 120 * index)
        canvas.disc((x + 105 * math.cos(angle), 315 + 95 * math.sin(angle)), random.uniform(165, 190), paint, 0.82)
    canvas.disc((x, 315), 74, p.deep if not p.is_dark else p.ink)
    for index in range(3):
        angle = math.radians(turn + 60 + 120 * index)
        centre = (x + 232 * math.cos(angle), 315 + 214 * math.sin(angle))
        canvas.ring(centre, 30, 8, p.deep if not p.is_dark else p.ink)
    return scene.beside(largest=108)


def halftone(scene: Scene) -> TypesetPage:
    """Rows of dots that grow towards a corner."""
    canvas, p, random = scene.canvas, scene.palette, scene.random
    first, last = (p.accent, p.mid) if random.random() < 0.5 else (p.mid, p.accent)
    left, step = (600 if scene.has_title else 0), 42
    is_low = random.random() < 0.5
    for column in range((WIDTH - left) // step + 1):
        for row in range(HEIGHT // step + 1):
            x, y = left + column * step + (step / 2 if row % 2 else 0), row * step
            down = y / HEIGHT if is_low else 1 - y / HEIGHT
            share = min(1.0, 0.62 * (x - left) / (WIDTH - left) + 0.38 * down)
            if share > 0.12:
                canvas.disc((x, y), 3 + 19 * share, mixed(first, last, share))
    return TypesetPage(Box(MARGIN, MARGIN, 572, HEIGHT - MARGIN), p.ink, down="middle", largest=108)


def _tile(scene: Scene, x: float, y: float, side: float, front: Colour, third: Colour) -> None:
    canvas, random = scene.canvas, scene.random
    turn = random.choice((0, 90, 180, 270))
    corner = {0: (x, y), 90: (x + side, y), 180: (x + side, y + side), 270: (x, y + side)}[turn]
    kind = random.choice(("quarter", "quarter", "rings", "half", "dot", "petal", "triangle"))
    if kind == "quarter":
        canvas.fill(sector(corner, side, turn, turn + 90), front)
    elif kind == "rings":
        for share, paint in ((1.0, front), (0.66, third), (0.33, front)):
            canvas.fill(sector(corner, side * share, turn, turn + 90), paint)
    elif kind == "half":
        canvas.fill(circle((x + side / 2, y + side / 2), side / 2, turn, turn + 180), front)
    elif kind == "dot":
        canvas.disc((x + side / 2, y + side / 2), side * 0.32, front)
        canvas.disc((x + side / 2, y + side / 2), side * 0.13, third)
    elif kind == "petal":
        opposite = (2 * x + side - corner[0], 2 * y + side - corner[1])
        canvas.fill([*circle(corner, side, turn, turn + 90), *circle(opposite, side, turn + 180, turn + 270)], front)
    else:
        canvas.fill([(x, y), (x + side, y) if turn < 180 else (x, y + side), (x + side, y + side)], front)


def _blob(centre: Point, radius: float, wobble: list[tuple[float, int, float]]) -> list[Point]:
    points = []
    for step in range(120):
        angle = 2 * math.pi * step / 120
        out = radius * (1 + sum(a * math.sin(n * angle + phase) for a, n, phase in wobble))
        points.append((centre[0] + out * math.cos(angle), centre[1] + out * math.sin(angle)))
    return smooth(points, 2)


def _shadow(scene: Scene, outline: list[Point]) -> None:
    """Draw the soft shadow of a sheet of paper, at an eighth of the size."""
    mask = Image.new("L", (WIDTH // 8, HEIGHT // 8 + 1), 0)
    ImageDraw.Draw(mask).polygon([((x - 10) / 8, (y + 14) / 8) for x, y in outline], fill=70)
    mask = mask.filter(ImageFilter.GaussianBlur(2.2))
    box = mask.getbbox()
    if box is not None:
        left, top, right, bottom = (edge * 8 for edge in box)
        soft = mask.crop(box).resize((right - left, bottom - top), Image.Resampling.BILINEAR)
        scene.canvas.image.paste((20, 14, 30), (left, top), soft)


DESIGNS = by_name(tiles, paper, flow, overlap, halftone)
