"""Notes: the texts in an image's metadata, cleaned, the most trustworthy first."""

import html
import re
import tomllib
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from xml.etree.ElementTree import Element

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring
from PIL import ExifTags, Image, ImageFile, IptcImagePlugin

from pipeline.log import get_logger
from workers.media.images.picture import Note, Undecodable, decoding

log = get_logger(__name__)

#: Most characters of a note, and most notes, that are kept.
MAX_CHARACTERS = 1_000
MAX_NOTES = 20

#: Dataset number of the caption (IPTC-IIM 4.2).
IPTC_CAPTION = (2, 120)

#: Elements whose content is not text.
PROGRAMS = re.compile(r"<(script|style|template|iframe|object)\b.*?(?:</\1\s*>|$)", re.IGNORECASE | re.DOTALL)
#: Signs of a program, a style sheet or data; a description has one at most in so many characters, and words.
CODE = re.compile(r"[{}<>=\\|`^~]|\w\(|;(?=\s*(?:\}|$))|\":|[A-Za-z0-9+/=_-]{50}")
CHARACTERS_PER_SIGN = 12
MARKUP = re.compile(r"</?[A-Za-z!][^<>]{0,500}>")
#: The part of BCP 47's language tags that is used here.
TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
_MACHINE_MADE = tomllib.loads(Path(__file__).with_name("machine_made.toml").read_text("utf-8"))
DEFAULTS = frozenset(" ".join(_MACHINE_MADE["defaults"].split()).split(", "))
FILE_NAME = re.compile("|".join(_MACHINE_MADE["names"]), re.IGNORECASE)
#: Texts that no author wrote as a description: a camera, a program, a file, a copyright.
UNQUOTABLE = re.compile("|".join(_MACHINE_MADE["unquotable"]), re.IGNORECASE)


#: Largest XMP packet (Adobe's XML) that is read; those with a long editing history have some hundred kilobytes.
MAX_XMP_BYTES = 2 * 2**20

RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
IPTC = "{http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/}"
DUBLIN = "{http://purl.org/dc/elements/1.1/}"
LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
DEFAULT = "x-default"

#: Properties and the fields that they become, the most trustworthy first.
ALT_TEXT = f"{IPTC}AltTextAccessibility"
EXTENDED = f"{IPTC}ExtDescrAccessibility"
DESCRIPTION = f"{DUBLIN}description"
TITLE = f"{DUBLIN}title"
FIELDS = {ALT_TEXT: "alt_text", EXTENDED: "caption", DESCRIPTION: "caption", TITLE: "title"}


def read_notes(image: ImageFile.ImageFile) -> list[Note]:
    """Return the readable notes of a loaded image."""
    kept: list[Note] = []
    for note in _found(image):
        text = clean(note.text)
        tag = note.language if note.language and TAG.fullmatch(note.language) else None
        cleaned = replace(note, text=text, language=tag)
        if is_description(text) and (note.field, text) not in {(other.field, other.text) for other in kept}:
            kept.append(cleaned)
            if len(kept) == MAX_NOTES:  # a hostile file has 60,000, each to be compared with all before
                break
    return kept


@contextmanager
def bad_metadata_skipped() -> Iterator[None]:
    """End the block when metadata can't be read: the picture itself is fine."""
    try:
        with decoding():
            yield
    except Undecodable as error:
        log.info("metadata unreadable", error=str(error))


def clean(text: str) -> str:
    """Return a text on one line, without markup or invisible characters, cut at the end of a word."""
    text = MARKUP.sub(" ", PROGRAMS.sub(" ", html.unescape(text[: 20 * MAX_CHARACTERS])))
    # Joiners (Cf) are kept: emoji and several scripts need them. Marks of writing direction are not.
    kept = (letter for letter in text if letter in "\t\n\r\u200c\u200d" or unicodedata.category(letter)[0] != "C")
    line = " ".join("".join(kept).split())
    if len(line) <= MAX_CHARACTERS:
        return line
    return f"{line[:MAX_CHARACTERS].rsplit(' ', 1)[0]}…"


def is_description(text: str) -> bool:
    """Return whether a text reads like one that a person wrote: it is not a camera's default, and no program."""
    signs = len(CODE.findall(text))
    reads = not signs or (" " in text and signs * CHARACTERS_PER_SIGN < len(text))
    return bool(text) and reads and not is_default(text)


def is_default(text: str) -> bool:
    """Return whether a text is a camera's default, a file name or an address, or has no word."""
    bare = text.strip(" .…").casefold()
    return (
        bare in DEFAULTS
        or not any(map(str.isalpha, bare))
        or (bare.isascii() and len(bare) < 2)
        or bool(FILE_NAME.fullmatch(bare))
    )


def _found(image: ImageFile.ImageFile) -> Iterator[Note]:
    packet = _xmp(image)
    for name in (ALT_TEXT, EXTENDED, DESCRIPTION):
        yield from packet.get(name, ())
    for read in (_iptc, _exif):
        with bad_metadata_skipped():
            yield from (Note("caption", text) for text in read(image))
    yield from packet.get(TITLE, ())
    for key, field in (("Description", "caption"), ("Title", "title")):
        if image.format == "PNG" and isinstance(text := image.info.get(key), str):
            yield Note(field, text)


def _xmp(image: ImageFile.ImageFile) -> dict[str, list[Note]]:
    packet = image.info.get("xmp")
    if isinstance(packet, str):
        packet = packet.encode()
    return _read_xmp(packet) if isinstance(packet, bytes) else {}


def _iptc(image: ImageFile.ImageFile) -> list[str]:
    found = IptcImagePlugin.getiptcinfo(image) or {}
    caption = found.get(IPTC_CAPTION)
    first = caption[0] if isinstance(caption, list) and caption else caption
    return [_decode(first)] if isinstance(first, bytes) else []


def _exif(image: Image.Image) -> list[str]:
    text = image.getexif().get(ExifTags.Base.ImageDescription)
    # Pillow reads it as Latin-1; programs write UTF-8.
    return [_decode(text.encode("latin-1", "replace"))] if isinstance(text, str) else []


def _decode(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("cp1252", "replace")


def _read_xmp(packet: bytes) -> dict[str, list[Note]]:
    """Return the notes of a packet by property; none of one that is malformed or too large."""
    if len(packet) > MAX_XMP_BYTES:
        return {}
    try:
        root = fromstring(packet.strip(b"\0 \t\r\n"))
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        return {}
    found: dict[str, list[Note]] = {}
    # Nested descriptions belong to pictures that this one was made of.
    for description in (part for rdf in root.iter(f"{RDF}RDF") for part in rdf.findall(f"{RDF}Description")):
        for name, field in FIELDS.items():
            texts = [(description.get(name), None), *_texts(description.find(name))]
            found.setdefault(name, []).extend(_notes(field, [(text, tag) for text, tag in texts if text]))
    return found


def _texts(element: Element | None) -> Iterator[tuple[str | None, str | None]]:
    if element is None:
        return
    yield element.text, element.get(LANGUAGE)
    for choice in element.iter(f"{RDF}li"):
        yield choice.text, choice.get(LANGUAGE)


def _notes(field: str, texts: list[tuple[str, str | None]]) -> Iterator[Note]:
    """Yield a note for each language; x-default is left out if a text with a language is the same."""
    tagged = {text for text, tag in texts if tag not in (None, DEFAULT)}
    for text, tag in texts:
        if tag not in (None, DEFAULT):
            yield Note(field, text, tag)
        elif text not in tagged:
            yield Note(field, text)
