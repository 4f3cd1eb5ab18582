"""Describing: the facts of a picture as the text of a mode."""

from collections.abc import Mapping, Sequence

from workers.engines.captioning import Mode
from workers.engines.captioning.basic.blocks import Block, chosen, cut_at_word
from workers.engines.captioning.basic.colours import family
from workers.engines.captioning.basic.facts import Facts
from workers.engines.captioning.basic.wording import Form, Wording
from workers.engines.captioning.text.shaping import LIMITS, fitted, split_sentences

Words = Mapping[str, str]

#: Most texts that are quoted in the first phrase, and in the sentence of a long text that adds more.
MOST_QUOTED: dict[Mode, int] = {"short": 3, "seo": 3, "long": 12}
MOST_ADDED = 8
#: Characters that a long text has for its first sentence, and keeps for what follows its second.
ROOM_FOR_MAIN, ROOM_FOR_REST = 250, 80
#: Of these, colours say little.
UNCOLOURED = ("document", "table", "chart")


def describe(facts: Facts, mode: Mode, wording: Wording) -> str:
    """Return the text of a mode: its first phrase or sentence, and in longer modes what follows."""
    words = words_of(facts, wording)
    form = wording.phrase if mode == "short" else wording.sentence
    if facts.blocks:
        main = _quotation(facts, mode, wording, form, words)
    else:
        main = (form.grey if _is_grey_photo(facts) else _appearance(facts, mode, wording, form)).format(**words)
    return fitted([main] if mode == "short" else [main, *_further(facts, main, mode, wording, words)], mode)


def quote_author(facts: Facts, text: str, mode: Mode, wording: Wording) -> str:
    """Return an author's words in another language than the wanted one, as a quotation."""
    words = words_of(facts, wording)
    template = (wording.phrase if mode == "short" else wording.sentence).authored
    room = LIMITS[mode] - len(template.format(**words, quotes=wording.quoted([""]))) - 1
    return fitted([template.format(**words, quotes=wording.quoted([cut_at_word(text, room)]))], mode)


def words_of(facts: Facts, wording: Wording) -> Words:
    """Return the words that templates have in braces, all but {quotes}."""
    noun, the = wording.nouns["grey_photo" if _is_grey_photo(facts) else facts.genre]
    first = facts.colours[0]
    top, bottom = facts.halves or (first, first)
    return {
        "noun": noun,
        "the": the,
        "colours": wording.listed([wording.colours[name] for name in facts.colours]),
        "definite": wording.definite(facts.colours),
        "some": wording.some(facts.colours),
        "ending": wording.endings[len(facts.colours) > 1],
        "ink": wording.colours[facts.ink or first],
        "colour": wording.colours[facts.paper or first],
        "paper": wording.paper(facts.paper or first),
        "top": wording.colours[top],
        "bottom": wording.colours[bottom],
        "the_top": wording.definite([top]),
        "the_bottom": wording.definite([bottom]),
        "middle": wording.colours[facts.middle or first],
        "the_middle": wording.definite([facts.middle or first]),
    }


def _is_grey_photo(facts: Facts) -> bool:
    return facts.genre == "photo" and facts.is_grey


def _appearance(facts: Facts, mode: Mode, wording: Wording, form: Form) -> str:
    """Return the template for a picture without text: its colours, and what it stands on."""
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


def _quotation(facts: Facts, mode: Mode, wording: Wording, form: Form, words: Words) -> str:
    """Return the phrase or sentence that quotes the title, the beginning, or the most conspicuous texts."""
    is_running = facts.genre == "document" and facts.title is None
    template = form.titled if facts.title is not None else form.beginning if is_running else form.with_text
    template += _colours_of_text(facts, mode, wording)
    marks = len(wording.quoted([""])) + 2
    room = (ROOM_FOR_MAIN if mode == "long" else LIMITS[mode]) - len(template.format(**words, quotes=""))
    if facts.title is not None:
        texts = [cut_at_word(facts.title.text, room - marks)]
    elif is_running:
        texts = [cut_at_word(_sentences(facts.blocks)[0], room - marks)]
    else:
        texts = [block.text for block in chosen(facts.blocks, room, MOST_QUOTED[mode], marks)]
    return template.format(**words, quotes=wording.quoted(texts))


def _colours_of_text(facts: Facts, mode: Mode, wording: Wording) -> str:
    """Return the template for the colours behind a quotation."""
    if facts.is_transparent:
        return wording.tail.on_nothing
    if facts.title is not None or facts.genre in UNCOLOURED or _is_grey_photo(facts):
        return ""
    if facts.paper is not None:
        return wording.tail.ink_on_paper if facts.ink else wording.tail.on_paper
    # In a sentence it would seem to be said of the last quotation.
    return wording.tail.mostly if mode == "short" else ""


def _further(facts: Facts, main: str, mode: Mode, wording: Wording, words: Words) -> list[str]:
    """Return the sentences that follow the first, the most telling first."""
    further = [wording.further.animated] if facts.is_animated else []
    if facts.blocks:
        if mode == "long":
            further += _more_text(facts, " ".join([main, *further]), wording)
        is_coloured = facts.genre not in UNCOLOURED and not _is_grey_photo(facts)
        if is_coloured and facts.paper is None and not facts.is_transparent:
            further.append(wording.further.mostly.format(**words))
        return further
    if facts.middle is not None:
        further.append(wording.further.middle.format(**words))
    if facts.halves is not None:
        further.append(wording.further.halves.format(**words))
    return further


def _more_text(facts: Facts, main: str, wording: Wording) -> list[str]:
    """Return a sentence that quotes more text, if there is more."""
    # A quotation has no full stop at its end.
    others = [block for block in facts.blocks if block.text.removesuffix(".") not in main]
    room = LIMITS["long"] - len(main) - len(wording.further.also_reads) - ROOM_FOR_REST
    if facts.genre == "document":
        rest = _sentences(facts.blocks)[1:] if facts.title is None else _sentences(others)
        texts = [cut_at_word(rest[0], room)] if rest else []
    else:
        marks = len(wording.quoted([""])) + 2
        texts = [block.text for block in chosen(others, room, MOST_ADDED, marks)]
    return [wording.further.also_reads.format(quotes=wording.quoted(texts))] if any(texts) else []


def _sentences(blocks: Sequence[Block]) -> list[str]:
    """Return the sentences of running text."""
    return split_sentences(" ".join(block.text for block in blocks))
