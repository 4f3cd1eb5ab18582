"""Opening: an image file's decoder, with its limits kept before any pixel is made."""

import importlib.util
import io
import math
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache

from PIL import Image, ImageFile, TiffImagePlugin

from pipeline.images import ImageFailure, ImageTooLarge, ImageUndecodable
from workers import malloc
from workers.media.images.sniffing import formats_of

#: Pictures are made smaller to about this: more than any engine looks at, and a batch of 24 fits into memory.
KEPT_PIXELS = 5_000_000
#: Pictures above this are decoded one at a time, because each takes some hundred megabytes for a moment.
BIG_PIXELS = 12_000_000
#: Formats of which a second frame means that the picture moves; in others it is another page or picture.
MOVING = frozenset(("GIF", "WEBP", "PNG", "AVIF"))
#: A progressive JPEG is gone through once a scan; cameras and editors make about ten of them.
MAX_SCANNED_PIXELS = 2_000_000_000
START_OF_SCAN = b"\xff\xda"
#: A TIFF's tiles are decoded whole, however small the picture that they say they are of; usual ones have 65,536 pixels.
MAX_TILE_PIXELS = 2**22

_big = threading.Lock()


@dataclass(frozen=True, slots=True)
class Limits:
    """How large an image may be."""

    max_pixels: int
    max_side: int

    def check(self, image: Image.Image) -> None:
        """Raise ImageTooLarge."""
        width, height = image.size
        if width * height > self.max_pixels or max(width, height) > self.max_side:
            raise self.failure(f"{width:,} x {height:,}")

    def failure(self, size: str) -> ImageTooLarge:
        """Return the error for a size in words."""
        return ImageTooLarge(
            f"The image has {size} pixels; at most {self.max_pixels / 1e6:g} megapixels and {self.max_side:,} pixels "
            "a side are taken. Send a smaller one."
        )


@contextmanager
def opened(body: bytes, limits: Limits) -> Iterator[ImageFile.ImageFile]:
    """Give an image whose header was read and found within the limits. Raises ImageUndecodable, ImageTooLarge."""
    formats = formats_of(body)
    _register()
    _mind_warnings()
    with _translated(limits):
        image = Image.open(io.BytesIO(body), formats=tuple(formats))
    is_big = image.width * image.height > BIG_PIXELS
    try:
        limits.check(image)
        _check_work(image, body)
        # An AVIF's pixels are decoded before anybody sees that they are more than its header says.
        with _big if is_big or image.format == "AVIF" else nullcontext():
            try:
                yield image
            finally:
                image.close()
                if is_big:
                    # glibc would keep that of a big picture.
                    malloc.trim()
    finally:
        image.close()


def load(image: ImageFile.ImageFile, limits: Limits) -> bool:
    """Decode the first frame, a huge JPEG at a fraction of its size; return whether there are more. Raises as above."""
    with _translated(limits):
        # Before it is loaded: a look at a GIF's second frame drops its first.
        moves = image.format in MOVING and bool(getattr(image, "is_animated", False))
        if (factor := shrink_factor(image)) > 1 and image.format in ("JPEG", "MPO"):
            image.draft(None, (image.width // factor, image.height // factor))
        image.load()
    # The header of a HEIC file may tell another size than what it holds.
    limits.check(image)
    return moves


def shrink_factor(image: Image.Image) -> int:
    """Return by how much a side is divided, to be left with about KEPT_PIXELS: never less than half of that."""
    return max(1, round(math.sqrt(image.width * image.height / KEPT_PIXELS)))


def _check_work(image: ImageFile.ImageFile, body: bytes) -> None:
    """Refuse what costs far more to decode than its size tells. Raises ImageUndecodable."""
    pixels = image.width * image.height
    if image.format in ("JPEG", "MPO") and body.count(START_OF_SCAN) * pixels > MAX_SCANNED_PIXELS:
        raise ImageUndecodable("The JPEG has more scans than a picture of its size can need; save it again.")
    if isinstance(image, TiffImagePlugin.TiffImageFile):
        width, height = (image.tag_v2.get(tag, 1) for tag in (TiffImagePlugin.TILEWIDTH, TiffImagePlugin.TILELENGTH))
        if width * height > max(pixels, MAX_TILE_PIXELS):
            raise ImageUndecodable("The TIFF has tiles larger than its picture; save it again.")


@contextmanager
def _translated(limits: Limits) -> Iterator[None]:
    try:
        yield
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise limits.failure(f"over {Image.MAX_IMAGE_PIXELS:,}") from error
    except ImageFailure:
        raise
    # What decoders raise depends on the file, and none of them gives a list.
    except Exception as error:
        raise ImageUndecodable(
            "The image is damaged or cut off, or a rare variant of its format, and can't be decoded; save it again, as "
            "PNG or JPEG."
        ) from error


@cache
def _register() -> None:
    # An image of this service that may hold no GPL program is built without it (docs/licences.md).
    if importlib.util.find_spec("pillow_heif") is None:
        return
    import pillow_heif

    # Without what hangs on an image: thumbnails, depth maps, gain maps.
    pillow_heif.register_heif_opener(thumbnails=False, depth_images=False, aux_images=False, decode_threads=2)


def _mind_warnings() -> None:
    """Make errors of Pillow's warnings, which are about lying tags and bombs.

    For the whole process, since a filter for a block is one for all threads meanwhile; asked for anew each time, since
    others put the filters back. One is left out: a broken list of further pictures says nothing about the first.
    """
    warnings.filterwarnings("error", category=UserWarning, module=r"PIL\.")
    warnings.filterwarnings("error", category=Image.DecompressionBombWarning)
    warnings.filterwarnings("ignore", "Image appears to be a malformed MPO file", category=UserWarning)
