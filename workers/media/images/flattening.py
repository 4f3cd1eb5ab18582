"""Flattening: makes pixels upright, opaque, sRGB, and at most some 5 megapixels."""

import io
import math
from collections.abc import Callable
from functools import cache
from typing import cast

from PIL import ExifTags, Image, ImageCms

from pipeline.log import get_logger
from workers.media.images.notes import bad_metadata_skipped

log = get_logger(__name__)

#: Size in pixels to which large pictures shrink: more than any engine uses, and a batch of 24 fits into memory.
KEPT_PIXELS = 5_000_000
#: How a picture is turned upright, by its EXIF orientation.
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
#: Largest colour profile that is read; those of printers have some megabytes.
MAX_PROFILE_BYTES = 4 * 2**20
#: Modes that can be shrunk as they are; others are converted to RGB first.
SCALABLE = frozenset(("L", "RGB", "RGBA", "CMYK"))
#: Rows of a strip after shrinking.
STRIP_ROWS = 64
#: A smaller transparent share is not a background: the corners of a window, the soft edge of a shadow.
LEAST_TRANSPARENT = 0.02
#: Greys to put behind a transparent picture; the first that hides nothing wins, since white would hide a white logo.
GROUNDS = (255, 56, 128)
#: A pixel is hidden if its grey is this near to the ground's; at most this share of the pixels may be hidden.
NEAR, MOST_NEAR = 48, 0.1

Convert = Callable[[Image.Image], Image.Image]


def flatten(image: Image.Image) -> tuple[Image.Image, Image.Image | None]:
    """Return a loaded image as RGB of about KEPT_PIXELS at most, and its alpha channel, if enough is transparent."""
    turn = _turn(image)
    profile = image.info.get("icc_profile") if image.mode != "LAB" else None
    image = _shrunk(image, _converter(image))
    if turn is not None:
        image = image.transpose(turn)
    opaque = None
    if image.mode == "RGBA":
        alpha = image.getchannel("A")
        if sum(alpha.histogram()[:128]) >= LEAST_TRANSPARENT * image.width * image.height:
            opaque = alpha
        image = _over_ground(image, alpha)
    return _standard(image, profile), opaque


def shrink_factor(image: Image.Image) -> int:
    """Return the divisor of a side that leaves about KEPT_PIXELS; 1 for a small picture."""
    return max(1, round(math.sqrt(image.width * image.height / KEPT_PIXELS)))


def _turn(image: Image.Image) -> Image.Transpose | None:
    orientation = 1
    with bad_metadata_skipped():
        orientation = image.getexif().get(ExifTags.Base.Orientation, 1)
    return TURNS.get(orientation)


def _converter(image: Image.Image) -> Convert:
    """Return a function that converts an image or part of it to 8 bits and a scalable mode."""
    if image.mode.startswith("I;16"):
        return lambda part: part.convert("I").point(lambda grey: grey * (1 / 257)).convert("L")
    if image.mode in ("I", "F"):
        # These have no fixed range: the brightest pixel becomes white, the darkest black.
        low, high = cast(tuple[float, float], image.getextrema())
        scale = 255 / (high - low) if high > low else 0
        return lambda part: part.point(lambda grey: grey * scale - low * scale).convert("L")
    mode = "RGBA" if image.has_transparency_data else image.mode if image.mode in SCALABLE else "RGB"
    return lambda part: part if part.mode == mode else part.convert(mode)


def _shrunk(image: Image.Image, convert: Convert) -> Image.Image:
    """Return a converted image, a large one shrunk strip by strip so that memory holds no whole copy."""
    factor = shrink_factor(image)
    if factor == 1:
        return convert(image)
    small: Image.Image | None = None
    rows = factor * STRIP_ROWS
    for top in range(0, image.height, rows):
        strip = convert(image.crop((0, top, image.width, min(top + rows, image.height)))).reduce(factor)
        if small is None:
            small = Image.new(strip.mode, (strip.width, -(-image.height // factor)))
        small.paste(strip, (0, top // factor))
    return small or convert(image)


def _over_ground(image: Image.Image, alpha: Image.Image) -> Image.Image:
    """Return an image on the first ground that hides almost nothing, else on the one that hides least."""
    greys = image.convert("L").histogram(alpha.point(lambda value: 255 * (value > 127)))
    most = MOST_NEAR * sum(greys)
    hidden = {ground: sum(greys[max(0, ground - NEAR) : ground + NEAR + 1]) for ground in GROUNDS}
    best = next((ground for ground in GROUNDS if hidden[ground] <= most), min(GROUNDS, key=lambda grey: hidden[grey]))
    flat = Image.new("RGB", image.size, (best, best, best))
    flat.paste(image, mask=alpha)
    return flat


def _standard(image: Image.Image, profile: object) -> Image.Image:
    """Return an image in sRGB, converted by its own colour profile if it has a usable one."""
    if isinstance(profile, bytes) and len(profile) <= MAX_PROFILE_BYTES and image.mode in ("RGB", "CMYK"):
        try:
            source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            if "sRGB" not in ImageCms.getProfileDescription(source):
                changed = ImageCms.profileToProfile(image, source, _srgb(), outputMode="RGB")
                return changed if changed is not None else image
        except (ImageCms.PyCMSError, OSError, ValueError, TypeError) as error:
            log.info("colour profile unusable", error=type(error).__name__)
    return image.convert("RGB")


@cache
def _srgb() -> ImageCms.ImageCmsProfile:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))
