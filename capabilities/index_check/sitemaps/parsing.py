"""Parsing: sitemaps, indexes of sitemaps, feeds and lists of URLs, as their bytes come in. Bombs are refused."""

import codecs
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from pipeline.downloads.urls import MAX_CHARACTERS

GZIP = b"\x1f\x8b"
PIECE = 2**16
#: Depth of elements; sitemaps have three levels, their extensions five.
MAX_DEPTH = 32
#: Elements of a document: a sitemap of 50 MiB has no more, and each takes a microsecond.
MAX_ELEMENTS = 2_000_000
#: Bytes of a tag, a comment or a declaration. With each piece expat rereads an unended one from its beginning: one of
#: 45 MB, 200 kB packed, took 17 s.
MAX_UNENDED = 2**20
#: Characters of an address that are kept; a longer one is invalid anyway.
MAX_ADDRESS = 2 * MAX_CHARACTERS


class NoSitemap(Exception):
    """The document lists no pages; `why` continues a sentence after "it"."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class TooManyBytes(Exception):
    """The document has more bytes than are read."""


@dataclass(frozen=True, slots=True)
class SitemapForm:
    """The element of an entry, and the child whose text, or attribute, is the address of a page or sitemap."""

    entry: str
    link: str
    attribute: str = ""
    is_index: bool = False


#: By the root element, without its namespace.
FORMS: Mapping[str, SitemapForm] = {
    "urlset": SitemapForm("url", "loc"),  # sitemaps.org, protocol
    "sitemapindex": SitemapForm("sitemap", "loc", is_index=True),
    "rss": SitemapForm("item", "link"),  # RSS 2.0
    "RDF": SitemapForm("item", "link"),  # RSS 1.0
    "feed": SitemapForm("entry", "link", attribute="href"),  # Atom, RFC 4287, 4.2.7
}


class _Xml:
    """Parses XML, calls back with each address, and refuses a tag or a comment that does not end."""

    def __init__(self, on_page: Callable[[str], None], on_sitemap: Callable[[str], None]) -> None:
        self._on_page, self._on_sitemap = on_page, on_sitemap
        self._parser = DefusedXMLParser(target=self)
        self._form: SitemapForm | None = None
        self._elements = 0
        self._open: list[str] = []
        self._text: list[str] | None = None
        self._length = 0
        self._unended = 0  # bytes since the last part of the document that has ended

    def feed(self, data: bytes) -> None:
        self._unended += len(data)
        self._parser.feed(data)
        if self._unended > MAX_UNENDED:
            raise NoSitemap(f"has a tag or a comment of more than {MAX_UNENDED:,} bytes")

    def finish(self) -> None:
        self._parser.close()

    # The parser calls these.

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._unended = 0
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise NoSitemap(f"has more than {MAX_ELEMENTS:,} elements")
        name = tag.rpartition("}")[2]
        if self._form is None:
            self._form = _form_of(name)
        self._open.append(name)
        if len(self._open) > MAX_DEPTH:
            raise NoSitemap(f"has elements more than {MAX_DEPTH} deep")
        if name == self._form.link and self._open[-2:-1] == [self._form.entry]:
            if not self._form.attribute:
                self._text, self._length = [], 0
            elif attributes.get("rel", "alternate") == "alternate":
                self._take(attributes.get(self._form.attribute, ""))

    def data(self, text: str) -> None:
        self._unended = 0
        if self._text is not None and self._length < MAX_ADDRESS:
            self._text.append(text)
            self._length += len(text)

    def comment(self, _: str) -> None:
        self._unended = 0

    def pi(self, _: str, __: str | None = None) -> None:
        self._unended = 0

    def end(self, tag: str) -> None:
        self._unended = 0
        del self._open[-1]
        if self._text is not None:
            self._take("".join(self._text))
            self._text = None

    def close(self) -> None:
        """Do nothing."""

    def _take(self, text: str) -> None:
        if address := text.strip()[:MAX_ADDRESS]:
            (self._on_sitemap if self._form and self._form.is_index else self._on_page)(address)


def _form_of(root: str) -> SitemapForm:
    if (form := FORMS.get(root)) is not None:
        return form
    kind = "is a web page" if root.lower() == "html" else f"begins with <{root[:40]}>"
    raise NoSitemap(
        f"{kind}, which is neither a sitemap nor an index, RSS or Atom; "
        "a site's robots.txt mostly says where its sitemap is"
    )


class _Lines:
    """A list of URLs, one a line (sitemaps.org, protocol, "Text file")."""

    def __init__(self, on_page: Callable[[str], None]) -> None:
        self._on_page = on_page
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self._rest = ""

    def feed(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + self._decode(data)).splitlines(keepends=True) or [""]
        if self._rest.endswith("\n"):
            lines, self._rest = [*lines, self._rest], ""
        for line in lines:
            self._take(line)
        if len(self._rest) > MAX_ADDRESS:
            raise NoSitemap("is neither XML nor a list of URLs")

    def finish(self) -> None:
        self._take(self._rest)

    def _take(self, line: str) -> None:
        address = line.strip()
        if not address:
            return
        if not address.startswith(("http://", "https://")):
            raise NoSitemap(f"is neither XML nor a list of URLs, one a line: {address[:60]!a} is none")
        self._on_page(address)


class SitemapParser:
    """Parses a document's bytes, gzip or not, and calls back with each address.

    Entities, which XML bombs are made of, are refused, and nothing outside the document is read.
    Raises NoSitemap, TooManyBytes, and the callbacks' errors."""

    def __init__(self, on_page: Callable[[str], None], on_sitemap: Callable[[str], None], *, max_bytes: int) -> None:
        self._on_page, self._on_sitemap = on_page, on_sitemap
        self._left = max_bytes
        self._head = b""
        self._unpack: Any = None
        self._is_packed: bool | None = None
        self._inner: Any = None

    def feed(self, data: bytes) -> None:
        if self._is_packed is None:
            data = self._head + data
            if len(data) < len(GZIP):
                self._head = data
                return
            self._is_packed = data.startswith(GZIP)
        if not self._is_packed:
            self._take(data)
            return
        while data:
            data = self._take_packed(data)

    def close(self) -> None:
        if self._is_packed is None:
            self._take(self._head)
        if self._is_packed and not self._unpack.eof:
            raise NoSitemap("is packed with gzip, and ends too early")
        if self._inner is None:
            raise NoSitemap("is empty")
        self._parse(self._inner.finish)

    def _take_packed(self, data: bytes) -> bytes:
        """Unpack and take a piece; return what is left to unpack."""
        if self._unpack is None or self._unpack.eof:
            if not data.startswith(GZIP[:1]):
                return b""  # bytes behind the last member are not part of the file
            self._unpack = zlib.decompressobj(wbits=31)
        try:
            piece = self._unpack.decompress(data, PIECE)
        except zlib.error:
            raise NoSitemap("is packed with gzip, and damaged") from None
        self._take(piece)
        left: bytes = self._unpack.unused_data if self._unpack.eof else self._unpack.unconsumed_tail
        return left

    def _take(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left < 0:
            raise TooManyBytes
        if self._inner is None:
            # Careless servers put white space before XML.
            data = data.lstrip()
            if not data:
                return
            # In UTF-16, `<` has a zero beside it, and a byte order mark before.
            is_xml = b"<" in data[:4]
            self._inner = _Xml(self._on_page, self._on_sitemap) if is_xml else _Lines(self._on_page)
        for start in range(0, len(data), PIECE):
            self._parse(self._inner.feed, data[start : start + PIECE])

    def _parse(self, step: Callable[..., Any], *data: bytes) -> None:
        try:
            step(*data)
        except ParseError as error:
            raise NoSitemap(f"is not well-formed XML ({error})") from None
        except DefusedXmlException:
            raise NoSitemap("defines entities of its own, which are not read") from None
        except (ValueError, LookupError):
            raise NoSitemap("is in an encoding that can't be read") from None
