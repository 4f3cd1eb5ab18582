"""Reading: turns a file's bytes into a Picture; its size is checked before pixels are decoded."""

import importlib.util
import io
import threading
import tomllib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from PIL import Image, ImageFile, TiffImagePlugin

from pipeline.downloads.images import FORMATS, ImageFailure, ImageTooLarge, ImageUndecodable
from workers.engines import malloc
from workers.media.images.flattening import flatten, shrink_factor
from workers.media.images.notes import read_notes
from workers.media.images.picture import Picture, Undecodable, decoding

#: Larger pictures are decoded one at a time: each takes some hundred megabytes for a moment.
BIG_PIXELS = 12_000_000
#: Formats whose frames are an animation; in others they are pages or further pictures.
MOVING = frozenset(("GIF", "WEBP", "PNG", "AVIF"))
#: Most pixels times scans: a progressive JPEG is decoded once a scan. Cameras and editors make about ten scans.
MAX_SCANNED_PIXELS = 2_000_000_000
START_OF_SCAN = b"\xff\xda"
#: Most pixels of a TIFF's tile: it is decoded whole, even if the picture is smaller. Usual tiles have 65,536 pixels.
MAX_TILE_PIXELS = 2**22

#: Formats that people call otherwise than Pillow does.
NAMES = {"HEIF": "HEIC", "MPO": "JPEG"}

_big = threading.Lock()


@dataclass(frozen=True, slots=True)
class PictureLimits:
    """The largest image that is read."""

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
            "a side are accepted. Send a smaller one."
        )


def read_picture(body: bytes, *, max_pixels: int, max_side: int, shrink_to: int | None = None) -> Picture:
    """Return the first frame of an image file, shrunk to some 5 megapixels and to `shrink_to` pixels a side.

    Its first bytes decide its format. Raises ImageUndecodable, ImageTooLarge."""
    limits = PictureLimits(max_pixels, max_side)
    with _opened(body, limits) as image:
        is_animated = _load(image, limits)
        notes = read_notes(image)
        flat, opaque = flatten(image)
        name = image.format or ""
    for layer in (flat, opaque):
        if layer is not None and shrink_to is not None:
            layer.thumbnail((shrink_to, shrink_to))
    return Picture(flat, NAMES.get(name, name), is_animated, opaque, notes)


@contextmanager
def _opened(body: bytes, limits: PictureLimits) -> Iterator[ImageFile.ImageFile]:
    """Yield an image, its header within the limits, its pixels not decoded. Raises ImageUndecodable, ImageTooLarge."""
    formats = formats_of(body)
    _register()
    _raise_warnings()
    with _translated(limits):
        image = Image.open(io.BytesIO(body), formats=tuple(formats))
    is_big = image.width * image.height > BIG_PIXELS
    try:
        limits.check(image)
        _check_work(image, body)
        # An AVIF may hold more pixels than its header says, which shows only once they are decoded.
        with _big if is_big or image.format == "AVIF" else nullcontext():
            try:
                yield image
            finally:
                image.close()
                if is_big:
                    # glibc would keep the memory of a big picture.
                    malloc.trim()
    finally:
        image.close()


def _load(image: ImageFile.ImageFile, limits: PictureLimits) -> bool:
    """Decode the first frame, of a huge JPEG a smaller version; return whether it is animated.

    Raises ImageUndecodable, ImageTooLarge."""
    with _translated(limits):
        # Before it is loaded: to look for a GIF's second frame drops its first.
        is_animated = image.format in MOVING and bool(getattr(image, "is_animated", False))
        if (factor := shrink_factor(image)) > 1 and image.format in ("JPEG", "MPO"):
            image.draft(None, (image.width // factor, image.height // factor))
        image.load()
    # The header of a HEIC file may name another size than that of its pixels.
    limits.check(image)
    return is_animated


def _check_work(image: ImageFile.ImageFile, body: bytes) -> None:
    """Refuse a file that costs far more to decode than its size in pixels suggests. Raises ImageUndecodable."""
    pixels = image.width * image.height
    if image.format in ("JPEG", "MPO") and body.count(START_OF_SCAN) * pixels > MAX_SCANNED_PIXELS:
        raise ImageUndecodable("The JPEG has more scans than a picture of its size needs; save it again.")
    if isinstance(image, TiffImagePlugin.TiffImageFile):
        width, height = (image.tag_v2.get(tag, 1) for tag in (TiffImagePlugin.TILEWIDTH, TiffImagePlugin.TILELENGTH))
        if width * height > max(pixels, MAX_TILE_PIXELS):
            raise ImageUndecodable("The TIFF has tiles larger than its picture; save it again.")


@contextmanager
def _translated(limits: PictureLimits) -> Iterator[None]:
    try:
        with decoding(Image.DecompressionBombError, Image.DecompressionBombWarning, ImageFailure):
            yield
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise limits.failure(f"over {Image.MAX_IMAGE_PIXELS:,}") from error
    except Undecodable as error:
        raise ImageUndecodable(
            "The image can't be decoded: it is damaged, incomplete or a rare variant of its format. Save it again as "
            "PNG or JPEG."
        ) from error


@cache
def _register() -> None:
    # A container image without GPL programs is built without it (docs/licences.md).
    if importlib.util.find_spec("pillow_heif") is None:
        return
    import pillow_heif

    # Only the picture itself: no thumbnails, depth maps or gain maps.
    pillow_heif.register_heif_opener(thumbnails=False, depth_images=False, aux_images=False, decode_threads=2)


def _raise_warnings() -> None:
    """Turn Pillow's warnings about false tags and decompression bombs into exceptions.

    Filters belong to the whole process, and other code resets them, so they are set for each file. A broken list of
    further pictures is no reason to refuse the first."""
    warnings.filterwarnings("error", category=UserWarning, module=r"PIL\.")
    warnings.filterwarnings("error", category=Image.DecompressionBombWarning)
    warnings.filterwarnings("ignore", "Image appears to be a malformed MPO file", category=UserWarning)


#: Bytes read of a file that is not a picture, to say what it is.
HEAD_BYTES = 1_024

SVG = "an SVG drawing, which has no pixels; export it as PNG"
PAGE = "a web page, not an image; use the address of the image itself"
_FILE = tomllib.loads(Path(__file__).with_name("signatures.toml").read_text("utf-8"))


def _table(name: str) -> list[tuple[int, bytes, str]]:
    return [(at, signature.encode("latin-1"), what) for at, signature, what in _FILE[name]]


#: Offset, bytes at it, and Pillow's names of the format.
SIGNATURES = _table("formats")
#: The same for other files, with their description.
OTHERS = _table("others")


def formats_of(body: bytes) -> Sequence[str]:
    """Return Pillow's names for a file's format. Raises ImageUndecodable, which says what the file is."""
    for at, signature, formats in SIGNATURES:
        if body.startswith(signature, at):
            return formats.split()
    raise ImageUndecodable(f"The file is {_what(body)}. {FORMATS} are accepted.")


def _what(body: bytes) -> str:
    if not body:
        return "empty"
    for at, signature, what in OTHERS:
        if body.startswith(signature, at):
            return what
    text = body[:HEAD_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if b"<svg" in text:
        return SVG
    if text.startswith((b"<!doctype html", b"<html", b"<head", b"<body")) or b"<html" in text:
        return PAGE
    if text.startswith((b"<", b"{", b"[")):
        return "text (XML or JSON), not an image"
    return "not an image that can be read"
