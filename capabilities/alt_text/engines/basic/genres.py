"""Genres: photo, screenshot, chart and so on, each told by measurements; a picture that fits none is a `picture`."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal, get_args

from PIL import Image

from capabilities.alt_text.engines.basic.colours import DominantColours, shrunk
from capabilities.alt_text.engines.basic.numbers import are_a_chart
from workers.engines.ocr import TextLine, rows_of
from workers.media.images.picture import Picture

Genre = Literal["photo", "screenshot", "document", "chart", "table", "graphic", "logo", "picture"]
GENRES: tuple[Genre, ...] = get_args(Genre)

#: Smaller pictures, in pixels a side, are not called photos.
LEAST_PHOTO = 160
#: Height by width of a sheet of paper: A4 and Letter, with or without some of the margin.
SHEETS = (1.25, 1.55)
#: Lines of a document at least.
LEAST_LINES = 6
#: Rows and columns of a table at least.
LEAST_GRID = 3
#: Texts of a logo at most, and characters of each. What has more opaque pixels than this is a button, or a plate.
MOST_NAMES, LONGEST_NAME, MOST_OPAQUE = 2, 30, 0.6
#: Least tones of a shaded object on white; flat drawings have fewer, although edges add some.
SHADED = 16
#: Least soft pixels of a photo in grey and in colour, least tones, and most pixels in its four commonest tones.
#: Measured soft pixels: photos ≥0.2, graphics ≤0.15.
LEAST_SOFT_GREY, LEAST_SOFT, LEAST_TONES, MOST_IN_FOUR_TONES = 0.16, 0.18, 60, 0.85
#: Share of the commonest tone from which on a picture of one tone is plain.
PLAIN = 0.995
#: Flat pixels from which on a picture may be a page or a screen, and share of its ground; flat pixels of a graphic.
LEAST_FLAT, LEAST_GROUND, LEAST_FLAT_GRAPHIC = 0.5, 0.3, 0.75
#: Share of the four commonest tones under which an object is shaded.
SHADED_TONES = 0.5
#: Most even pixels of a photo, and least of a graphic; tones that run into each other are neither.
MOST_EVEN, LEAST_EVEN = 0.25, 0.45
#: The longest side that is measured, in pixels.
MEASURED_SIDE = 512
#: Differences between neighbours, of 255: up to FAINT is flat (JPEG's noise), above SHARP is an edge.
FAINT, SHARP = 3, 24
#: Least difference at a straight edge, and most pixels between the two edges of one line.
EDGE, LINE_WIDTH = 8, 3
#: Share of the width that the bar of a window spans, and of the height at which an edge is the picture's own frame;
#: and share of the width that the rows of a list span, and how many edges these have at least.
SPAN, FRAME = 0.9, 0.02
ROW_SPAN, LEAST_ROW_EDGES = 0.8, 6


@dataclass(frozen=True, slots=True)
class Texture:
    """How a picture is made.

    `flat`, `soft`, `even`: shares of pixels with next to no, with a small, and with no difference at all to their
    neighbours: a camera's noise, or a soft shadow, leaves few without any. `commonest`,
    `four_commonest`: shares of the commonest of 4,096 tones. `tones`: tones of at least 0.05 % of the pixels."""

    flat: float
    soft: float
    even: float
    commonest: float
    four_commonest: float
    tones: int
    is_grey: bool
    #: Straight edges of at least a fifth of the side: (level, upright).
    rules: tuple[int, int]
    #: Whether a bar spans it, other than a frame, or rows of a list do; the boxes of a diagram do not.
    is_spanned: bool

    @property
    def is_photographic(self) -> bool:
        """Whether it has a camera's many soft tones. Even pixels measured: photos ≤0.20, drawings ≥0.30."""
        if self.even > MOST_EVEN:
            return False
        if self.is_grey:
            return self.soft >= LEAST_SOFT_GREY
        has_tones = self.tones >= LEAST_TONES and self.four_commonest <= MOST_IN_FOUR_TONES
        return self.soft >= LEAST_SOFT and has_tones

    @property
    def is_plain(self) -> bool:
        """Whether it has one tone only."""
        return self.commonest > PLAIN and self.tones == 1


def genre_of(picture: Picture, lines: Sequence[TextLine], palette: DominantColours, texture: Texture) -> Genre:
    """Return the first genre that fits: by its text, or else by its texture."""
    if _is_running_text(lines, texture):
        return "document"
    if not texture.is_photographic and are_a_chart(lines):
        return "chart"
    if texture.flat >= LEAST_FLAT and (texture.commonest >= LEAST_GROUND or not texture.is_photographic):
        if palette.named[0][0] == "white" and texture.is_grey:
            if len(lines) >= LEAST_LINES and SHEETS[0] <= picture.image.height / picture.image.width <= SHEETS[1]:
                return "document"
            if min(texture.rules) >= LEAST_GRID and _is_grid(lines):
                return "table"
        if _is_screen(picture, lines, texture):
            return "screenshot"
    return _by_texture(picture, lines, palette, texture)


