"""Fonts: which font has all characters of a title, and whether this machine can shape its script."""

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

#: What shaping consumes, so that a font need not have it: joiners, marks of direction, variation selectors.
INVISIBLE = frozenset({*map(chr, range(0x200B, 0x2010)), *map(chr, range(0x202A, 0x202F)), "\u2060", "\ufeff"})

#: What a title can lose and still be the same words: pictographs and other symbols, and what joins them.
SYMBOLS = ("So", "Sk", "Cf", "Co", "Cn")

#: Marks on a letter: no language has more than three, jokes have dozens.
MARKS = re.compile(r"([\u0300-\u036f]{3})[\u0300-\u036f]+")

#: What joins or parts letters within a word, in Persian and Hindi.
JOINERS = "\u200c\u200d"

#: Makes Noto Sans CJK Regular, the one weight that its package has, as bold as the other fonts are.
CJK_THICKER = 0.012

#: What must be installed beside the packages: Pillow's wheels bring everything for it but this library.
NEEDED = "libfribidi (on Debian: apt-get install libfribidi0)"

#: Marks on letters; Hebrew to Syriac and their kin; India's, Thailand's and their neighbours' scripts; joiners.
_SHAPED = re.compile(
    "[\u0300-\u036f\u0590-\u08ff\u0900-\u109f\u1780-\u18af\u1900-\u1cff\u200c\u200d\ua800-\uabff\ufb1d-\ufdff\ufe70-\ufeff]"
)

SUFFIXES = (".ttf", ".otf", ".ttc", ".otc")


@dataclass(frozen=True, slots=True)
class Face:
    """A font file and its index within; `path` is a name only where `content` is set.

    `thicker` is what its strokes gain on each side, in sizes, where a font has no bold one of its own.
    """

    path: str
    content: bytes | None = None
    index: int = 0
    thicker: float = 0.0

    def at(self, size: float) -> ImageFont.FreeTypeFont:
        """Return the font in a size, in pixels."""
        layout = ImageFont.Layout.RAQM if can_shape() else ImageFont.Layout.BASIC
        source = io.BytesIO(self.content) if self.content is not None else self.path
        return ImageFont.truetype(source, size, index=self.index, layout_engine=layout)

    def coverage(self) -> frozenset[int]:
        """Return the characters that it has glyphs for. Raises NotReady for a file that is no font."""
        try:
            with io.BytesIO(self.content) if self.content is not None else Path(self.path).open("rb") as file:
                return frozenset(TTFont(file, lazy=True, fontNumber=self.index).getBestCmap() or ())
        except (TTLibError, OSError) as error:
            raise NotReady(f"{self.path} can't be read as a font: {error}") from error


class Fonts:
    """The fonts of this process: those of pip packages, then those of the operator's folder.

    `serif` and `sans` are what a design asks for; a title that they can't set is set in the next that can.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder
        self._read: dict[Face, frozenset[int]] = {}

    def setup(self) -> None:
        """Read which characters each font has, but of the largest only when a title needs it. Raises NotReady."""
        for face in self._all:
            # Noto Sans CJK has 45,000, which take 0.1 s: as long as all else that `drawn` does at a start.
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
        """FiraGO (Arabic, Hebrew, Thai, Devanagari, Georgian and more), Noto Sans CJK if it is there, the folder's."""
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
        """Return the characters that a font has glyphs for, read once. Raises NotReady."""
        if face not in self._read:
            self._read[face] = face.coverage()
        return self._read[face]

    def face_for(self, text: str, preferred: Face) -> Face | None:
        """Return the font for a text: the preferred one, or the next that has all of it; None: no font has."""
        wanted = {ord(character) for character in text if character not in INVISIBLE and not character.isspace()}
        for face in (preferred, self.sans, *self._others):
            if wanted <= self._coverage(face):
                return face
        return None

    def settable(self, title: str) -> tuple[str, str]:
        """Return the part of a title that can be set, and the characters that can't; each may be "".

        Symbols without a glyph are left out; if a letter has none, nothing of the title is set.
        """
        text = " ".join(_legible(title).split())
        if hard := unshaped(text):
            return "", hard
        missing = "".join(dict.fromkeys(c for c in text if not self._is_known(c)))
        kept = "".join(c for c in text if c not in missing)
        if self.face_for(kept, self.sans) is None:
            # Words of several scripts, each in another font: they are not mixed in a line.
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
    """Return whether any script can be set; without, those can whose letters stand side by side."""
    return bool(features.check("raqm"))


def unshaped(text: str) -> str:
    """Return the characters of a text that need shaping, each once; none where all can be set."""
    return "" if can_shape() else "".join(dict.fromkeys(_SHAPED.findall(text)))


@lru_cache(maxsize=24)
def sized(face: Face, size: float) -> ImageFont.FreeTypeFont:
    """Return a font in a size; those in use are kept: each holds a copy of its file."""
    return face.at(size)


def _is_ornament(character: str) -> bool:
    """Return whether a title stays the same words without a character."""
    return _is_mark(character) or unicodedata.category(character) in SYMBOLS


def _is_mark(character: str) -> bool:
    """Return whether a character only changes how another one looks."""
    return "\ufe00" <= character <= "\ufe0f" or "\u0300" <= character <= "\u036f"


def _legible(title: str) -> str:
    """Return a title composed, without control characters, and with no pile of marks on a letter."""
    text = unicodedata.normalize("NFC", title)
    text = "".join(" " if c.isspace() else c for c in text if c.isspace() or unicodedata.category(c) != "Cc")
    return MARKS.sub(r"\1", text)


def _packaged(package: str, path: str) -> str:
    """Return the path of a package's file, without importing the package."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise NotReady(f"The font package {package.replace('_', '-')} is not installed; pip install pressroom again.")
    return str(Path(spec.origin).parent / path)


def _in_folder(folder: str | None) -> list[Face]:
    if folder is None:
        return []
    if not Path(folder).is_dir():
        raise NotReady(f"PRESSROOM_PICTURES__FONTS names {folder}, which is no folder.")
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
