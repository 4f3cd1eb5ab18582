"""Fonts: the font for a title, and whether this machine can shape its script."""

import importlib.util
import io
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from fontTools.ttLib import TTCollection, TTFont, TTLibError
from PIL import ImageFont, features

from pipeline.errors import NotReady

#: Characters that shaping consumes, so fonts need not have them.
INVISIBLE = frozenset({*map(chr, range(0x200B, 0x2010)), *map(chr, range(0x202A, 0x202F)), "\u2060", "\ufeff"})

#: Categories of characters that a title can lose: pictographs, symbols and their joiners.
SYMBOLS = ("So", "Sk", "Cf", "Co", "Cn")

#: More marks on a letter than any language has.
MARKS = re.compile(r"([\u0300-\u036f]{3})[\u0300-\u036f]+")

#: Join or separate letters of a word in Persian and Hindi.
JOINERS = "\u200c\u200d"

#: Makes Noto Sans CJK Regular as bold as the other fonts.
CJK_THICKER = 0.012

#: The library that Pillow's wheels lack.
NEEDED = "libfribidi (on Debian: apt-get install libfribidi0)"

#: Marks on letters, scripts of the Near East, India, Thailand and their neighbours, and joiners.
_SHAPED = re.compile(
    "[\u0300-\u036f\u0590-\u08ff\u0900-\u109f\u1780-\u18af\u1900-\u1cff\u200c\u200d\ua800-\uabff\ufb1d-\ufdff\ufe70-\ufeff]"
)

SUFFIXES = (".ttf", ".otf", ".ttc", ".otc")


@dataclass(frozen=True, slots=True)
class Face:
    """A font file and an index in it; `path` is only a name if `content` is set.

    `thicker`: how much its strokes gain on each side, in sizes, if it has no bold weight."""

    path: str
    content: bytes | None = None
    index: int = 0
    thicker: float = 0.0

    def at(self, size: float) -> ImageFont.FreeTypeFont:
        layout = ImageFont.Layout.RAQM if can_shape() else ImageFont.Layout.BASIC
        source = io.BytesIO(self.content) if self.content is not None else self.path
        return ImageFont.truetype(source, size, index=self.index, layout_engine=layout)

    def coverage(self) -> frozenset[int]:
        """Return the characters that it has. Raises NotReady for a file that is not a font."""
        try:
            with io.BytesIO(self.content) if self.content is not None else Path(self.path).open("rb") as file:
                return frozenset(TTFont(file, lazy=True, fontNumber=self.index).getBestCmap() or ())
        except (TTLibError, OSError) as error:
            raise NotReady(f"{self.path} can't be read as a font: {error}") from error


