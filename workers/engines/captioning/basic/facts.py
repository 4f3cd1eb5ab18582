"""Facts: what is found in one picture before a word is written about it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workers.engines.captioning.basic.blocks import Block, blocks_of
from workers.engines.captioning.basic.colours import ink_of, palette_of
from workers.engines.captioning.basic.genres import Genre, genre_of
from workers.engines.captioning.basic.numbers import value_of
from workers.engines.captioning.basic.ocr import Line, Reader
from workers.engines.captioning.basic.parts import halves_of, middle_of
from workers.engines.captioning.basic.texture import texture_of
from workers.media.images.picture import Picture

#: How far a description without text is believed, by genre: colours say little.
COLOUR_CONFIDENCE: dict[Genre, float] = {"photo": 0.3, "picture": 0.2}
OTHER_CONFIDENCE, PLAIN_CONFIDENCE = 0.25, 0.4
#: Genres that are more than their text; it counts for half of their confidence.
SCENES = frozenset(("photo", "picture"))
#: Genres whose first words may be a heading, and how much larger it is than all other words at least.
TITLED: dict[Genre, float] = {"chart": 0.85, "document": 1.2}
#: A heading has at most so many characters, and begins in the upper part of the picture.
LONGEST_TITLE, LOWEST_TITLE = 80, 0.3
#: A picture without a pixel as opaque as this, of 255, is empty.
LEAST_OPAQUE = 16


@dataclass(frozen=True, slots=True)
class Facts:
    """What was found in a picture; colours are names of colours.NAMES."""

    genre: Genre
    #: The texts that may be quoted, in the order of reading.
    blocks: Sequence[Block]
    title: Block | None
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
    is_grey: bool
    is_plain: bool
    is_empty: bool
    is_transparent: bool
    is_animated: bool


def find_facts(picture: Picture, reader: Reader) -> Facts:
    """Return what can be found out about a picture. Raises ReadingFailed."""
    image = picture.image
    texture, palette = texture_of(image), palette_of(image, picture.opaque)
    lines = reader.read(image, is_grainy=texture.is_photographic)
    genre = genre_of(picture, lines, palette, texture)
    blocks = _quotable(lines, genre)
    is_plain = texture.is_plain and not lines
    ink, paper = ink_of(image, _largest(lines)) or (None, None)
    has_scene = genre in SCENES and not picture.has_transparency
    return Facts(
        genre=genre,
        blocks=blocks,
        title=_title(blocks, genre),
        confidence=PLAIN_CONFIDENCE if is_plain else _confidence(blocks, genre),
        colours=palette.shown,
        paper=palette.background,
        # Letters in a box have a ground of their own; their colours must not be told of the whole.
        ink=ink if paper == palette.background else None,
        halves=None if picture.has_transparency or texture.is_grey else halves_of(image),
        middle=middle_of(image, palette) if has_scene else None,
        is_grey=texture.is_grey,
        is_plain=is_plain,
        is_empty=picture.opaque is not None and not any(picture.opaque.histogram()[LEAST_OPAQUE:]),
        is_transparent=picture.has_transparency,
        is_animated=picture.is_animated,
    )


def _quotable(lines: Sequence[Line], genre: Genre) -> list[Block]:
    """Return the texts to quote: of a chart and a table the words alone, of a table the first ones first.

    Numbers mean nothing away from their axis, row and column."""
    blocks = blocks_of(lines)
    if genre not in ("chart", "table"):
        return blocks
    worded = [block for block in blocks if sum(map(str.isalpha, block.text)) > 1 and not block.text[0].isdigit()]
    worded = [block for block in worded if value_of(block.text) is None]
    return worded if genre == "chart" else [replace(block, weight=1 / place) for place, block in enumerate(worded, 1)]


def _title(blocks: Sequence[Block], genre: Genre) -> Block | None:
    """Return the heading: the first words, if they are in the largest letters or stand alone over running text."""
    worded = [block for block in blocks if value_of(block.text) is None]
    if genre not in TITLED or not worded:
        return None
    first, *others = worded
    is_larger = first.height >= TITLED[genre] * max((block.height for block in others), default=0)
    is_apart = genre == "document" and bool(others) and len(others[0].text) > LONGEST_TITLE
    is_heading = is_larger or (is_apart and first.text[-1] not in ".!?…:,;")
    return first if is_heading and len(first.text) <= LONGEST_TITLE and first.top <= LOWEST_TITLE else None


def _confidence(blocks: Sequence[Block], genre: Genre) -> float:
    """Return how surely the text was read; without any, and of scenes, how far colours are believed."""
    colours = COLOUR_CONFIDENCE.get(genre, OTHER_CONFIDENCE)
    if not blocks:
        return colours
    read = sum(block.score * block.weight for block in blocks) / sum(block.weight for block in blocks)
    return round((read + colours) / 2 if genre in SCENES else min(read, 1.0), 3)


def _largest(lines: Sequence[Line]) -> list[tuple[float, float, float, float]]:
    """Return the boxes of the lines with about the largest letters; their colours are told."""
    tallest = max((line.height for line in lines), default=0)
    return [(line.left, line.top, line.right, line.bottom) for line in lines if line.height >= tallest * 0.7]
