"""basic: what can be said of a picture without a model's weights: its author's words, its text, its colours.

It never names what it did not recognise, and says "photo" or "screenshot" only where measured marks prove it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from pipeline.errors import PressroomError
from pipeline.kinds.alt_text.fields import require_language
from pipeline.settings import Settings
from workers.engines import Stopped, never
from workers.engines.captioning import Caption, Captions, Mode, Wish
from workers.engines.captioning.basic.blocks import Block, blocks_of
from workers.engines.captioning.basic.charts import ends_of, value_of
from workers.engines.captioning.basic.colours import ink_of, palette_of
from workers.engines.captioning.basic.describing import Facts, describe, quote_author
from workers.engines.captioning.basic.genres import Finding, code_in, genre_of, texture_of
from workers.engines.captioning.basic.notes import told_elsewhere, told_in
from workers.engines.captioning.basic.ocr import Line, Reader
from workers.engines.captioning.basic.parts import halves_of, middle_of
from workers.engines.captioning.basic.wordings import WORDINGS
from workers.engines.captioning.text.cleaning import TAG, visible
from workers.engines.captioning.text.shaping import shape
from workers.media.images.picture import Picture

#: How far each kind of note is believed; a title names more than it describes.
NOTE_CONFIDENCE = {"alt_text": 0.9, "caption": 0.8, "title": 0.6}
#: A note in a language that was not asked for.
FOREIGN_CONFIDENCE = 0.5
#: Colours and a genre say little: without text, or with it in a photo, where it is the lesser part.
COLOUR_CONFIDENCE = {"plain": 0.4, "photo": 0.3, "grey_photo": 0.3, "illustration": 0.3, "icon": 0.25, "picture": 0.2}
#: Genres whose first words may be a heading.
TITLED = frozenset(("chart", "bar_chart", "level_bar_chart", "page", "document"))
#: Longer words at the top are no heading.
LONGEST_TITLE = 80
#: Words farther down, as a share of the height, are an axis's name.
LOWEST_TITLE = 0.3
#: More than two hardly read faster.
THREADS = 2
YEAR = re.compile(r"(?:19|20)\d\d")
#: Text that takes more than this of the height is everywhere; and its middle is this near to an edge, or in the middle.
TALLEST_TEXT, NEAR_EDGE = 0.6, 0.4
#: Of these, where the text stands says something.
PLACED = frozenset(("banner", "graphic", "illustration", "logo", "photo", "grey_photo", "picture", "animation"))
#: Of these, the colour of what stands in the middle is told where no other part has it: a flower before leaves.
SCENES = frozenset(("photo", "picture"))
#: Opaque to less than this, of 255, nothing is to be seen.
LEAST_SEEN = 16


class Basic:
    """The engine that is always there."""

    name = "basic"
    #: It gains nothing from more.
    batch = 1

    def __init__(self, reader: Reader | None = None) -> None:
        self._reader = reader or Reader()

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the engine."""
        return cls(Reader(settings.captioning.threads or THREADS))

    def readiness(self) -> str | None:
        """Return what is missing before it can be set up: nothing."""
        return None

    def setup(self) -> None:
        """Do nothing: the models that read text are loaded with the first picture."""

    def offer(self) -> Mapping[str, Any]:
        """Return what the API should know of it."""
        return {"languages": list(self.languages())}

    def languages(self) -> Sequence[str]:
        """Return the languages it writes."""
        return list(WORDINGS)

    def caption(
        self, wishes: Sequence[Wish], *, stop: Callable[[], bool] = never
    ) -> Sequence[Captions | PressroomError]:
        """Return the texts of each picture, or why it has none, in order. Raises Stopped between two pictures."""
        results: list[Captions | PressroomError] = []
        for wish in wishes:
            if stop():
                raise Stopped
            try:
                results.append(self._captions(wish))
            except PressroomError as error:
                results.append(error)
        return results

    def _captions(self, wish: Wish) -> Captions:
        require_language(wish.language, self.languages())
        told = told_in(wish.picture.notes, wish.language)
        if told and set(wish.modes) <= {"short", "seo"}:
            # Reading the picture's own text takes half a second, and the author's words need none of it.
            return {mode: _told(told, mode) for mode in wish.modes}
        facts = self.facts(wish.picture)
        wording = WORDINGS[wish.language]
        if told:
            return {mode: _told(told, mode, describe(facts, mode, wording)) for mode in wish.modes}
        foreign = told_elsewhere(wish.picture.notes, wish.language)
        if foreign and not facts.blocks:
            return {
                mode: Caption(quote_author(facts, foreign[0][0], mode, wording), FOREIGN_CONFIDENCE)
                for mode in wish.modes
            }
        return {mode: Caption(describe(facts, mode, wording), _confidence(facts)) for mode in wish.modes}

    def facts(self, picture: Picture) -> Facts:
        """Return what can be found out about a picture."""
        texture, palette = texture_of(picture.image), palette_of(picture.image, picture.opaque)
        lines = self._reader.read(picture.image, is_grainy=texture.is_photographic)
        found = genre_of(picture, lines, palette, texture)
        blocks = _worth_quoting(lines, found)
        ink, paper = ink_of(picture.image, _largest(lines)) or (None, None)
        return Facts(
            genre=found.genre,
            blocks=blocks,
            colours=palette.shown,
            paper=palette.background,
            # Of letters in a box of their own, the colours would be told of the whole.
            ink=ink if paper == palette.background else None,
            halves=None if picture.has_transparency or texture.is_grey else halves_of(picture.image),
            middle=middle_of(picture.image, palette) if found.genre in SCENES else None,
            is_transparent=picture.has_transparency,
            is_animated=picture.is_animated,
            is_empty=picture.opaque is not None and not any(picture.opaque.histogram()[LEAST_SEEN:]),
            axis=None if found.is_key else found.axis,
            ends=ends_of(found.labels),
            bars=found.bars,
            table=found.table,
            place=_place(lines) if blocks and found.genre in PLACED else None,
            title=_title(blocks, found),
        )


