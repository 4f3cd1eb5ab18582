"""Genres: photo, screenshot, chart and so on, told by what can be measured; what can't is a picture, no more."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from PIL import Image

from workers.engines.captioning.basic.bars import Readings, level_readings_of, readings_of
from workers.engines.captioning.basic.charts import (
    Axis,
    axis_of,
    count_bars,
    labels_along,
    level_axis_of,
    stands_at_colours,
    tells_shares,
    value_of,
)
from workers.engines.captioning.basic.colours import Palette, family, shrunk
from workers.engines.captioning.basic.labelled_bars import have_bars
from workers.engines.captioning.basic.numbered_bars import numbered_level, numbered_upright
from workers.engines.captioning.basic.ocr import Line
from workers.engines.captioning.basic.tables import Table, rows_of, table_of
from workers.media.images.picture import Picture

Genre = Literal[
    "photo", "grey_photo", "screenshot", "form", "code", "chart", "bar_chart", "level_bar_chart", "page", "document",
    "table", "banner", "logo", "icon", "illustration", "graphic", "picture", "plain", "animation",
]  # fmt: skip

#: The longest side that textures are measured at.
MEASURED_SIDE = 512
#: The longest side at which bars are looked for without an axis.
BARS_SIDE = 800
#: Differences between neighbours, of 255: up to FAINT is flat (JPEG's noise), above SHARP an edge.
FAINT, SHARP = 3, 24

FORM_WORD = re.compile(
    r"pass ?word|e-?mail|sign (?:in|up)|log ?in|user ?name|submit|contraseña|correo|usuario"
    r"|iniciar sesi[oó]n|registrarse|enviar|mot de passe|connexion"
    r"|se connecter|identifiant|envoyer|s'inscrire|kennwort|passwort|anmelde|registrier"
    r"|benutzername|absenden|senha|palavra-passe|entrar|cadastr|utilizador|accedi|nome utente|registrati|invia",
    re.IGNORECASE,
)
#: What stands in programs and hardly anywhere else: a statement's first word, or marks in an order of their own.
CODE = re.compile(
    r"(?:import|from|def|async def|class|return|const|let|var|function|public|private|package|using|export|fn|func|elif"
    r"|#include)\b.*[\w)({:;]|.*(?:[{;]|\):|=>|\(\)|\)\)|</\w+>)|.*\w\(.*\w=.*\).*|\w+ ?[!=]?= ?[\w.]+\(.*"
)
#: Lines of a program that show one, and their share of all lines.
LEAST_CODE, LEAST_CODE_SHARE = 4, 0.3
#: Height by width of the sheets that people write on: A4 and Letter, with or without some of the margin.
SHEETS = (1.25, 1.55)
#: Tones of an object on white that has a shade; flat drawings have fewer, though their edges are mixed.
SHADED = 16
#: Rows and columns of a table at least.
LEAST_GRID = 3


@dataclass(frozen=True, slots=True)
class Texture:
    """How a picture is made, each figure in 0..1 but the number of tones (of 4,096, each at least 0.05 %)."""

    flat: float
    soft: float
    commonest: float
    four_commonest: float
    tones: int
    is_grey: bool
    #: Straight edges of at least a fifth of the side: (across, upright).
    rules: tuple[int, int]

    @property
    def is_photographic(self) -> bool:
        """Return whether it has a camera's many soft tones. Measured: photos ≥0.2 soft, graphics ≤0.15."""
        if self.is_grey:
            return self.soft >= 0.16
        return self.soft >= 0.18 and self.tones >= 60 and self.four_commonest <= 0.85


@dataclass(frozen=True, slots=True)
class Finding:
    """What a picture is, and of a chart its axis, the labels along it, and what its bars say."""

    genre: Genre
    axis: Axis | None = None
    labels: Sequence[Line] = ()
    bars: Readings | None = None
    #: The axis's numbers say what colours mean, and not how far a chart goes.
    is_key: bool = False
    table: Table | None = None


