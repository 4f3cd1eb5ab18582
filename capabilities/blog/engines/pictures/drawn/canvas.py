"""Canvas: a picture for shapes with smooth edges, in pixels or in the coordinates of one thing."""

import math
from collections.abc import Iterable, Sequence

from PIL import Image, ImageDraw

from capabilities.blog.engines.pictures.drawn.colours import Colour

#: The size that link previews and most themes show whole.
WIDTH, HEIGHT = 1200, 630

Point = tuple[float, float]

Box = tuple[float, float, float, float]

#: Most pixels of a shape that is smoothed from 16 samples a pixel; larger ones have 4.
SMALL = 60_000


class Pen:
    """Draws in a square from -1 to 1 around `centre`, `size` pixels from middle to edge, turned by `angle`."""

    def __init__(self, canvas: "Canvas", centre: Point, size: float, angle: float = 0.0) -> None:
        self.canvas, self.centre, self.size = canvas, centre, size
        self._cos, self._sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))

    def fill(self, outline: Sequence[Point], paint: Colour, opacity: float = 1.0) -> None:
        self.canvas.draw(self._placed(outline), paint, opacity)

    def box(self, box: Box, paint: Colour, radius: float = 0.0, turn: float = 0.0) -> None:
        """Fill a box with round corners, turned around its middle by `turn` degrees."""
        left, top, right, bottom = (edge * self.size for edge in box)
        drawn = rounded(left, top, right, bottom, radius * self.size)
        points = [(x / self.size, y / self.size) for x, y in drawn]
        middle = ((left + right) / 2 / self.size, (top + bottom) / 2 / self.size)
        self.fill(turned(points, middle, turn) if turn else points, paint)

    def disc(self, centre: Point, radius: float, paint: Colour, opacity: float = 1.0) -> None:
        self.canvas.draw(circle(self._placed([centre])[0], radius * self.size), paint, opacity)

    def ring(self, centre: Point, radius: float, width: float, paint: Colour, opacity: float = 1.0) -> None:
        (middle,), radius, half = self._placed([centre]), radius * self.size, width * self.size / 2
        hole = circle(middle, max(0.0, radius - half))
        self.canvas.draw(circle(middle, radius + half), paint, opacity, hole=hole)

    def stroke(self, points: Sequence[Point], width: float, paint: Colour) -> None:
        self.canvas.draw(self._placed(points), paint, width=width * self.size)

    def _placed(self, points: Sequence[Point]) -> list[Point]:
        (x0, y0), size, cos, sin = self.centre, self.size, self._cos, self._sin
        return [(x0 + size * (x * cos - y * sin), y0 + size * (x * sin + y * cos)) for x, y in points]


class Canvas(Pen):
    """An RGB picture, and a pen in its pixels from the top left; shapes may lie outside."""

    def __init__(self, ground: Colour) -> None:
        super().__init__(self, (0.0, 0.0), 1.0)
        self.image = Image.new("RGB", (WIDTH, HEIGHT), ground)

    def draw(
        self,
        points: Sequence[Point],
        paint: Colour,
        opacity: float = 1.0,
        *,
        hole: Sequence[Point] = (),
        width: float = 0.0,
    ) -> None:
        """Fill an outline except its hole, or draw a line of `width` with round ends."""
        box = _bounds(points, width)
        if box is None:
            return
        left, top, right, bottom = box
        scale = 4 if (right - left) * (bottom - top) <= SMALL else 2

        def sampled(points: Iterable[Point]) -> list[Point]:
            # Half a sample, since Pillow's pixels are named by their centres.
            return [((x - left) * scale - 0.5, (y - top) * scale - 0.5) for x, y in points]

        mask = Image.new("L", ((right - left) * scale, (bottom - top) * scale), 0)
        brush, drawn, level = ImageDraw.Draw(mask), sampled(points), round(255 * opacity)
        if width:
            _draw_line(brush, drawn, width * scale, level)
        else:
            brush.polygon(drawn, fill=level)
            if hole:
                brush.polygon(sampled(hole), fill=0)
        self.image.paste(paint, box, mask.reduce(scale))


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
    """Return the outline of a leaf from `root` at `angle` (degrees, 0: to the right)."""
    (x, y), cos, sin = root, math.cos(math.radians(angle)), math.sin(math.radians(angle))
    half = [(step / 16, width / 2 * math.sin(math.pi * (step / 16) ** 0.8)) for step in range(17)]
    outline = [*half, *((share, -out) for share, out in reversed(half))]
    return [(x + cos * length * share - sin * out, y + sin * length * share + cos * out) for share, out in outline]


def smooth(points: Sequence[Point], steps: int = 10) -> list[Point]:
    """Return a closed curve through all points (Catmull-Rom)."""
    count, curve = len(points), []
    for index in range(count):
        before, start, end, after = (points[(index + offset) % count] for offset in (-1, 0, 1, 2))
        for t in (step / steps for step in range(steps)):
            x, y = (_between(*four, t) for four in zip(before, start, end, after, strict=True))
            curve.append((x, y))
    return curve


def turned(points: Sequence[Point], middle: Point, angle: float) -> list[Point]:
    """Return points turned around a middle, by degrees clockwise."""
    (x0, y0), cos, sin = middle, math.cos(math.radians(angle)), math.sin(math.radians(angle))
    return [(x0 + (x - x0) * cos - (y - y0) * sin, y0 + (x - x0) * sin + (y - y0) * cos) for x, y in points]


def _between(a: float, b: float, c: float, d: float, t: float) -> float:
    return 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)


def _draw_line(brush: ImageDraw.ImageDraw, points: Sequence[Point], width: float, level: int) -> None:
    brush.line(points, fill=level, width=max(1, round(width)), joint="curve")
    for x, y in (points[0], points[-1]):
        brush.ellipse((x - width / 2, y - width / 2, x + width / 2, y + width / 2), fill=level)


def _bounds(points: Sequence[Point], margin: float) -> tuple[int, int, int, int] | None:
    across, down = [x for x, _ in points], [y for _, y in points]
    left, top = max(0, math.floor(min(across) - margin)), max(0, math.floor(min(down) - margin))
    right, bottom = min(WIDTH, math.ceil(max(across) + margin)), min(HEIGHT, math.ceil(max(down) + margin))
    return (left, top, right, bottom) if left < right and top < bottom else None
