"""Canvas: a picture on which shapes with smooth edges are drawn."""

import math
from collections.abc import Callable, Iterable, Sequence

from PIL import Image, ImageDraw

from workers.engines.pictures.drawn.colours import Colour

#: What link previews of social networks and most blog themes show whole.
WIDTH, HEIGHT = 1200, 630

Point = tuple[float, float]

#: Shapes up to so many pixels are smoothed from 16 samples a pixel, larger ones from 4.
SMALL = 60_000


class Canvas:
    """An RGB picture of WIDTH x HEIGHT pixels; places are in pixels from the top left, and may lie outside."""

    def __init__(self, ground: Colour) -> None:
        self.image = Image.new("RGB", (WIDTH, HEIGHT), ground)

    def fill(
        self, outline: Sequence[Point], paint: Colour, opacity: float = 1.0, holes: Iterable[Sequence[Point]] = ()
    ) -> None:
        """Fill a closed outline, all but its `holes`."""
        self._draw(outline, 0.0, paint, opacity, lambda draw, place: _fill(draw, place, outline, holes))

    def stroke(self, points: Sequence[Point], width: float, paint: Colour, opacity: float = 1.0) -> None:
        """Draw a line through points, `width` wide, with round ends."""
        self._draw(points, width, paint, opacity, lambda draw, place: _stroke(draw, place, points, width))

    def disc(self, centre: Point, radius: float, paint: Colour, opacity: float = 1.0) -> None:
        """Fill a circle."""
        self.fill(circle(centre, radius), paint, opacity)

    def ring(self, centre: Point, radius: float, width: float, paint: Colour, opacity: float = 1.0) -> None:
        """Draw a circle line, its middle at `radius`."""
        outside, inside = circle(centre, radius + width / 2), circle(centre, max(0.0, radius - width / 2))
        self.fill(outside, paint, opacity, [inside])

    def _draw(
        self,
        points: Sequence[Point],
        margin: float,
        paint: Colour,
        opacity: float,
        draw: "Callable[[ImageDraw.ImageDraw, _Place], None]",
    ) -> None:
        box = _bounds(points, margin)
        if box is None:
            return
        left, top, right, bottom = box
        scale = 4 if (right - left) * (bottom - top) <= SMALL else 2
        mask = Image.new("L", ((right - left) * scale, (bottom - top) * scale), 0)
        draw(ImageDraw.Draw(mask), _Place(left, top, scale, round(255 * opacity)))
        self.image.paste(paint, box, mask.reduce(scale))


class _Place:
    """Where on a mask a point of the canvas lies; `level` is what a shape is filled with."""

    def __init__(self, left: int, top: int, scale: int, level: int) -> None:
        self.left, self.top, self.scale, self.level = left, top, scale, level

    def points(self, points: Iterable[Point]) -> list[Point]:
        # Half a sample, since Pillow's pixels are named by their centres.
        return [((x - self.left) * self.scale - 0.5, (y - self.top) * self.scale - 0.5) for x, y in points]


def circle(centre: Point, radius: float, start: float = 0.0, end: float = 360.0) -> list[Point]:
    """Return the outline of a circle, or of the part from `start` to `end` degrees, clockwise from three o'clock."""
    x, y = centre
    steps = max(12, min(180, int(radius) + 12))
    angles = (math.radians(start + (end - start) * step / steps) for step in range(steps + 1))
    return [(x + radius * math.cos(angle), y + radius * math.sin(angle)) for angle in angles]


def sector(centre: Point, radius: float, start: float, end: float) -> list[Point]:
    """Return the outline of a slice of a circle, from `start` to `end` degrees."""
    return [centre, *circle(centre, radius, start, end)]


def rounded(left: float, top: float, right: float, bottom: float, radius: float = 0.0) -> list[Point]:
    """Return the outline of a box with round corners."""
    radius = min(radius, (right - left) / 2, (bottom - top) / 2)
    if radius <= 0:
        return [(left, top), (right, top), (right, bottom), (left, bottom)]
    return [
        *circle((right - radius, top + radius), radius, -90, 0),
        *circle((right - radius, bottom - radius), radius, 0, 90),
        *circle((left + radius, bottom - radius), radius, 90, 180),
        *circle((left + radius, top + radius), radius, 180, 270),
    ]


def leaf(root: Point, length: float, width: float, angle: float) -> list[Point]:
    """Return the outline of a leaf that grows from `root` in the direction of `angle` (degrees, 0: to the right)."""
    turn = math.radians(angle)
    along, across = (math.cos(turn), math.sin(turn)), (-math.sin(turn), math.cos(turn))
    sides: list[Point] = []
    for side in (1, -1):
        shares = range(17) if side == 1 else range(16, -1, -1)
        for share in (step / 16 for step in shares):
            out = side * width / 2 * math.sin(math.pi * share**0.8)
            sides.append(
                (
                    root[0] + along[0] * length * share + across[0] * out,
                    root[1] + along[1] * length * share + across[1] * out,
                )
            )
    return sides


def smooth(points: Sequence[Point], steps: int = 10) -> list[Point]:
    """Return a closed curve through all points (Catmull-Rom)."""
    count = len(points)
    curve = []
    for index in range(count):
        before, start, end, after = (points[(index + offset) % count] for offset in (-1, 0, 1, 2))
        for step in range(steps):
            t = step / steps
            curve.append(
                (_between(before[0], start[0], end[0], after[0], t), _between(before[1], start[1], end[1], after[1], t))
            )
    return curve


def _between(a: float, b: float, c: float, d: float, t: float) -> float:
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)


def _fill(draw: ImageDraw.ImageDraw, place: _Place, outline: Sequence[Point], holes: Iterable[Sequence[Point]]) -> None:
    draw.polygon(place.points(outline), fill=place.level)
    for hole in holes:
        draw.polygon(place.points(hole), fill=0)


def _stroke(draw: ImageDraw.ImageDraw, place: _Place, points: Sequence[Point], width: float) -> None:
    thick = width * place.scale
    drawn = place.points(points)
    draw.line(drawn, fill=place.level, width=max(1, round(thick)), joint="curve")
    for x, y in (drawn[0], drawn[-1]):
        draw.ellipse((x - thick / 2, y - thick / 2, x + thick / 2, y + thick / 2), fill=place.level)


def _bounds(points: Sequence[Point], margin: float) -> tuple[int, int, int, int] | None:
    """Return the box of the canvas that holds the points; None: they lie outside."""
    across, down = [x for x, _ in points], [y for _, y in points]
    left, top = max(0, math.floor(min(across) - margin)), max(0, math.floor(min(down) - margin))
    right, bottom = min(WIDTH, math.ceil(max(across) + margin)), min(HEIGHT, math.ceil(max(down) + margin))
    return (left, top, right, bottom) if left < right and top < bottom else None
