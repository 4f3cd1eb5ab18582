"""Illustration: designs of landscapes, interiors, and one thing on a floor."""

import math

from capabilities.blog.engines.pictures.drawn.canvas import HEIGHT, WIDTH, circle, rounded, smooth
from capabilities.blog.engines.pictures.drawn.colours import mixed
from capabilities.blog.engines.pictures.drawn.scene import (
    MARGIN,
    Scene,
    by_name,
    draw_building,
    draw_peak,
    draw_pine,
    draw_sun,
    draw_tall_plant,
    draw_trees,
    gradient,
    height_at,
    ridge,
    sprig,
    waves,
)
from capabilities.blog.engines.pictures.drawn.shapes import PROPS
from capabilities.blog.engines.pictures.drawn.typesetting import Box, TypesetPage

#: The plant whose leaves are drawn by a rule, and not from props.toml.
TALL = "tall"


def hero(scene: Scene) -> TypesetPage:
    """The post's motif before an arch or a disc, with leaves around it."""
    canvas, p, random, x = scene.canvas, scene.palette, scene.random, scene.focus
    back = p.bright if p.is_dark else p.pale
    floor = 520.0
    shape = random.choice(("arch", "disc", "blob"))
    if shape == "arch":
        canvas.fill([(x - 205, floor), *circle((x, 285), 205, 180, 360), (x + 205, floor)], back)
    elif shape == "disc":
        canvas.disc((x, 315), 250, back)
    else:
        ring = [(random.uniform(215, 275), step * math.pi / 4) for step in range(8)]
        canvas.fill(smooth([(x + out * math.cos(turn), 312 + out * math.sin(turn)) for out, turn in ring]), back)
    _surround(scene, floor)
    scene.stand(scene.motif, x, floor, 158)
    return TypesetPage(Box(MARGIN, 116, 574, HEIGHT - MARGIN), p.ink, down="middle", largest=104, bar=p.accent)


