"""Encoding: pictures as JPEG files."""

import io

from PIL import Image

CONTENT_TYPE = "image/jpeg"

#: Tried in turn until a file has at most MAX_BYTES; 90 and 84 look the same at the size of covers.
QUALITIES = (90, 84, 78)
MAX_BYTES = 150_000


def encoded(image: Image.Image, max_bytes: int = MAX_BYTES) -> bytes:
    """Return an RGB picture as a JPEG file without metadata; in the lowest quality it may exceed `max_bytes`."""
    content = b""
    for quality in QUALITIES:
        file = io.BytesIO()
        # Full chroma keeps the edges of coloured letters sharp.
        image.save(file, "JPEG", quality=quality, subsampling="4:4:4", optimize=True)
        content = file.getvalue()
        if len(content) <= max_bytes:
            break
    return content
