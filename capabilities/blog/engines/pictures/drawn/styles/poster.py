"""Poster: designs around the post's motif, large or many times, on a coloured panel."""

from capabilities.blog.engines.pictures.drawn.canvas import HEIGHT, WIDTH, rounded, sector
from capabilities.blog.engines.pictures.drawn.colours import Colour, mixed
from capabilities.blog.engines.pictures.drawn.scene import MARGIN, Scene, by_name
from capabilities.blog.engines.pictures.drawn.typesetting import Box, TypesetPage

#: Where the panel begins beside a title.
EDGE = 616.0


def poster(scene: Scene) -> TypesetPage:
    canvas, p, left = scene.canvas, scene.palette, _panel(scene)
    x = (left + WIDTH) / 2
    corner = scene.random.choice(((left, 0.0, 0), (float(WIDTH), 0.0, 90)))
    canvas.fill(sector(corner[:2], 178, corner[2], corner[2] + 90), p.accent)
    canvas.fill(rounded(left, 548, WIDTH, HEIGHT), p.deep if not p.is_dark else p.mid)
    scene.stand(scene.motif, x, 548, 206)
    return _beside(scene)


def pattern(scene: Scene) -> TypesetPage:
    canvas, p, left = scene.canvas, scene.palette, _panel(scene)
    columns = 4 if scene.has_title else 8
    step, rows = (WIDTH - left) / columns, 4
    down = HEIGHT / rows
    for column in range(columns):
        for row in range(rows):
            x, y = left + (column + 0.5) * step, (row + 0.5) * down
            if (column + row) % 2:
                canvas.disc((x, y), 13, p.accent)
                canvas.ring((x, y), 30, 5, p.mid if not p.is_dark else p.deep)
            else:
                scene.motif(scene.pen(x, y, 54, scene.random.uniform(-9, 9)), p)
    return _beside(scene)


def stamp(scene: Scene) -> TypesetPage:
    canvas, p = scene.canvas, scene.palette
    left = EDGE if scene.has_title else 0.0
    around = p.mid if not p.is_dark else p.deep
    canvas.fill(rounded(left, 0, WIDTH, HEIGHT), around)
    x, y, angle = (left + WIDTH) / 2, HEIGHT / 2, scene.random.choice((-7.0, -5.0, 5.0, 7.0))
    pen = scene.pen(x, y, 1.0, angle)
    half, tall = 196.0, 238.0
    pen.box((-half + 12, -tall + 14, half + 12, tall + 14), mixed(around, (0, 0, 0), 0.3))
    pen.box((-half, -tall, half, tall), p.white)
    for share in range(15):
        for side in (-1, 1):
            pen.disc((side * half, -tall + 2 * tall * share / 14), 11, around)
            pen.disc((-half + 2 * half * share / 14, side * tall), 11, around)
    pen.box((-half + 30, -tall + 30, half - 30, tall - 30), _back(scene))
    scene.motif(scene.pen(x, y, 128, angle), p)
    return _beside(scene)


def _beside(scene: Scene) -> TypesetPage:
    return TypesetPage(Box(MARGIN, MARGIN, EDGE - 56, HEIGHT - MARGIN), scene.palette.ink, down="middle", largest=108)


def _back(scene: Scene) -> Colour:
    """Return the colour that every motif stands out from."""
    return scene.palette.bright if scene.palette.is_dark else scene.palette.pale


def _panel(scene: Scene) -> float:
    left = EDGE if scene.has_title else 0.0
    scene.canvas.fill(rounded(left, 0, WIDTH, HEIGHT), _back(scene))
    return left


DESIGNS = by_name(poster, pattern, stamp)
