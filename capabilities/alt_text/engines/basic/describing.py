"""Describing: the texts of each mode, written from the facts of a picture."""

from collections.abc import Sequence

from capabilities.alt_text.engines import Mode
from capabilities.alt_text.engines.basic.facts import Facts
from capabilities.alt_text.engines.basic.notes import AuthorNote
from capabilities.alt_text.engines.basic.texts import chosen, cut_at_word, without_labels
from capabilities.alt_text.engines.basic.wording import Wording
from capabilities.alt_text.engines.text.shaping import LIMITS, fitted

#: Most texts that are quoted.
MOST_QUOTED: dict[Mode, int] = {"short": 3, "seo": 3, "long": 12}


def describe(facts: Facts, modes: Sequence[Mode], wording: Wording) -> dict[Mode, str]:
    """Return the text of each mode: what it reads, or else its colours."""
    texts: dict[Mode, str] = {}
    for mode in modes:
        said = [_quotation(facts, mode, wording) if facts.blocks else _appearance(facts, wording)]
        if mode != "short" and facts.is_animated:
            said.append(wording["animated"])
        texts[mode] = fitted(said, mode)
    return texts


def quote_author(facts: Facts, said: AuthorNote, modes: Sequence[Mode], wording: Wording) -> dict[Mode, str]:
    """Return an author's words, which need not be in the wanted language, as a quotation."""
    template, noun = wording["titled" if said.is_title else "authored"], wording[facts.noun]
    quoted: dict[Mode, str] = {}
    for mode in modes:
        room = LIMITS[mode] - len(template.format(noun=noun, quotes=wording.quoted([""]))) - 1
        quoted[mode] = fitted([template.format(noun=noun, quotes=wording.quoted([cut_at_word(said.text, room)]))], mode)
    return quoted


def _quotation(facts: Facts, mode: Mode, wording: Wording) -> str:
    """Return the phrase that quotes the beginning of a document, or the most conspicuous texts."""
    template, noun = wording["begins" if facts.noun == "document" else "reads"], wording[facts.noun]
    blocks = facts.blocks[:2] if facts.noun == "document" else facts.blocks
    if mode != "long":
        blocks = without_labels(blocks)
    room = LIMITS[mode] - len(template.format(noun=noun, quotes="")) - 1
    texts = chosen(blocks, room, MOST_QUOTED[mode], wording.marks)
    return template.format(noun=noun, quotes=wording.quoted(texts))


def _appearance(facts: Facts, wording: Wording) -> str:
    """Return the phrase for a picture without text: its colours and its ground."""
    if facts.is_empty:
        return wording["empty"]
    if facts.is_plain:
        return wording["plain"].format(colours=wording.painted(facts.colours, None))
    if facts.noun == "grey":
        return wording["grey"]
    return wording["coloured"].format(noun=wording[facts.noun], colours=wording.painted(facts.colours, facts.paper))
