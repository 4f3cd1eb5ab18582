"""Covers: a picture of any form as the JPEG that books carry."""

import io

#: ACX asks for 2,400 pixels a side; larger pictures are made smaller, up to so many pixels.
LONGEST_SIDE, MAX_PIXELS, MAX_SIDE = 2_400, 40_000_000, 16_000


def jpeg_cover(data: bytes) -> bytes:
    """Return a picture as JPEG. Raises ImageUndecodable, ImageTooLarge."""
    from workers.media.images.reading import read_picture

    picture = read_picture(data, max_pixels=MAX_PIXELS, max_side=MAX_SIDE, shrink_to=LONGEST_SIDE)
    kept = io.BytesIO()
    picture.image.convert("RGB").save(kept, "JPEG", quality=88)
    return kept.getvalue()