class Fonts:
    """The fonts of pip packages, then those of the operator's folder.

    Designs ask for `serif` or `sans`; other titles get the next font that can set them."""

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder
        self._read: dict[Face, frozenset[int]] = {}

    def setup(self) -> None:
        """Read the characters of all fonts but the largest, which is read when needed. Raises NotReady."""
        for face in self._all:
            # The 45,000 characters of Noto Sans CJK take 0.1 s.
            if not face.thicker:
                self._coverage(face)

    @cached_property
    def sans(self) -> Face:
        """Manrope ExtraBold: Latin, Cyrillic, Greek."""
        return Face(_packaged("font_manrope", "files/Manrope-ExtraBold.ttf"))

    @cached_property
    def serif(self) -> Face:
        """Source Serif Semibold: Latin, Cyrillic, Greek."""
        return Face(_packaged("font_source_serif_pro", "files/SourceSerifPro-Semibold.ttf"))

    @cached_property
    def _others(self) -> Sequence[Face]:
        """FiraGO (Arabic, Hebrew, Thai, Devanagari, Georgian …), Noto Sans CJK if installed, the folder's fonts."""
        import pymupdf_fonts

        faces = [Face("FiraGO Bold", pymupdf_fonts.myfont("figbo"))]
        if importlib.util.find_spec("notojp_matplotlib") is not None:
            noto = _packaged("notojp_matplotlib", "fonts/NotoSansCJKjp-Regular.otf")
            faces.append(Face(noto, thicker=CJK_THICKER))
        return [*faces, *_in_folder(self._folder)]

    @property
    def _all(self) -> Sequence[Face]:
        return (self.sans, self.serif, *self._others)

    def _coverage(self, face: Face) -> frozenset[int]:
        """Return the characters of a font, read once. Raises NotReady."""
        if face not in self._read:
            self._read[face] = face.coverage()
        return self._read[face]

    def face_for(self, text: str, preferred: Face) -> Face | None:
        """Return the first font with all characters of a text, beginning with the preferred one, or None."""
        wanted = {ord(character) for character in text if character not in INVISIBLE and not character.isspace()}
        for face in (preferred, self.sans, *self._others):
            if wanted <= self._coverage(face):
                return face
        return None

    def settable(self, title: str) -> tuple[str, str]:
        """Return the part of a title that can be set, and the characters that can't; each may be "".

        Missing symbols are left out; if a letter is missing, nothing is set."""
        text = " ".join(_legible(title).split())
        if hard := unshaped(text):
            return "", hard
        missing = "".join(dict.fromkeys(c for c in text if not self._is_known(c)))
        kept = "".join(c for c in text if c not in missing)
        if self.face_for(kept, self.sans) is None:
            # A line does not mix fonts.
            return "", missing or text
        if not all(_is_ornament(character) for character in missing):
            return "", missing
        kept = "".join(c for c in kept if c in JOINERS or unicodedata.category(c) != "Cf")
        kept = " ".join(word for word in (word.strip(JOINERS) for word in kept.split()) if word)
        told = "".join(character for character in missing if not _is_mark(character))
        return (kept if any(c.isalnum() for c in kept) else ""), told

    def _is_known(self, character: str) -> bool:
        if character.isspace() or character in INVISIBLE:
            return True
        return any(ord(character) in self._coverage(face) for face in self._all)


def can_shape() -> bool:
    return bool(features.check("raqm"))


def unshaped(text: str) -> str:
    return "" if can_shape() else "".join(dict.fromkeys(_SHAPED.findall(text)))


@lru_cache(maxsize=24)
def sized(face: Face, size: float) -> ImageFont.FreeTypeFont:
    """Return a font in a size, kept, since each holds a copy of its file."""
    return face.at(size)


def _is_ornament(character: str) -> bool:
    """Return whether a title keeps its words without a character."""
    return _is_mark(character) or unicodedata.category(character) in SYMBOLS


def _is_mark(character: str) -> bool:
    """Return whether a character only changes how another one looks."""
    return "\ufe00" <= character <= "\ufe0f" or "\u0300" <= character <= "\u036f"


def _legible(title: str) -> str:
    """Return a title in NFC, without control characters and piles of marks."""
    text = unicodedata.normalize("NFC", title)
    text = "".join(" " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) != "Cc")
    return MARKS.sub(r"\1", text)


def _packaged(package: str, path: str) -> str:
    """Return the path of a package's file without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise NotReady(f"The font package {package.replace('_', '-')} is not installed; pip install pressroom again.")
    return str(Path(spec.origin).parent / path)


def _in_folder(folder: str | None) -> list[Face]:
    if folder is None:
        return []
    if not Path(folder).is_dir():
        raise NotReady(f"PRESSROOM_PICTURES__FONTS names {folder}, which is not a folder.")
    files = sorted(path for path in Path(folder).rglob("*") if path.suffix.lower() in SUFFIXES)
    return [Face(str(path), index=index) for path in files for index in range(_fonts_in(path))]


def _fonts_in(path: Path) -> int:
    if path.suffix.lower() not in (".ttc", ".otc"):
        return 1
    try:
        with path.open("rb") as file:
            return len(TTCollection(file, lazy=True).fonts)
    except (TTLibError, OSError) as error:
        raise NotReady(f"{path} can't be read as fonts: {error}") from error
