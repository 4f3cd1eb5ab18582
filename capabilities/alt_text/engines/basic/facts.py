"""Facts: everything that `basic` measures and reads in a picture."""

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from capabilities.alt_text.engines.basic.colours import palette_of, shrunk
from capabilities.alt_text.engines.basic.texts import (
    MOSTLY_KNOWN,
    Block,
    blocks_of,
    is_worded,
    known_share,
    may_be_labels,
    stands_out,
    without_corners,
    without_marks,
)
from workers.engines.ocr import Reader, TextLine
from workers.media.images.picture import Picture

#: Most even pixels of what a camera made, and least of a flat drawing. Measured: photos ≤0.20, drawings ≥0.30.
MOST_EVEN, FLAT = 0.25, 0.45
#: Least soft pixels of a photo in grey and in colour, least tones, and most pixels in its four commonest tones.
#: Measured soft pixels: photos ≥0.2, graphics ≤0.15.
LEAST_SOFT_GREY, LEAST_SOFT, LEAST_TONES, MOST_IN_FOUR_TONES = 0.16, 0.18, 60, 0.85
#: Share of the commonest tone from which on a picture of one tone is plain.
PLAIN = 0.995
MEASURED_SIDE = 512
#: Differences between neighbours, of 255: up to FAINT is flat (JPEG's noise), above SHARP is an edge.
FAINT, SHARP = 3, 24


@dataclass(frozen=True, slots=True)
class Texture:
    """`soft`, `even`: shares of pixels with a small, and with no difference to their neighbours.

    `commonest`, `four_commonest`: shares of the commonest of 4,096 tones. `tones`: tones of at least 0.05 % of the
    pixels."""

    soft: float
    even: float
    commonest: float
    four_commonest: float
    tones: int
    is_grey: bool

    @property
    def is_photographic(self) -> bool:
        """True if it has a camera's many soft tones; a painting may have them too."""
        if self.even > MOST_EVEN:
            return False
        if self.is_grey:
            return self.soft >= LEAST_SOFT_GREY
        has_tones = self.tones >= LEAST_TONES and self.four_commonest <= MOST_IN_FOUR_TONES
        return self.soft >= LEAST_SOFT and has_tones

    @property
    def is_flat(self) -> bool:
        return self.even >= FLAT

    @property
    def is_plain(self) -> bool:
        return self.commonest > PLAIN and self.tones == 1


def texture_of(image: Image.Image) -> Texture:
    import numpy as np

    pixels = np.asarray(shrunk(image, MEASURED_SIDE)).astype(np.int16)
    across, down = np.abs(np.diff(pixels, axis=1)).max(axis=2), np.abs(np.diff(pixels, axis=0)).max(axis=2)
    steps = np.maximum(across[:-1], down[:, :-1]) if min(pixels.shape[:2]) > 1 else np.zeros((1, 1))
    codes = (pixels[..., 0] >> 4 << 8) | (pixels[..., 1] >> 4 << 4) | (pixels[..., 2] >> 4)
    shares = np.sort(np.bincount(codes.ravel(), minlength=4096) / codes.size)[::-1]
    return Texture(
        soft=float(((steps > FAINT) & (steps <= SHARP)).mean()),
        even=float((steps == 0).mean()),
        commonest=float(shares[0]),
        four_commonest=float(shares[:4].sum()),
        tones=int((shares > 0.0005).sum()),
        is_grey=bool((pixels.max(axis=2) - pixels.min(axis=2)).mean() < 4),
    )


#: Confidence in drafts: in colours, and in a plain area.
COLOUR_CONFIDENCE, PLAIN_CONFIDENCE = 0.25, 0.4
#: Confidence in a text is the reader's times this; with an unknown word, or in a scene, which shows more, below 0.5.
TEXT_FACTOR, UNSURE_FACTOR = 0.9, 0.49
#: Letters of a scene that are smaller, as a share of the height, stand on something that it shows: on a bus, a badge.
LEAST_SIGN = 0.06
#: A picture without a pixel as opaque as this, of 255, is empty.
LEAST_OPAQUE = 16
#: The sides of a divider, the longer by the shorter.
DIVIDER = 8
#: Lines of running text: how many at least, their least width, and their share of all lines.
RUNNING, LEAST_WIDTH, MOSTLY = 5, 0.45, 0.4
#: Letters of a line of running text.
LEAST_LENGTH = 24


