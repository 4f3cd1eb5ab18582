"""Facts: everything that `basic` measures and reads in a picture."""

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from capabilities.alt_text.engines.basic.blocks import TITLED, Block, quotable
from capabilities.alt_text.engines.basic.colours import DominantColours, family, ink_of, palette_of, shrunk
from capabilities.alt_text.engines.basic.genres import LEAST_EVEN, Genre, genre_of, texture_of
from capabilities.alt_text.engines.basic.incidental import is_word, without_corners, without_marks
from workers.engines.ocr import Reader, TextLine
from workers.media.images.picture import Picture

#: Confidence in a description without text: colours say little.
COLOUR_CONFIDENCE: dict[Genre, float] = {"photo": 0.3, "picture": 0.2}
OTHER_CONFIDENCE, PLAIN_CONFIDENCE = 0.25, 0.4
#: Confidence in a text is the reader's times this: for a title or what stands out as one; and for other texts, and a
#: logo, whose letters are drawn. What a photo shows is more than its text: never above 0.5.
TITLE_FACTOR, TEXT_FACTOR, SCENE_FACTOR = 0.9, 0.7, 0.5
#: Genres whose text is a part of the picture only.
SCENES = frozenset(("photo", "picture"))
#: Letters of a scene that are smaller, as a share of the height, stand on something that it shows: on a bus, a badge.
LEAST_SIGN = 0.06
#: Genres where small print in a corner is no part of what is shown.
CORNERED = frozenset(("photo", "picture", "graphic", "logo"))
#: Genres where the place of the text is worth a word.
PLACED = frozenset(("graphic", "logo", "photo", "picture"))
#: Text over more than this share of the height has no place; up to ON_SIDE of the width or height it is on a side.
TALLEST_TEXT, ON_SIDE = 0.6, 0.4
#: A picture without a pixel as opaque as this, of 255, is empty.
LEAST_OPAQUE = 16
#: Least share of the main colour in the middle third, and in the upper and lower thirds.
LEAST_MIDDLE, LEAST_HALF = 0.5, 0.55
#: The sides of a divider, the longer by the shorter.
DIVIDER = 8
GREYS = frozenset(("black", "white", "grey"))
#: In pixels: the shortest side of a picture whose parts are compared, and the side that it is shrunk to for that.
LEAST_PARTED, LONGEST_COMPARED = 32, 384


@dataclass(frozen=True, slots=True)
class Facts:
    """What was found in a picture; colours are names of colours.NAMES."""

    genre: Genre
    #: The texts that may be quoted, in the order of reading.
    blocks: Sequence[Block]
    #: That which is called a title, and that which is named first.
    title: Block | None
    heading: Block | None
    #: Whether a title, or texts that say what it is about, were found.
    has_subject: bool
    confidence: float
    #: The colours of what is shown, the largest first; at least one.
    colours: Sequence[str]
    #: The colour of the background, and of the letters on it.
    paper: str | None
    ink: str | None
    #: The colours of the upper and the lower part, where they differ.
    halves: tuple[str, str] | None
    #: The colour in the middle, if it is none of `colours`.
    middle: str | None
    #: Which of nine parts of the picture the text is in, row by row from the top left, where that says something.
    place: int | None
    is_grey_photo: bool
    #: Whether a camera made it, by its EXIF and its tones: others may be painted or rendered.
    is_photo: bool
    is_plain: bool
    is_empty: bool
    is_transparent: bool
    is_animated: bool
    #: Whether it shows nothing: it is plain, empty, or a divider without text.
    is_ornament: bool


