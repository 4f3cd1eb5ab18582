"""Parts: the colours in the middle of a picture, at its top and at its bottom, where they say more than the whole's."""

from PIL import Image

from workers.engines.captioning.basic.colours import Palette, family, palette_of, shrunk
from workers.engines.captioning.basic.describing import differ

#: The share of the middle third that has one colour.
LEAST_MIDDLE = 0.5
GREYS = frozenset(("black", "white", "grey"))
#: The longest side that upper and lower parts are compared at.
HALVES_SIDE = 384


def middle_of(image: Image.Image, palette: Palette) -> str | None:
    """Return the colour in the middle, where it is clear, none of greys, and none of those that the whole has most."""
    width, height = image.size
    if min(width, height) < 32:
        return None
    middle = image.crop((width // 3, height // 3, 2 * width // 3, 2 * height // 3))
    name, share = palette_of(middle).named[0]
    is_told = family(name) in {*GREYS, *map(family, palette.shown)}
    return name if share >= LEAST_MIDDLE and not is_told else None


def halves_of(image: Image.Image) -> tuple[str, str] | None:
    """Return the colours at the top and at the bottom, where each is clear and they differ."""
    image = shrunk(image, HALVES_SIDE)
    if min(image.size) < 32:
        return None
    third = image.height // 3
    parts = (image.crop((0, 0, image.width, third)), image.crop((0, image.height - third, image.width, image.height)))
    (top, top_share), (bottom, bottom_share) = (palette_of(part).named[0] for part in parts)
    return (top, bottom) if min(top_share, bottom_share) >= 0.55 and differ(top, bottom) else None
