"""XMP: the notes of an image's author in Adobe's XML."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from workers.media.images.picture import Note

#: Largest packet that is read; those with a long editing history have some hundred kilobytes.
MAX_BYTES = 2 * 2**20

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


def read_xmp(packet: bytes) -> dict[str, list[Note]]:
    """Return the notes of a packet by property; none if it can't be read, or is too large."""
    if len(packet) > MAX_BYTES:
        return {}
    try:
        root = fromstring(packet.strip(b"\0 \t\r\n"))
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        return {}
    found: dict[str, list[Note]] = {}
    # Only what describes the picture itself: nested descriptions are those of pictures that it was made of.
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