def find_facts(picture: Picture, reader: Reader) -> Facts:
    """Return the facts of a picture. Raises ReadingFailed."""
    image = picture.image
    texture, palette = texture_of(image), palette_of(image, picture.opaque)
    lines = reader.read(image, is_grainy=texture.is_photographic)
    genre = genre_of(picture, lines, palette, texture)
    worth = without_marks(lines)
    blocks, first = quotable(without_corners(worth) if genre in CORNERED else worth, genre)
    title, heading = (first, None) if genre in TITLED else (None, first)
    has_subject = _has_subject(blocks, title, genre)
    is_plain = texture.is_plain and not lines
    ink, paper = ink_of(image, lines) or (None, None)
    has_scene = genre in SCENES and not picture.has_transparency
    is_empty = picture.opaque is not None and not any(picture.opaque.histogram()[LEAST_OPAQUE:])
    is_scenic = has_scene and texture.even < LEAST_EVEN
    return Facts(
        genre=genre,
        blocks=blocks,
        title=title,
        heading=heading,
        has_subject=has_subject,
        confidence=PLAIN_CONFIDENCE if is_plain else _confidence(blocks, first, genre, has_subject=has_subject),
        colours=palette.main if is_scenic else palette.shown,
        # The largest colour of a scene is the sky or a wall, and no ground that something stands on.
        paper=None if is_scenic else palette.background,
        # Letters in a box have another ground than the picture.
        ink=ink if paper == palette.background else None,
        halves=None if picture.has_transparency or texture.is_grey else _halves_of(image),
        middle=_middle_of(image, palette) if has_scene else None,
        place=_place(worth) if blocks and genre in PLACED else None,
        is_grey_photo=genre == "photo" and texture.is_grey,
        is_photo=genre == "photo" and picture.is_exposed,
        is_plain=is_plain,
        is_empty=is_empty,
        is_transparent=picture.has_transparency,
        is_animated=picture.is_animated,
        is_ornament=is_plain or is_empty or (not lines and max(image.size) >= DIVIDER * min(image.size)),
    )


def _has_subject(blocks: Sequence[Block], title: Block | None, genre: Genre) -> bool:
    """Return whether the texts say what the picture is about: a chart's labels, or a badge in a photo, do not."""
    if genre == "chart":
        return title is not None
    worded = [block for block in blocks if is_word(block.text)]
    return any(block.height >= LEAST_SIGN for block in worded) if genre in SCENES else bool(worded)


def _confidence(blocks: Sequence[Block], first: Block | None, genre: Genre, *, has_subject: bool) -> float:
    """Return the OCR's confidence, weighted by block, times a factor; without a subject that of colours."""
    if not has_subject:
        return COLOUR_CONFIDENCE.get(genre, OTHER_CONFIDENCE)
    read = sum(block.score * block.weight for block in blocks) / sum(block.weight for block in blocks)
    factor = SCENE_FACTOR if genre in SCENES else TEXT_FACTOR if first is None or genre == "logo" else TITLE_FACTOR
    return round(min(read, 1.0) * factor, 3)


def _place(lines: Sequence[TextLine]) -> int | None:
    top, bottom = min(line.top for line in lines), max(line.bottom for line in lines)
    if bottom - top > TALLEST_TEXT:
        return None
    middle = (min(line.left for line in lines) + max(line.right for line in lines)) / 2
    column, row = (0 if at < ON_SIDE else 2 if at > 1 - ON_SIDE else 1 for at in (middle, (top + bottom) / 2))
    return 3 * row + column


def _middle_of(image: Image.Image, palette: DominantColours) -> str | None:
    """Return the colour in the middle; None if it is mixed, grey, or one of those of the whole."""
    width, height = image.size
    if min(width, height) < LEAST_PARTED:
        return None
    middle = image.crop((width // 3, height // 3, 2 * width // 3, 2 * height // 3))
    name, share = palette_of(middle).named[0]
    is_told = family(name) in {*GREYS, *map(family, palette.shown)}
    return name if share >= LEAST_MIDDLE and not is_told else None


def _halves_of(image: Image.Image) -> tuple[str, str] | None:
    """Return the colours at the top and at the bottom; None where one is mixed, or both are alike."""
    image = shrunk(image, LONGEST_COMPARED)
    if min(image.size) < LEAST_PARTED:
        return None
    third = image.height // 3
    parts = (image.crop((0, 0, image.width, third)), image.crop((0, image.height - third, image.width, image.height)))
    (top, top_share), (bottom, bottom_share) = (palette_of(part).named[0] for part in parts)
    differ = family(top) != family(bottom) or top.startswith("dark_") != bottom.startswith("dark_")
    return (top, bottom) if min(top_share, bottom_share) >= LEAST_HALF and differ else None