def texture_of(image: Image.Image) -> Texture:
    """Measure an RGB picture."""
    import numpy as np

    pixels = np.asarray(shrunk(image, MEASURED_SIDE)).astype(np.int16)
    across, down = np.abs(np.diff(pixels, axis=1)).max(axis=2), np.abs(np.diff(pixels, axis=0)).max(axis=2)
    steps = np.maximum(across[:-1], down[:, :-1]) if min(pixels.shape[:2]) > 1 else np.zeros((1, 1))
    codes = (pixels[..., 0] >> 4 << 8) | (pixels[..., 1] >> 4 << 4) | (pixels[..., 2] >> 4)
    shares = np.sort(np.bincount(codes.ravel(), minlength=4096) / codes.size)[::-1]
    return Texture(
        flat=float((steps <= FAINT).mean()),
        soft=float(((steps > FAINT) & (steps <= SHARP)).mean()),
        commonest=float(shares[0]),
        four_commonest=float(shares[:4].sum()),
        tones=int((shares > 0.0005).sum()),
        is_grey=bool((pixels.max(axis=2) - pixels.min(axis=2)).mean() < 4),
        rules=(_rules(down), _rules(across.T)),
    )


def genre_of(picture: Picture, lines: Sequence[Line], palette: Palette, texture: Texture) -> Finding:
    """Return what the picture is: the first genre that its marks prove."""
    if picture.is_animated:
        return Finding("animation")
    axis = axis_of(lines)
    if axis is not None and not texture.is_photographic:
        if stands_at_colours(picture.image, axis):
            return Finding("chart", axis, is_key=True)
        if not count_bars(picture.image, axis):
            return Finding("chart", axis, labels_along(axis, lines))
        return Finding("bar_chart", axis, labels_along(axis, lines), readings_of(picture.image, axis, lines))
    if not texture.is_photographic and (
        found := _level_chart(picture.image, lines) or _bars_alone(picture.image, lines)
    ):
        return found
    if texture.commonest > 0.995 and texture.tones == 1 and not lines:
        return Finding("plain")
    table = table_of(picture.image, lines)
    genre = _textual(picture, lines, palette, texture, has_table=table is not None)
    return Finding(genre or _visual(picture, lines, palette, texture), table=table if genre == "table" else None)


def _level_chart(image: Image.Image, lines: Sequence[Line]) -> Finding | None:
    """Return a chart whose values go from left to right."""
    axis = level_axis_of(lines)
    if axis is None:
        return None
    bars = level_readings_of(image, axis, lines)
    return Finding("chart" if bars is None else "level_bar_chart", axis, bars=bars)


def _bars_alone(image: Image.Image, lines: Sequence[Line]) -> Finding | None:
    """Return a chart without an axis, or with one that can't be read, whose bars have numbers, or labels at least."""
    # A picture as it waits would be made 200 MB of numbers.
    image = shrunk(image, BARS_SIDE)
    if (bars := numbered_level(image, lines)) is not None:
        return Finding("level_bar_chart", bars=bars)
    if (bars := numbered_upright(image, lines)) is not None or have_bars(image, lines):
        return Finding("bar_chart", bars=bars)
    return None


def _textual(
    picture: Picture, lines: Sequence[Line], palette: Palette, texture: Texture, *, has_table: bool
) -> Genre | None:
    """Return a genre that its text proves."""
    if _is_page(lines, texture):
        return "page"
    if texture.flat < 0.5 or (texture.is_photographic and texture.commonest < 0.3):
        return None
    if tells_shares(lines):
        return "chart"
    worded = [line for line in lines if value_of(line.text) is None]
    if len(code_in(lines)) >= max(LEAST_CODE, LEAST_CODE_SHARE * len(worded)):
        return "code"
    if palette.named[0][0] == "white" and texture.is_grey:
        if len(lines) >= 6 and SHEETS[0] <= picture.image.height / picture.image.width <= SHEETS[1]:
            return "document"
        if min(texture.rules) >= LEAST_GRID and _is_grid(lines):
            return "table"
    if has_table:
        return "table"
    if _is_screen(picture, lines, texture):
        return "form" if sum(bool(FORM_WORD.search(line.text)) for line in lines) >= 2 else "screenshot"
    return None


