"""Describing: the texts of each mode, written from the facts of a picture."""

from collections.abc import Mapping, Sequence

from capabilities.alt_text.engines import Mode
from capabilities.alt_text.engines.basic.blocks import chosen, cut_at_word
from capabilities.alt_text.engines.basic.colours import family
from capabilities.alt_text.engines.basic.facts import Facts
from capabilities.alt_text.engines.basic.notes import AuthorNote
from capabilities.alt_text.engines.basic.wording import Wording
from capabilities.alt_text.engines.text.shaping import LIMITS, fitted

#: Most texts that are quoted in the first phrase, and in the sentence of a long text that adds more.
MOST_QUOTED: dict[Mode, int] = {"short": 3, "seo": 3, "long": 12}
MOST_ADDED = 8
#: Characters of a long text for its first sentence, and for what follows its second.
ROOM_FOR_MAIN, ROOM_FOR_REST = 250, 80
#: Genres whose colours are not worth a word.
UNCOLOURED = ("document", "table", "chart")


def describe(facts: Facts, modes: Sequence[Mode], wording: Wording) -> dict[Mode, str]:
    """Return the text of each mode: its first phrase or sentence, and in longer modes what follows."""
    words = wording.words(facts)
    texts: dict[Mode, str] = {}
    for mode in modes:
        if facts.blocks:
            main = _quotation(facts, mode, wording, words)
        else:
            main = _appearance(facts, mode, wording).format(**words)
        further = [] if mode == "short" else _further(facts, main, mode, wording, words)
        texts[mode] = fitted([main, *further], mode)
    return texts


def quote_author(facts: Facts, said: AuthorNote, modes: Sequence[Mode], wording: Wording) -> dict[Mode, str]:
    """Return an author's words, which need not be in the wanted language, as a quotation."""
    words = wording.words(facts)
    quoted: dict[Mode, str] = {}
    for mode in modes:
        template = wording.form(mode).titled if said.is_title else wording.form(mode).authored
        room = LIMITS[mode] - len(template.format(**words, quotes=wording.quoted([""]))) - 1
        quoted[mode] = fitted([template.format(**words, quotes=wording.quoted([cut_at_word(said.text, room)]))], mode)
    return quoted


def _appearance(facts: Facts, mode: Mode, wording: Wording) -> str:
    """Return the template for a picture without text: its colours and its background."""
    form = wording.form(mode)
    if facts.is_grey_photo:
        return form.grey
    if facts.is_empty:
        return form.empty
    if facts.is_plain:
        return form.plain
    if facts.is_transparent:
        return form.coloured + wording.tail.on_nothing
    if facts.middle is not None and mode == "short":
        return form.coloured + wording.tail.middle
    if facts.paper is None or family(facts.paper) in map(family, facts.colours):
        return form.coloured
    return form.coloured + wording.tail.on_paper


def _quotation(facts: Facts, mode: Mode, wording: Wording, words: Mapping[str, str]) -> str:
    """Return the phrase or sentence that quotes the title, the first sentence, or the most conspicuous texts."""
    form, blocks = wording.form(mode), facts.blocks
    template = form.with_text
    if facts.title is not None:
        template, blocks = form.titled, [facts.title]
    elif facts.genre == "document":
        template, blocks = form.beginning, facts.blocks[:1]
    template += _colours_of_text(facts, mode, wording)
    room = (ROOM_FOR_MAIN if mode == "long" else LIMITS[mode]) - len(template.format(**words, quotes=""))
    texts = chosen(blocks, room, MOST_QUOTED[mode], wording.marks, facts.heading)
    return template.format(**words, quotes=wording.quoted(texts))


def _colours_of_text(facts: Facts, mode: Mode, wording: Wording) -> str:
    """Return the template for the colours behind a quotation."""
    if facts.is_transparent:
        return wording.tail.on_nothing
    if facts.title is not None or facts.genre in UNCOLOURED or facts.is_grey_photo:
        return ""
    if facts.paper is not None:
        return wording.tail.ink_on_paper if facts.ink else wording.tail.on_paper
    # In a sentence it would seem to be about the last quotation.
    return wording.tail.mostly if mode == "short" else ""


def _further(facts: Facts, main: str, mode: Mode, wording: Wording, words: Mapping[str, str]) -> list[str]:
    """Return the sentences after the first, the most important first."""
    further = [wording.further.animated] if facts.is_animated else []
    if facts.blocks:
        if mode == "long":
            further += _more_text(facts, " ".join([main, *further]), wording)
        is_coloured = facts.genre not in UNCOLOURED and not facts.is_grey_photo
        if is_coloured and facts.paper is None and not facts.is_transparent:
            further.append(wording.further.mostly.format(**words))
        if mode == "long" and facts.place is not None:
            further.append(wording.further.placed.format(place=wording.further.places[facts.place]))
        return further
    if facts.middle is not None:
        further.append(wording.further.middle.format(**words))
    if facts.halves is not None:
        further.append(wording.further.halves.format(**words))
    return further


def _more_text(facts: Facts, main: str, wording: Wording) -> list[str]:
    """Return a sentence that quotes more text, if there is more; of a document the next sentence."""
    # A quotation has no full stop at its end.
    others = [block for block in facts.blocks if block.text.removesuffix(".") not in main]
    if facts.genre == "document":
        others = list(facts.blocks[1:2])
    room = LIMITS["long"] - len(main) - len(wording.further.also_reads) - ROOM_FOR_REST
    texts = chosen(others, room, MOST_ADDED, wording.marks)
    return [wording.further.also_reads.format(quotes=wording.quoted(texts))] if texts else []