def _told(told: Sequence[tuple[str, Any]], mode: Mode, described: str = "") -> Caption:
    """Return an author's words; a long text has all notes that say something new, and what was found."""
    first, note = told[0]
    text = shape(first, mode, is_generated=False)
    if mode == "long":
        for other, _ in told[1:]:
            if other.casefold().rstrip(".") not in text.casefold():
                text = f"{text} {shape(other, 'long', is_generated=False)}"
        text = shape(f"{text} {described}", "long", is_generated=False)
    return Caption(text, NOTE_CONFIDENCE.get(note.field, 0.6))


def _confidence(facts: Facts) -> float:
    colours = COLOUR_CONFIDENCE.get(facts.genre, 0.25)
    if facts.table is not None:
        return round(min(facts.table.score, 1.0), 3)
    if not facts.blocks:
        return colours
    read = sum(block.score * block.weight for block in facts.blocks) / sum(block.weight for block in facts.blocks)
    return round((read + colours) / 2 if facts.genre in ("photo", "grey_photo", "picture") else min(read, 1.0), 3)


def _worth_quoting(lines: Sequence[Line], found: Finding) -> list[Block]:
    """Return the blocks without the marks of axes; of a program its first line, of a table its words, first ones first.

    A table's numbers mean nothing away from their rows and columns."""
    if found.genre == "code":
        return [_code(line) for line in code_in(lines)[:1]]
    blocks = blocks_of(lines)
    if found.table is not None:
        return blocks_of([line for line in lines if line not in found.table.cells])
    if found.genre == "table":
        worded = [block for block in blocks if value_of(block.text) is None]
        return [replace(block, weight=1 / place) for place, block in enumerate(worded, 1)]
    told = {line.text for line in _marks(found)} | set(found.bars.texts if found.bars else ())
    has_marks = found.genre in ("chart", "bar_chart") and found.bars is None
    return [block for block in blocks if block.text not in told and not (has_marks and _is_mark(block))]


def _marks(found: Finding) -> Iterator[Line]:
    """Yield what is told of an axis, and so not quoted."""
    if found.axis is not None:
        yield from found.axis.marks
        yield from [found.axis.power] if found.axis.power else []
        yield from found.labels if ends_of(found.labels) else []


def _code(line: Line) -> Block:
    """Return a line of a program as it stands there: brackets with nothing in them mean something."""
    return Block(" ".join(TAG.sub(" ", visible(line.text)).split()), line.score, 1.0, line.height, line.top)


def _is_mark(block: Block) -> bool:
    """Return whether a text in a chart is a mere number, as they stand at its other axis; a year may say something."""
    return value_of(block.text) is not None and "%" not in block.text and not YEAR.fullmatch(block.text)


def _title(blocks: Sequence[Block], found: Finding) -> Block | None:
    """Return the heading of a chart or a page: the first words, in the largest letters, or alone over running text."""
    worded = [block for block in blocks if value_of(block.text) is None]
    if not (found.genre in TITLED or found.table is not None) or not worded:
        return None
    first, *others = worded
    larger = 1.2 if found.genre in ("page", "document") else 0.85
    is_larger = first.height >= larger * max((block.height for block in others), default=0)
    is_apart = found.genre == "page" and bool(others) and len(others[0].text) > LONGEST_TITLE
    is_heading = is_larger or (is_apart and first.text[-1] not in ".!?…:,;")
    return first if is_heading and len(first.text) <= LONGEST_TITLE and first.top <= LOWEST_TITLE else None


def _largest(lines: Sequence[Line]) -> list[tuple[float, float, float, float]]:
    """Return where the lines are whose colour is told: those of about the largest letters."""
    tallest = max((line.height for line in lines), default=0)
    return [(line.left, line.top, line.right, line.bottom) for line in lines if line.height >= tallest * 0.7]


def _place(lines: Sequence[Line]) -> int | None:
    """Return which of nine parts of the picture the text is in, row by row from the top left."""
    top, bottom = min(line.top for line in lines), max(line.bottom for line in lines)
    if bottom - top > TALLEST_TEXT:
        return None
    middle = (min(line.left for line in lines) + max(line.right for line in lines)) / 2
    column, row = (0 if at < NEAR_EDGE else 2 if at > 1 - NEAR_EDGE else 1 for at in (middle, (top + bottom) / 2))
    return 3 * row + column
