"""Parts: the colours in the middle, at the top and at the bottom, where they say more than those of the whole."""

from PIL import Image

from workers.engines.captioning.basic.colours import Palette, family, palette_of, shrunk

#: The share of the middle third, and of the upper and lower ones, that must have one colour.
LEAST_MIDDLE, LEAST_HALF = 0.5, 0.55
GREYS = frozenset(("black", "white", "grey"))
#: In pixels: the shortest side that has parts, and the longest at which upper and lower parts are compared.
LEAST_SIDE, HALVES_SIDE = 32, 384


def middle_of(image: Image.Image, palette: Palette) -> str | None:
    """Return the colour in the middle; None where it is mixed, grey, or one of those of the whole."""
    width, height = image.size
    if min(width, height) < LEAST_SIDE:
        return None
    middle = image.crop((width // 3, height // 3, 2 * width // 3, 2 * height // 3))
    name, share = palette_of(middle).named[0]
    is_told = family(name) in {*GREYS, *map(family, palette.shown)}
    return name if share >= LEAST_MIDDLE and not is_told else None


def halves_of(image: Image.Image) -> tuple[str, str] | None:
    """Return the colours at the top and at the bottom; None where one is mixed, or both are alike."""
    image = shrunk(image, HALVES_SIDE)
    if min(image.size) < LEAST_SIDE:
        return None
    third = image.height // 3
    parts = (image.crop((0, 0, image.width, third)), image.crop((0, image.height - third, image.width, image.height)))
    (top, top_share), (bottom, bottom_share) = (palette_of(part).named[0] for part in parts)
    differ = family(top) != family(bottom) or top.startswith("dark_") != bottom.startswith("dark_")
    return (top, bottom) if min(top_share, bottom_share) >= LEAST_HALF and differ else None
