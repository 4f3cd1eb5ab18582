"""Encoding: pictures as files that every browser, feed and social network shows."""

import io

from PIL import Image

CONTENT_TYPE = "image/jpeg"

#: The first that gives a file of MAX_BYTES or less; at the size at which covers are shown 90 and 84 look the same.
QUALITIES = (90, 84, 78)
MAX_BYTES = 150_000


def encoded(image: Image.Image, max_bytes: int = MAX_BYTES) -> bytes:
    """Return an RGB picture as a JPEG file without metadata; in the last quality it may have more than `max_bytes`."""
    content = b""
    for quality in QUALITIES:
        file = io.BytesIO()
        # Chroma stays at full size, or the edges of coloured letters fray.
        image.save(file, "JPEG", quality=quality, subsampling="4:4:4", optimize=True)
        content = file.getvalue()
        if len(content) <= max_bytes:
            break
    return content