def _by_texture(picture: Picture, lines: Sequence[TextLine], palette: DominantColours, texture: Texture) -> Genre:
    if texture.is_photographic and min(picture.image.size) >= LEAST_PHOTO:
        return "photo"
    if texture.flat < LEAST_FLAT_GRAPHIC or texture.even < LEAST_EVEN:
        return "picture"
    texts = [line.text for line in lines if sum(map(str.isalpha, line.text)) > 1]
    is_named = 1 <= len(texts) <= MOST_NAMES and all(len(text) <= LONGEST_NAME for text in texts)
    if picture.has_transparency and is_named and _opaque_share(picture) <= MOST_OPAQUE:
        return "logo"
    is_shaded = texture.four_commonest < SHADED_TONES or (texture.tones >= SHADED and palette.background == "white")
    # A picture with soft tones, or of a shaded object, may be drawn or photographed.
    return "picture" if not texts and (texture.is_plain or is_shaded) else "graphic"


def _opaque_share(picture: Picture) -> float:
    if picture.opaque is None:
        return 1.0
    counts = picture.opaque.histogram()
    return sum(counts[128:]) / sum(counts)


def _is_running_text(lines: Sequence[TextLine], texture: Texture) -> bool:
    """Return whether wide lines fill the picture, and at least three of them continue the one above."""
    wide = [line for line in lines if line.right - line.left >= 0.45]
    is_filled = len(wide) >= max(5, len(lines) * 0.4) and texture.rules[1] <= 2
    return is_filled and sum(map(_goes_on, wide, wide[1:])) >= 3


def _goes_on(above: TextLine, below: TextLine) -> bool:
    """Return whether two lines are of one paragraph: as high, from the same edge on, and close."""
    alike = max(above.height, below.height) <= 1.4 * min(above.height, below.height)
    return alike and abs(above.left - below.left) <= 0.03 and 0 < below.top - above.top <= 2.2 * above.height


def _is_grid(lines: Sequence[TextLine]) -> bool:
    """Return whether texts stand in rows, each of several cells."""
    rows = rows_of(lines)
    return sum(len(row) >= LEAST_GRID for row in rows) >= max(LEAST_GRID, len(rows) / 2)


def _is_screen(picture: Picture, lines: Sequence[TextLine], texture: Texture) -> bool:
    """Return whether small lines of much the same size stand among boxes and a bar, as in a program's window."""
    if len(lines) < 4 or texture.four_commonest < 0.6 or picture.has_transparency or not texture.is_spanned:
        return False
    sizes = [line.height * picture.image.height / max(picture.image.size) for line in lines]
    middle = median(sizes)
    alike = sum(0.6 * middle <= size <= 1.6 * middle for size in sizes)
    return middle <= 0.05 and alike >= len(lines) * 0.6 and texture.rules[0] >= 2 and sum(texture.rules) >= 4


def texture_of(image: Image.Image) -> Texture:
    """Measure an RGB picture."""
    import numpy as np

    pixels = np.asarray(shrunk(image, MEASURED_SIDE)).astype(np.int16)
    across, down = np.abs(np.diff(pixels, axis=1)).max(axis=2), np.abs(np.diff(pixels, axis=0)).max(axis=2)
    steps = np.maximum(across[:-1], down[:, :-1]) if min(pixels.shape[:2]) > 1 else np.zeros((1, 1))
    codes = (pixels[..., 0] >> 4 << 8) | (pixels[..., 1] >> 4 << 4) | (pixels[..., 2] >> 4)
    shares = np.sort(np.bincount(codes.ravel(), minlength=4096) / codes.size)[::-1]
    level, upright = _longest_edges(down), _longest_edges(across.T)
    return Texture(
        flat=float((steps <= FAINT).mean()),
        even=float((steps == 0).mean()),
        soft=float(((steps > FAINT) & (steps <= SHARP)).mean()),
        commonest=float(shares[0]),
        four_commonest=float(shares[:4].sum()),
        tones=int((shares > 0.0005).sum()),
        is_grey=bool((pixels.max(axis=2) - pixels.min(axis=2)).mean() < 4),
        rules=(_count_edges(level, 1 / 5), _count_edges(upright, 1 / 5)),
        is_spanned=_is_spanned(level),
    )


def _longest_edges(steps: Any) -> Any:
    """Return the longest sharp edge along each line, as a share of its length; `steps` is of shape (lines, side)."""
    import numpy as np

    sharp = (steps > EDGE).astype(np.int32)
    run = longest = np.zeros(sharp.shape[0], dtype=np.int32)
    for column in sharp.T:
        run = (run + 1) * column
        longest = np.maximum(longest, run)
    return longest / sharp.shape[1]


def _is_spanned(level: Any) -> bool:
    margin = int(FRAME * len(level)) + 1
    inner = level[margin:-margin]
    return _count_edges(inner, SPAN) > 0 or _count_edges(inner, ROW_SPAN) >= LEAST_ROW_EDGES


def _count_edges(longest: Any, least: float) -> int:
    """Return how many edges run straight for such a share of the side or more; `longest` as by `_longest_edges`."""
    import numpy as np

    places = np.flatnonzero(longest >= least)
    return int((np.diff(places) > LINE_WIDTH).sum() + 1) if len(places) else 0
