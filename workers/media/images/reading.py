"""Reading: an image file's bytes made a Picture."""

import hashlib

from workers.media.images.flattening import flatten
from workers.media.images.notes import read_notes
from workers.media.images.opening import Limits, load, opened
from workers.media.images.picture import Picture

#: What Pillow calls otherwise than people do.
NAMES = {"HEIF": "HEIC", "MPO": "JPEG"}


def read_picture(body: bytes, *, max_pixels: int, max_side: int) -> Picture:
    """Return the first frame of an image file, its format by what it is and not by what it is called.

    A large one is made smaller, to some 5 megapixels. Raises ImageUndecodable, ImageTooLarge.
    """
    limits = Limits(max_pixels, max_side)
    with opened(body, limits) as image:
        is_animated = load(image, limits)
        notes = read_notes(image)
        flat, opaque = flatten(image)
        name = image.format or ""
    return Picture(
        image=flat,
        format=NAMES.get(name, name),
        sha256=hashlib.sha256(body).digest(),
        is_animated=is_animated,
        opaque=opaque,
        notes=notes,
    )
