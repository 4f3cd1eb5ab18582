"""Picture: a decoded image file with its author's notes; and the measures of an encoded one."""

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from PIL import Image

#: Longest side of a thumbnail, in pixels: lists show half of it, also on fine screens.
THUMBNAIL_SIDE = 192


@dataclass(frozen=True, slots=True)
class Note:
    """A text in a file's metadata: `field` is alt_text, caption or title; `language` is a tag, if there is one."""

    field: str
    text: str
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """The first frame of an image file.

    `image` is RGB, upright, with transparent parts on a contrasting grey. `opaque` is the alpha channel in mode L, or
    None if almost nothing is transparent. `notes` have the most trustworthy first."""

    image: Image.Image
    format: str
    is_animated: bool = False
    opaque: Image.Image | None = None
    notes: Sequence[Note] = ()


def thumbnail(picture: Picture) -> bytes:
    """Return a small JPEG of a picture, of some kilobytes."""
    small = (
        picture.image.copy()
        if max(picture.image.size) <= THUMBNAIL_SIDE
        else picture.image.reduce(max(1, max(picture.image.size) // (2 * THUMBNAIL_SIDE)))
    )
    small.thumbnail((THUMBNAIL_SIDE, THUMBNAIL_SIDE))
    file = io.BytesIO()
    small.convert("RGB").save(file, "JPEG", quality=75)
    return file.getvalue()


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
        raise ValueError(f"{len(data):,} bytes are not PNG, JPEG or WebP.") from error


class Undecodable(Exception):
    """Bytes that a decoder failed on; its message is the class of the error."""


@contextmanager
def decoding(*passed: type[Exception]) -> Iterator[None]:
    """Raise Undecodable for whatever hostile bytes make a decoder raise, but for the classes `passed`."""
    try:
        yield
    except passed:
        raise
    except Exception as error:  # of any class, as decoders never expect hostile bytes
        raise Undecodable(type(error).__name__) from error