def _surround(scene: Scene, floor: float) -> None:
    canvas, p, random, x = scene.canvas, scene.palette, scene.random, scene.focus
    side = random.choice((-1, 1))
    canvas.disc((x + side * 178, 148), 54, p.accent)
    canvas.ring((x - side * 214, 226), 26, 9, p.mid)
    for step in range(12):
        canvas.disc((x - side * (150 + 22 * (step % 4)), 92 + 22 * (step // 4)), 4.5, p.mid)
    sprig(scene, (x + side * 208, floor), 205, -90 + side * 12, p.mid if not p.is_dark else p.deep)
    sprig(scene, (x - side * 222, floor), 130, -90 - side * 14, p.bright if not p.is_dark else p.mid, leaves=4)
    canvas.fill(rounded(x - 262, floor, x + 262, floor + 10, 5), p.deep if not p.is_dark else p.mid)


def hills(scene: Scene) -> TypesetPage:
    canvas, p, random = scene.canvas, scene.palette, scene.random
    canvas.image.paste(gradient([p.ground, p.sky], bottom=420))
    draw_sun(scene, random.uniform(760, 1000), 392, 104)
    ramp = (mixed(p.bright, p.sky, 0.45), p.bright, p.mid, p.deep)
    bases = (408, 462, 522, 590)
    for index, (paint, base) in enumerate(zip(ramp, bases, strict=True)):
        outline = ridge(random, base, 62 - 8 * index)
        if index in (1, 2):
            draw_trees(scene, outline, (p.mid, p.deep)[index - 1], 26 + 16 * index, 9 - 2 * index)
        canvas.fill(outline, paint)
    for step in range(3):
        x, y = random.uniform(120, 620), 318 + 20 * step
        canvas.stroke([(x - 13, y - 6), (x - 6, y - 9), (x, y), (x + 6, y - 9), (x + 13, y - 6)], 3, p.ink)
    return scene.above()


def mountains(scene: Scene) -> TypesetPage:
    canvas, p, random = scene.canvas, scene.palette, scene.random
    canvas.image.paste(gradient([p.ground, p.sky, mixed(p.sky, p.bright, 0.42)], bottom=470))
    draw_sun(scene, random.uniform(180, 420), 382, 78)
    back = mixed(p.bright, p.sky, 0.2)
    snow = mixed(p.bright, p.ink, 0.85) if p.is_dark else mixed(p.ground, (255, 255, 255), 0.6)
    for x, top, width in ((120, 420, 420), (560, 400, 460), (1010, 410, 480)):
        draw_peak(scene, x + random.uniform(-40, 40), top, width, back, mixed(back, snow, 0.6))
    for x, top, width in ((330, 392, 520), (840, 328, 640)):
        place, height = x + random.uniform(-50, 50), top + random.uniform(-12, 12)
        draw_peak(scene, place, height, width, p.mid, snow)
    outline = ridge(random, 566, 26)
    for _ in range(20):
        place = random.uniform(0, WIDTH)
        draw_pine(scene, place, height_at(outline, place) + 8, random.uniform(46, 92))
    canvas.fill(outline, p.deep)
    return scene.above()


def sea(scene: Scene) -> TypesetPage:
    canvas, p, random = scene.canvas, scene.palette, scene.random
    canvas.image.paste(gradient([p.ground, p.sky], bottom=400))
    x = random.uniform(700, 960)
    draw_sun(scene, x + random.choice((-230, 190)), 404, 96)
    ramp = (mixed(p.bright, p.sky, 0.4), p.bright, p.mid, p.deep)
    for index, paint in enumerate(ramp):
        if index == 2:
            PROPS["boat"](scene.pen(x, 400, 118, random.uniform(-5, 5)), p)
        canvas.fill(waves(random.uniform(0, 200), 400 + index * 58, 10 + 5 * index, 150 + 40 * index), paint)
    return scene.above()


def city(scene: Scene) -> TypesetPage:
    canvas, p, random = scene.canvas, scene.palette, scene.random
    canvas.image.paste(gradient([p.ground, p.sky], bottom=430))
    draw_sun(scene, random.uniform(240, 960), 398, 100)
    ramp = (mixed(p.bright, p.sky, 0.4), p.mid, p.deep)
    for index, paint in enumerate(ramp):
        x = -random.uniform(0, 40)
        while x < WIDTH:
            width = random.uniform(62, 128)
            top = random.uniform(318 + 52 * index, 440 + 58 * index)
            draw_building(scene, x, top, width, index, paint)
            x += width + random.choice((0, 0, 8, 18))
    return scene.above()


def desk(scene: Scene) -> TypesetPage:
    canvas, p, random, x = scene.canvas, scene.palette, scene.random, scene.focus
    table = 512.0
    wall = mixed(p.pale, p.ground, 0.25)
    canvas.fill(rounded(x - 235, 66, x + 235, 372, 14), wall)
    canvas.fill(rounded(x - 219, 82, x + 219, 356, 8), p.sky if not p.is_dark else p.pale)
    canvas.disc((x + random.choice((-110, 110)), 168), 46, p.accent)
    view = ((-219, 356), (-219, 310), (-90, 232), (20, 304), (120, 250), (219, 318), (219, 356))
    canvas.fill([(x + right, y) for right, y in view], p.bright)
    for bar in ((x - 5, 82, x + 5, 356), (x - 219, 214, x + 219, 222)):
        canvas.fill(rounded(*bar), wall)
    canvas.fill(rounded(0, table, WIDTH, HEIGHT), p.deep)
    canvas.fill(rounded(0, table, WIDTH, table + 12), p.mid)
    left = x - 262
    for height, width, paint in ((26, 128, p.mid), (22, 112, p.accent), (24, 120, p.bright)):
        table -= height
        canvas.fill(rounded(left, table, left + width, table + height - 2, 4), paint)
    scene.stand(PROPS["little_pot"], left + 60, table, 34)
    scene.stand(scene.motif, x + 24, 512, 116)
    scene.stand(PROPS["lamp"], x + 232, 512, 120)
    return TypesetPage(Box(MARGIN, MARGIN, 585, 452), p.ink, down="middle", largest=92)


def garden(scene: Scene) -> TypesetPage:
    canvas, p, random = scene.canvas, scene.palette, scene.random
    shelf = 556.0
    canvas.fill(rounded(0, 330, WIDTH, HEIGHT), p.pale)
    canvas.fill(rounded(0, shelf, WIDTH, shelf + 16), p.deep if not p.is_dark else p.mid)
    canvas.fill(rounded(0, shelf + 16, WIDTH, HEIGHT), mixed(p.pale, p.deep, 0.18))
    x = 96.0
    plants = ["bush", "cactus", TALL, "round_tree", "bush", "cactus", TALL]
    random.shuffle(plants)
    pots = (p.accent, p.mid, p.bright, p.accent, p.deep if not p.is_dark else p.mid, p.accent, p.bright)
    for plant, pot in zip(plants, pots, strict=True):
        size = random.uniform(58, 76)
        root = shelf - size * 0.9
        if plant == TALL:
            draw_tall_plant(scene, x, root, size)
        else:
            PROPS[plant](scene.pen(x, root, size), p)
        pen = scene.pen(x, shelf, size)
        pen.fill([(-0.62, -0.95), (0.62, -0.95), (0.46, 0), (-0.46, 0)], pot)
        pen.box((-0.7, -1.06, 0.7, -0.82), pot, 0.06)
        x += 168
    return scene.above(bottom=262)


def kitchen(scene: Scene) -> TypesetPage:
    canvas, p, random = scene.canvas, scene.palette, scene.random
    shelf = 520.0
    canvas.fill(rounded(0, 300, WIDTH, HEIGHT), p.pale)
    for x in range(-60, WIDTH, 120):
        canvas.stroke([(x, 300), (x, HEIGHT)], 2, p.ground)
    for y in (390, 480, 570):
        canvas.stroke([(-4, y), (WIDTH + 4, y)], 2, p.ground)
    canvas.fill(rounded(0, shelf, WIDTH, shelf + 18), p.deep if not p.is_dark else p.mid)
    things = ["jar 60", "bottle 66", "cooking_pot 80", "mugs 62", "jar 76", "bottle 82", "little_pot 42"]
    random.shuffle(things)
    for index, (name, size) in enumerate(thing.split() for thing in things):
        scene.stand(PROPS[name], 96 + 168 * index, shelf, float(size))
    return scene.above(bottom=262)


DESIGNS = by_name(hero, hills, mountains, sea, city, desk, garden, kitchen)
