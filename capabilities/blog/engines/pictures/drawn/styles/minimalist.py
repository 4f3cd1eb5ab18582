"""Minimalist: designs of much space, large type, and one thing."""

from capabilities.blog.engines.pictures.drawn.canvas import HEIGHT, WIDTH, rounded, sector
from capabilities.blog.engines.pictures.drawn.scene import MARGIN, Scene, by_name
from capabilities.blog.engines.pictures.drawn.typesetting import Box, TypesetPage


def rising(scene: Scene) -> TypesetPage:
    canvas, p, random = scene.canvas, scene.palette, scene.random
    x = random.uniform(880, 980) if scene.has_title else WIDTH / 2
    canvas.disc((x, HEIGHT + 20), 262, p.accent)
    return TypesetPage(Box(MARGIN, 76, 1056, 356), p.ink, largest=136, lines=4)


def rainbow(scene: Scene) -> TypesetPage:
    canvas, p = scene.canvas, scene.palette
    corner = (WIDTH, HEIGHT) if scene.random.random() < 0.5 else (WIDTH, 0)
    for radius, paint in ((430, p.pale), (340, p.bright), (250, p.mid), (160, p.accent), (70, p.ground)):
        canvas.disc((float(corner[0]), float(corner[1])), radius, paint)
    down = "bottom" if corner[1] == 0 else "top"
    return TypesetPage(Box(MARGIN, MARGIN, 735, HEIGHT - MARGIN), p.ink, down=down, largest=120)


def emblem(scene: Scene) -> TypesetPage:
    canvas, p = scene.canvas, scene.palette
    if not scene.has_title:
        scene.motif(scene.pen(WIDTH / 2, 290, 96), p.on_ground())
        canvas.fill(rounded(WIDTH / 2 - 60, 456, WIDTH / 2 + 60, 462, 3), p.accent)
        return scene.beside()
    scene.motif(scene.pen(WIDTH / 2, 158, 66), p.on_ground())
    canvas.fill(rounded(WIDTH / 2 - 44, HEIGHT - 84, WIDTH / 2 + 44, HEIGHT - 78, 3), p.accent)
    return TypesetPage(Box(150, 262, WIDTH - 150, 506), p.ink, across="centre", down="middle", largest=100, lines=4)


def quarter(scene: Scene) -> TypesetPage:
    canvas, p, random = scene.canvas, scene.palette, scene.random
    x, y, radius = (915.0 if scene.has_title else WIDTH / 2), HEIGHT / 2, 213.0
    first, second = (180, 0) if random.random() < 0.5 else (90, 270)
    canvas.fill(sector((x, y), radius, first, first + 90), p.deep if not p.is_dark else p.bright)
    canvas.fill(sector((x, y), radius, second, second + 90), p.accent)
    return TypesetPage(Box(MARGIN, MARGIN, 650, HEIGHT - MARGIN), p.ink, down="middle", largest=112)


def frame(scene: Scene) -> TypesetPage:
    """A double frame around the title, with a disc at the middle of its upper and lower edge."""
    canvas, p = scene.canvas, scene.palette
    paint = p.deep if not p.is_dark else p.bright
    for inset, width in ((34, 10), (56, 3)):
        canvas.fill(rounded(inset, inset, WIDTH - inset, HEIGHT - inset), paint)
        canvas.fill(rounded(inset + width, inset + width, WIDTH - inset - width, HEIGHT - inset - width), p.ground)
    for y in (45.0, HEIGHT - 45.0):
        canvas.disc((WIDTH / 2, y), 34, p.ground)
        canvas.disc((WIDTH / 2, y), 22, p.accent)
    return TypesetPage(
        Box(120, 112, WIDTH - 120, HEIGHT - 112), p.ink, across="centre", down="middle", largest=124, lines=5
    )


def stripes(scene: Scene) -> TypesetPage:
    canvas, p, random = scene.canvas, scene.palette, scene.random
    paints = [p.deep if not p.is_dark else p.pale, p.mid, p.bright, p.accent]
    random.shuffle(paints)
    x = float(WIDTH)
    for index, width in enumerate((118, 84, 58, 38, 24, 14)):
        canvas.fill(rounded(x - width, 0, x, HEIGHT), paints[index % len(paints)])
        x -= width + 10
    return TypesetPage(Box(MARGIN, MARGIN, 760, HEIGHT - MARGIN), p.ink, down="middle", largest=124)


def card(scene: Scene) -> TypesetPage:
    canvas, p = scene.canvas, scene.palette
    first, second = (p.mid, p.accent) if scene.random.random() < 0.5 else (p.accent, p.mid)
    canvas.fill(rounded(0, 0, WIDTH, HEIGHT), first)
    canvas.fill([(0, HEIGHT), (WIDTH, 0), (WIDTH, HEIGHT)], second)
    canvas.fill(rounded(92, 84, WIDTH - 76, HEIGHT - 68), p.deep if not p.is_dark else p.pale)
    canvas.fill(rounded(80, 72, WIDTH - 88, HEIGHT - 80), p.ground)
    canvas.fill(rounded(128, 120, 224, 130), first if first != p.ground else second)
    return TypesetPage(Box(128, 158, WIDTH - 136, HEIGHT - 122), p.ink, down="middle", largest=124, lines=4)


DESIGNS = by_name(rising, rainbow, emblem, quarter, frame, stripes, card)
