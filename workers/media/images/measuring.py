"""Measuring: type and size of a picture that an engine made, by its header."""

import io
from dataclasses import dataclass

from PIL import Image

#: Formats that a link may deliver, with content type and suffix.
SHOWN = {"PNG": ("image/png", ".png"), "JPEG": ("image/jpeg", ".jpg"), "WEBP": ("image/webp", ".webp")}


@dataclass(frozen=True, slots=True)
class Measures:
    """Type and size of a picture; width and height are in pixels."""

    content_type: str
    suffix: str
    width: int
    height: int


def measure(data: bytes) -> Measures:
    """Return the measures of an encoded picture; only its header is read. Raises ValueError for another format."""
    try:
        with Image.open(io.BytesIO(data), formats=list(SHOWN)) as image:
            return Measures(*SHOWN[image.format or ""], *image.size)
    except (OSError, ValueError) as error:
        raise ValueError(f"{len(data):,} bytes are no PNG, JPEG or WebP.") from error
