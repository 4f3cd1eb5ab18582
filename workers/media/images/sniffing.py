"""Sniffing: tells a file's format by its first bytes; name and content type may be wrong."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from pipeline.downloads.images import FORMATS, ImageUndecodable

#: Bytes read of a file that is no picture, to say what it is.
HEAD_BYTES = 1_024

SVG = "an SVG drawing, which has no pixels; export it as PNG"
PAGE = "a web page, not an image; use the address of the image itself"
_FILE = tomllib.loads(Path(__file__).with_name("signatures.toml").read_text("utf-8"))


def _table(name: str) -> list[tuple[int, bytes, str]]:
    return [(at, signature.encode("latin-1"), what) for at, signature, what in _FILE[name]]


#: Offset, bytes at it, and Pillow's names of the format.
SIGNATURES = _table("formats")
#: The same for files that are no accepted picture, with their description.
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