def _visual(picture: Picture, lines: Sequence[Line], palette: Palette, texture: Texture) -> Genre:
    width, height = picture.image.size
    if texture.is_photographic and min(width, height) >= 160:
        return "grey_photo" if texture.is_grey else "photo"
    largest = 256 if picture.has_transparency else 128
    if max(width, height) <= largest and 0.8 <= width / height <= 1.25 and texture.flat >= 0.3:
        return "icon"
    if texture.flat < 0.75:
        return "picture"
    texts = [line for line in lines if sum(map(str.isalpha, line.text)) > 1]
    if picture.has_transparency and 1 <= len(texts) <= 2 and all(len(line.text) <= 30 for line in texts):
        return "logo"
    if 1 <= len(texts) <= 6 and width / height >= 1.8 and palette.background != "white":
        return "banner"
    hues = {family(name) for name, share in palette.named if share >= 0.02} - {"black", "white", "grey"}
    if not texts and (texture.four_commonest < 0.5 or (texture.tones >= SHADED and palette.background == "white")):
        return "picture"  # a soft one, or an object with shades: drawn or photographed can't be told
    return "illustration" if len(hues) >= 3 and not texts else "graphic"


def code_in(lines: Sequence[Line]) -> list[Line]:
    """Return the lines that are of a program."""
    return [line for line in lines if CODE.fullmatch(line.text.strip())]


def _is_grid(lines: Sequence[Line]) -> bool:
    """Return whether short texts stand in rows, each of several cells."""
    rows = rows_of(lines)
    return sum(len(row) >= LEAST_GRID for row in rows) >= max(LEAST_GRID, len(rows) / 2)


def _is_page(lines: Sequence[Line], texture: Texture) -> bool:
    """Return whether wide lines of one size fill the picture, some of which go on with the one above."""
    wide = [line for line in lines if line.right - line.left >= 0.45]
    if len(wide) < 5 or texture.rules[1] > 2:
        return False
    return len(wide) >= len(lines) * 0.4 and sum(map(_goes_on, wide, wide[1:])) >= 3


def _goes_on(above: Line, below: Line) -> bool:
    """Return whether two lines are of one paragraph: as high, from the same edge on, and close."""
    alike = max(above.height, below.height) <= 1.4 * min(above.height, below.height)
    return alike and abs(above.left - below.left) <= 0.03 and 0 < below.top - above.top <= 2.2 * above.height


def _is_screen(picture: Picture, lines: Sequence[Line], texture: Texture) -> bool:
    """Return whether small lines of much the same size stand among boxes, as in a program's window."""
    if len(lines) < 4 or texture.four_commonest < 0.6 or picture.has_transparency:
        return False
    long = max(picture.image.size)
    sizes = sorted(line.height * picture.image.height / long for line in lines)
    middle = median(sizes)
    alike = sum(0.6 * middle <= size <= 1.6 * middle for size in sizes)
    return middle <= 0.05 and alike >= len(lines) * 0.6 and texture.rules[0] >= 2 and sum(texture.rules) >= 4


def _rules(steps: Any) -> int:
    """Return how many sharp edges run straight for a fifth of the side or more; `steps` is of shape (lines, side)."""
    import numpy as np

    sharp = (steps > 8).astype(np.int32)
    # A line has two edges: places closer than 3 pixels are one.
    run = np.zeros(sharp.shape[0], dtype=np.int32)
    longest = np.zeros(sharp.shape[0], dtype=np.int32)
    for column in range(sharp.shape[1]):
        run = (run + 1) * sharp[:, column]
        longest = np.maximum(longest, run)
    places = np.flatnonzero(longest >= sharp.shape[1] / 5)
    return int((np.diff(places) > 3).sum() + 1) if len(places) else 0