@dataclass(frozen=True, slots=True)
class Facts:
    """Findings in a picture; `noun` is one of words.toml's, colours are names of colours.NAMES."""

    noun: str
    #: The texts that may be quoted, in the order of reading.
    blocks: Sequence[Block]
    #: True if texts say what it is about.
    has_subject: bool
    confidence: float
    #: The colours of what is shown, the largest first, at least one; and that of the ground.
    colours: Sequence[str]
    paper: str | None
    is_plain: bool
    is_empty: bool
    is_animated: bool
    #: True if it shows nothing: it is plain, empty, or a divider without text.
    is_ornament: bool


def find_facts(picture: Picture, reader: Reader, page: frozenset[str]) -> Facts:
    """Return the facts of a picture; `page` has the words around it. Raises ReadingFailed."""
    image, texture, palette = picture.image, texture_of(picture.image), palette_of(picture.image, picture.opaque)
    lines = reader.read(image, is_grainy=texture.is_photographic)
    noun = _noun_of(lines, texture)
    worth = without_marks(lines)
    blocks = blocks_of(worth if noun == "document" else without_corners(worth), page)
    is_scene = not texture.is_flat and picture.opaque is None and noun != "document"
    known = known_share((block.text for block in blocks), page)
    has_subject = known >= MOSTLY_KNOWN and (noun == "document" or _has_subject(blocks, page, is_scene=is_scene))
    is_sure = has_subject and known == 1.0 and not is_scene and not may_be_labels(lines, blocks)
    is_plain = texture.is_plain and not lines
    is_empty = picture.opaque is not None and not any(picture.opaque.histogram()[LEAST_OPAQUE:])
    confidence = PLAIN_CONFIDENCE if is_plain else COLOUR_CONFIDENCE
    return Facts(
        noun=noun,
        blocks=blocks,
        has_subject=has_subject,
        confidence=_confidence(blocks, is_sure=is_sure) if has_subject else confidence,
        # The largest colour of a scene is the sky or a wall, and no ground that something stands on.
        colours=palette.main if is_scene else palette.shown,
        paper=None if is_scene or palette.background in palette.shown else palette.background,
        is_plain=is_plain,
        is_empty=is_empty,
        is_animated=picture.is_animated,
        is_ornament=is_plain or is_empty or (not lines and max(image.size) >= DIVIDER * min(image.size)),
    )


def _noun_of(lines: Sequence[TextLine], texture: Texture) -> str:
    """Return the safe name for a picture: photos and paintings look alike."""
    if _is_running_text(lines):
        return "document"
    return "grey" if texture.is_photographic and texture.is_grey else "picture"


def _is_running_text(lines: Sequence[TextLine]) -> bool:
    """Return whether wide lines fill the picture, and at least three of them continue the one above."""
    wide = [line for line in lines if line.right - line.left >= LEAST_WIDTH and _is_prose(line.text)]
    return len(wide) >= max(RUNNING, len(lines) * MOSTLY) and sum(map(_goes_on, wide, wide[1:])) >= 3


def _is_prose(text: str) -> bool:
    """Return whether a line is longer than an entry of a menu; an ideogram counts as two letters."""
    return sum(1 + (letter >= "\u3040") for letter in text) >= LEAST_LENGTH


def _goes_on(above: TextLine, below: TextLine) -> bool:
    """Return whether two lines are of one paragraph: as high, from the same edge on, and close."""
    alike = max(above.height, below.height) <= 1.4 * min(above.height, below.height)
    return alike and abs(above.left - below.left) <= 0.03 and 0 < below.top - above.top <= 2.2 * above.height


def _has_subject(blocks: Sequence[Block], page: frozenset[str], *, is_scene: bool) -> bool:
    """Return whether the texts say what the picture is about: labels, or a badge in a scene, do not."""
    if is_scene:
        return stands_out(blocks) and any(block.height >= LEAST_SIGN for block in blocks)
    return stands_out(blocks) and is_worded(blocks, page)


def _confidence(blocks: Sequence[Block], *, is_sure: bool) -> float:
    read = sum(block.score * block.weight for block in blocks) / sum(block.weight for block in blocks)
    return round(min(read, 1.0) * (TEXT_FACTOR if is_sure else UNSURE_FACTOR), 3)
