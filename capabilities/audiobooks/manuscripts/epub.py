"""EPUB: the chapters of a book in its reading order, named as its table of contents names them (EPUB 2 and 3)."""

import lzma
import posixpath
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import IO, TYPE_CHECKING
from urllib.parse import unquote, urldefrag

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from capabilities.audiobooks.kinds.audiobook import MAX_CHARACTERS
from capabilities.audiobooks.kinds.cast import plain
from capabilities.audiobooks.manuscripts.blocks import Block, BlockReader, language_tag
from capabilities.audiobooks.manuscripts.manuscript import Chapter, Manuscript, ManuscriptUnreadable

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

#: Most entries of the archive, and most bytes that they may unpack to: in all, a picture and a document, whose elements
#: take a hundred times its size.
MAX_ENTRIES, MAX_UNPACKED, MAX_PICTURE, MAX_DOCUMENT = 10_000, 500 * 2**20, 50 * 2**20, 8 * 2**20
#: Errors of zipfile for archives that are damaged or hostile; a name that is no UTF-8 is a ValueError.
UNREADABLE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError, OSError, EOFError, ValueError)
CONTAINER, ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
#: Obfuscated fonts are not protection of the text.
FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
DC = "{http://purl.org/dc/elements/1.1/}"


class Archive:
    """The files of an EPUB, within bounds."""

    def __init__(self, file: IO[bytes]) -> None:
        """Open it. Raises ManuscriptUnreadable."""
        try:
            self._zip = zipfile.ZipFile(file)
        except UNREADABLE as error:
            raise ManuscriptUnreadable(f"The file is a broken archive: {error}.") from error
        entries = self._zip.infolist()
        unpacked = sum(entry.file_size for entry in entries)
        if len(entries) > MAX_ENTRIES or unpacked > MAX_UNPACKED:
            raise ManuscriptUnreadable(
                f"The EPUB has {len(entries):,} files of {unpacked / 2**20:,.0f} MB; the limits are {MAX_ENTRIES:,} and"
                f" {MAX_UNPACKED / 2**20:,.0f} MB. Leave out its pictures."
            )

    @property
    def sizes(self) -> Mapping[str, int]:
        """The bytes that each file unpacks to; reading it gives no more."""
        return {name: entry.file_size for name, entry in self._zip.NameToInfo.items()}

    def read(self, name: str, *, limit: int = MAX_DOCUMENT) -> bytes:
        """Return a file's bytes. Raises ManuscriptUnreadable."""
        try:
            with self._zip.open(name) as entry:
                data = entry.read(limit + 1)
        except KeyError:
            raise ManuscriptUnreadable(f"The EPUB lacks its file {name[:100]!r}.") from None
        except UNREADABLE as error:
            raise ManuscriptUnreadable(f"{name[:100]!r} in the archive can't be unpacked: {error}.") from error
        if len(data) > limit:
            raise ManuscriptUnreadable(f"{name[:100]!r} in the archive has more than {limit / 2**20:,.0f} MB.")
        return data

    def has(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def document(self, name: str) -> "Element":
        """Return the root of an XML file. Raises ManuscriptUnreadable."""
        try:
            root: Element = fromstring(self.read(name))
        except (ParseError, DefusedXmlException, LookupError, ValueError) as error:
            raise ManuscriptUnreadable(f"{name[:100]!r} in the EPUB is not valid XML: {error}.") from error
        return root


def read_epub(file: IO[bytes], reads: frozenset[str]) -> Manuscript:
    """Return the manuscript of an EPUB, with what `reads` adds. Raises ManuscriptUnreadable, ManuscriptTooLong."""
    archive = Archive(file)
    _refuse_protection(archive)
    rootfile = next((one for one in archive.document(CONTAINER).iter() if _local(one) == "rootfile"), None)
    path = unquote(rootfile.get("full-path", "") if rootfile is not None else "")
    package = archive.document(path)
    folder = posixpath.dirname(path)
    reader = BlockReader(reads, language_tag(_metadata(package, "language").replace("_", "-")))
    found = Manuscript(
        title=_metadata(package, "title"),
        author=_metadata(package, "creator"),
        language=reader.language,
        left_out=reader.left_out,
    )
    items = {one.get("id"): one for one in package.iter() if _local(one) == "item"}
    titles = _titles(archive, package, items, folder)
    seen: set[str] = set()
    characters = 0
    found.cover = _cover(archive, package, items, folder)
    for reference in (one for one in package.iter() if _local(one) == "itemref"):
        item = items.get(reference.get("idref"))
        if item is None or "html" not in item.get("media-type", "") or "nav" in item.get("properties", "").split():
            continue
        name = _resolved(folder, item.get("href", ""))
        if name in seen:
            continue  # some tools list a file once for each section in it
        seen.add(name)
        blocks = reader.read(archive.read(name))
        characters += sum(len(block.text) for block in blocks)
        found.chapters += _chapters(blocks, titles.get(name, ""), found.chapters)
        if characters > MAX_CHARACTERS:
            break  # which `checked` refuses
    return found.checked()


def _chapters(blocks: list[Block], title: str, before: list[Chapter]) -> Iterator[Chapter]:
    """Yield the chapters of a file: one per main heading; a file without a title goes on with the chapter before."""
    main = min((block.level for block in blocks if block.level), default=0)
    if not title and not main and before:
        before[-1].paragraphs += [block.text for block in blocks]
        return
    chapter = Chapter(title)
    for block in blocks:
        if block.level and block.level == main and main < 3 and (chapter.paragraphs or chapter.title != title):
            yield chapter
            chapter = Chapter(plain(block.text))
        elif block.level and not chapter.paragraphs:
            chapter.title = chapter.title or plain(block.text)
        chapter.paragraphs.append(block.text)
    yield chapter


def _cover(archive: Archive, package: "Element", items: Mapping[str | None, "Element"], folder: str) -> bytes | None:
    """Return the picture that EPUB 3's property or EPUB 2's metadata calls the cover."""
    named = next((one.get("content") for one in package.iter() if one.get("name") == "cover"), None)
    marked = (one for one in items.values() if "cover-image" in one.get("properties", "").split())
    item = next(marked, items.get(named) if named else None)
    if item is None or not item.get("media-type", "").startswith("image/"):
        return None
    try:
        return archive.read(_resolved(folder, item.get("href", "")), limit=MAX_PICTURE)
    except ManuscriptUnreadable:
        return None  # a book reads well without its cover


def _titles(archive: Archive, package: "Element", items: Mapping[str | None, "Element"], folder: str) -> dict[str, str]:
    """Return the titles of the table of contents by the file that each begins in: EPUB 3's, else EPUB 2's."""
    titles: dict[str, str] = {}
    contents = next((one for one in items.values() if "nav" in one.get("properties", "").split()), None)
    spine = next((one for one in package.iter() if _local(one) == "spine"), None)
    contents = contents if contents is not None else items.get(spine.get("toc") if spine is not None else None)
    if contents is None:
        return titles
    name = _resolved(folder, contents.get("href", ""))
    try:
        document = archive.document(name)
    except ManuscriptUnreadable:
        return titles  # the book reads well without the names of its chapters
    base = posixpath.dirname(name)
    for link in document.iter():
        if _local(link) == "a" and link.get("href"):
            _note(titles, _resolved(base, link.get("href", "")), "".join(islice(link.itertext(), 100)))
        elif _local(link) == "navPoint":
            target = next((one for one in link if _local(one) == "content"), None)
            named = (one for one in link if _local(one) == "navLabel")  # and not those of the points within
            label = next((one for label in named for one in label if _local(one) == "text"), None)
            if target is not None and label is not None:
                _note(titles, _resolved(base, target.get("src", "")), label.text or "")
    return titles


def _note(titles: dict[str, str], name: str, title: str) -> None:
    if said := " ".join(title.split()):
        titles.setdefault(name, said)


def _resolved(folder: str, reference: str) -> str:
    path = unquote(urldefrag(reference).url)
    return posixpath.normpath(posixpath.join(folder, path)) if folder else posixpath.normpath(path)


def _refuse_protection(archive: Archive) -> None:
    if not archive.has(ENCRYPTION):
        return
    methods = [one.get("Algorithm", "") for one in archive.document(ENCRYPTION).iter() if "EncryptionMethod" in one.tag]
    if any(method not in FONT_ALGORITHMS for method in methods) or archive.has("META-INF/rights.xml"):
        raise ManuscriptUnreadable(
            "The EPUB is protected (DRM), so its text can't be read. Send one without protection."
        )


def _metadata(package: "Element", name: str) -> str:
    found = next((one.text for one in package.iter(f"{DC}{name}") if one.text), "")
    return " ".join(found.split())


def _local(element: "Element") -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
