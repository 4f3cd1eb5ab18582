"""Sniffing: the format of a file by its first bytes; its name and content type may be wrong."""

from collections.abc import Sequence

from pipeline.images import FORMATS, ImageUndecodable

#: How much of a file that is no picture is read to say what it is.
HEAD_BYTES = 1_024

#: Offset, bytes at it, and Pillow's names of the format: only these decoders are tried on the file.
SIGNATURES: Sequence[tuple[int, bytes, Sequence[str]]] = (
    (0, b"\xff\xd8\xff", ("JPEG",)),
    (0, b"\x89PNG\r\n\x1a\n", ("PNG",)),
    (0, b"GIF87a", ("GIF",)),
    (0, b"GIF89a", ("GIF",)),
    (8, b"WEBPVP8", ("WEBP",)),
    (0, b"II*\0", ("TIFF",)),
    (0, b"MM\0*", ("TIFF",)),
    (0, b"II+\0", ("TIFF",)),
    (0, b"MM\0+", ("TIFF",)),
    (0, b"BM", ("BMP",)),
    (4, b"ftypavif", ("AVIF",)),
    (4, b"ftypavis", ("AVIF",)),
    (4, b"ftyphei", ("HEIF",)),
    (4, b"ftyphev", ("HEIF",)),
    (4, b"ftypmif1", ("AVIF", "HEIF")),
    (4, b"ftypmsf1", ("AVIF", "HEIF")),
)

SVG = "an SVG drawing, which has no pixels; export it as PNG"
PAGE = "a web page, not an image; use the address of the image itself"
#: Files that are no pictures we take: offset, bytes at it, and what to say; the first match counts.
OTHERS: Sequence[tuple[int, bytes, str]] = (
    (0, b"%PDF", "a PDF document; export its page as PNG"),
    (0, b"%!PS", "a PostScript drawing; export it as PNG"),
    (0, b"\xc5\xd0\xd3\xc6", "a PostScript drawing; export it as PNG"),
    (0, b"8BPS", "a Photoshop document; export it as PNG"),
    (0, b"\xff\x0a", "a JPEG XL image, which is not taken yet"),
    (4, b"JXL ", "a JPEG XL image, which is not taken yet"),
    (4, b"jP  ", "a JPEG 2000 image, which is not taken"),
    (0, b"\0\0\1\0", "an icon (ICO); use a larger image"),
    (4, b"ftyp", "a video; use a still image"),
    (0, b"\x1a\x45\xdf\xa3", "a video; use a still image"),
    (0, b"PK\3\4", "a ZIP archive or an office document"),
    (0, b"\x1f\x8b", "compressed with gzip"),
)


def formats_of(body: bytes) -> Sequence[str]:
    """Return Pillow's names for what a file may be. Raises ImageUndecodable, which says what else it is."""
    for at, signature, formats in SIGNATURES:
        if body.startswith(signature, at):
            return formats
    raise ImageUndecodable(f"The file is {_what(body)}. {FORMATS} are taken.")


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
