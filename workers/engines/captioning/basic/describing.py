"""Describing: what `basic` found in a picture, as texts of each mode."""

from collections.abc import Sequence
from dataclasses import dataclass

from workers.engines.captioning import Mode
from workers.engines.captioning.basic.bars import Readings
from workers.engines.captioning.basic.blocks import Block, chosen, cut_at_word
from workers.engines.captioning.basic.charts import Axis
from workers.engines.captioning.basic.colours import family
from workers.engines.captioning.basic.genres import Genre
from workers.engines.captioning.basic.tables import Table
from workers.engines.captioning.basic.wordings.wording import Wording
from workers.engines.captioning.text.shaping import LIMITS, fitted, split_sentences

#: Most texts that are quoted in a phrase, and in the sentence of a long text that adds more.
MOST_QUOTED: dict[Mode, int] = {"short": 3, "seo": 3, "long": 12}
MOST_ADDED = 8
#: Most rows of a table that are told.
MOST_ROWS = 6
#: What a long text keeps for its first sentence, and for what follows its second.
ROOM_FOR_MAIN, ROOM_FOR_REST = 250, 80
#: Of these, colours say little.
UNCOLOURED = ("page", "document", "table", "code", "chart", "bar_chart", "level_bar_chart", "grey_photo")


@dataclass(frozen=True, slots=True)
class Facts:
    """What was found in a picture."""

    genre: Genre
    blocks: Sequence[Block]
    colours: Sequence[str]
    paper: str | None
    ink: str | None
    halves: tuple[str, str] | None
    #: The colour in the middle, if it is another than those of the whole.
    middle: str | None
    is_transparent: bool
    is_animated: bool
    axis: Axis | None = None
    #: The first and the last label along an upright axis.
    ends: tuple[str, str] | None = None
    #: Which of nine parts the text stands in, row by row from the top left; None: it fills more than one.
    place: int | None = None
    bars: Readings | None = None
    table: Table | None = None
    title: Block | None = None
    is_empty: bool = False


def describe(facts: Facts, mode: Mode, wording: Wording) -> str:
    """Return the text of a mode."""
    if mode == "short":
        return fitted([_main(facts, mode, wording, is_sentence=False)], mode)
    main = _main(facts, mode, wording, is_sentence=True)
    return fitted([main, *_rest(facts, main, wording, mode)], mode)


def quote_author(facts: Facts, text: str, mode: Mode, wording: Wording) -> str:
    """Return an author's words in another language than the wanted one, as a quotation."""
    template = wording.authored if mode == "short" else wording.author_says
    frame = len(_filled(template, facts, wording, quote=wording.quoted([""])))
    return fitted(
        [_filled(template, facts, wording, quote=wording.quoted([cut_at_word(text, LIMITS[mode] - frame - 1)]))], mode
    )


def _main(facts: Facts, mode: Mode, wording: Wording, *, is_sentence: bool) -> str:
    """Return the one phrase or sentence that says what there is."""
    if facts.table is not None and facts.title is None:
        return _columns(facts, facts.table, mode, wording, is_sentence=is_sentence)
    if not facts.blocks:
        return _without_text(facts, wording, is_sentence=is_sentence)
    tail = _tail(facts, wording, is_sentence=is_sentence)
    texts = _texts(facts, mode, wording, tail, is_sentence=is_sentence)
    return _filled(_template(facts, wording, is_sentence), facts, wording, **texts) + tail


def _columns(facts: Facts, table: Table, mode: Mode, wording: Wording, *, is_sentence: bool) -> str:
    """Return the names of a table's columns; the first ones as mere text where not all of them fit."""
    all_, some = (wording.has_columns, wording.reads) if is_sentence else (wording.columns, wording.with_text)
    said = _filled(all_, facts, wording, quotes=wording.quoted(table.columns))
    limit = LIMITS[mode] - 1
    names = list(table.columns)
    while len(said) > limit and len(names) > 1:
        names.pop()
        said = _filled(some, facts, wording, quotes=wording.quoted(names))
    return said


def _without_text(facts: Facts, wording: Wording, *, is_sentence: bool) -> str:
    if facts.is_empty:
        return wording.is_empty if is_sentence else wording.empty
    if facts.genre == "plain":
        return _filled(wording.all_in if is_sentence else wording.plain, facts, wording)
    ground = _ground(facts, wording)
    if is_sentence:
        return wording.is_grey if facts.genre == "grey_photo" else _filled(wording.shows, facts, wording) + ground
    noun = wording.nouns[facts.genre][0]
    if facts.genre == "grey_photo":
        return noun
    if facts.is_transparent:
        return noun + ground + _filled(wording.mostly_after, facts, wording)
    centre = wording.centred.format(middle=wording.colour(facts.middle)) if facts.middle else ""
    return noun + _filled(wording.mostly, facts, wording) + (centre or ground)


def _ground(facts: Facts, wording: Wording) -> str:
    """Return what a drawing or an object stands on; nothing for a scene."""
    if facts.is_transparent:
        return wording.on_nothing
    if facts.paper is None or family(facts.paper) in map(family, facts.colours):
        return ""
    return _filled(wording.on_paper, facts, wording)


def _template(facts: Facts, wording: Wording, is_sentence: bool) -> str:
    if facts.title is not None:
        return wording.is_titled if is_sentence else wording.titled
    if facts.genre in ("page", "code"):
        return wording.begins if is_sentence else wording.beginning
    return wording.reads if is_sentence else wording.with_text


def _texts(facts: Facts, mode: Mode, wording: Wording, tail: str, *, is_sentence: bool) -> dict[str, str]:
    """Return the quotations that fit."""
    marks = len(wording.quoted([""])) + 2
    empty = _filled(_template(facts, wording, is_sentence), facts, wording, quote="", quotes="")
    room = (ROOM_FOR_MAIN if mode == "long" else LIMITS[mode]) - len(empty) - len(tail)
    if facts.title is not None:
        return {"quote": wording.quoted([cut_at_word(facts.title.text, room - marks)])}
    if facts.genre in ("page", "code"):
        return {"quote": wording.quoted([cut_at_word(_sentences(facts.blocks)[0], room - marks)])}
    return {"quotes": wording.quoted([block.text for block in chosen(facts.blocks, room, MOST_QUOTED[mode], marks)])}


def _tail(facts: Facts, wording: Wording, *, is_sentence: bool) -> str:
    """Return the colours behind a quotation."""
    if facts.is_transparent:
        return wording.on_nothing
    if facts.title is not None or facts.genre in UNCOLOURED:
        return ""
    if facts.paper is not None:
        return _filled(wording.ink_on_paper if facts.ink else wording.on_paper, facts, wording)
    # In a sentence it would seem to be said of the last quotation.
    return "" if is_sentence else _filled(wording.mostly_after, facts, wording)


def _rest(facts: Facts, main: str, wording: Wording, mode: Mode) -> list[str]:
    """Return the sentences that follow the first, the most telling first."""
    rest = [*_chart(facts, main, wording, mode), *_rows(facts, main, wording, mode)]
    if facts.is_animated:
        rest.append(wording.animated)
    if mode == "long":
        rest += _added_text(facts, " ".join([main, *rest]), wording)
    if facts.blocks and facts.paper is None and facts.genre not in UNCOLOURED and not facts.is_transparent:
        rest.append(_filled(wording.is_mostly, facts, wording))
    if facts.middle is not None and not facts.blocks:
        middle = {"middle": wording.colour(facts.middle), "the_middle": wording.definite([facts.middle])}
        rest.append(wording.centre.format(**middle))
    if facts.halves is not None and not facts.blocks:
        rest.append(_filled(wording.halves, facts, wording))
    if mode == "long" and facts.place is not None:
        rest.append(wording.placed.format(place=wording.places[facts.place]))
    return rest


def _chart(facts: Facts, main: str, wording: Wording, mode: Mode) -> list[str]:
    """Return what a chart's bars say, or where its axes end if they say nothing, or more than fits."""
    if facts.bars is not None:
        pairs = [wording.pair.format(value=value, label=wording.quoted([label])) for label, value in facts.bars.pairs]
        template = wording.bars if facts.bars.is_exact else wording.bars_about
        said = template.format(pairs=wording.listed(pairs))
        if len(main) + len(said) + 2 <= LIMITS[mode]:
            return [said]
    return _axes(facts, wording)


def _rows(facts: Facts, main: str, wording: Wording, mode: Mode) -> list[str]:
    """Return what a table says, as far as it fits: its columns, if its title went before them, and its first rows."""
    if facts.table is None:
        return []
    said = []
    if facts.title is not None:
        said.append(_filled(wording.has_columns, facts, wording, quotes=wording.quoted(facts.table.columns)) + ".")
    texts = [("; " if any("," in cell for cell in row) else ", ").join(row) for row in facts.table.rows]
    left = LIMITS[mode] - len(main) - sum(map(len, said)) - len(said) - 2
    for count in range(min(len(texts), MOST_ROWS), 1, -1):
        rows = wording.rows.format(quotes=wording.quoted(texts[:count]))
        if len(rows) <= left:
            return [*said, rows]
    return said


def _axes(facts: Facts, wording: Wording) -> list[str]:
    if facts.axis is None:
        return []
    said = [wording.axis.format(high=facts.axis.highest)]
    if facts.ends is not None:
        first, last = (wording.quoted([label]) for label in facts.ends)
        said.append(wording.across.format(first=first, last=last))
    return said


def _added_text(facts: Facts, main: str, wording: Wording) -> list[str]:
    """Return a sentence of what else is to be read, if there is more."""
    # A quotation has no full stop at its end.
    others = [block for block in facts.blocks if block.text.removesuffix(".") not in main]
    marks = len(wording.quoted([""])) + 2
    room = LIMITS["long"] - len(main) - len(wording.also_reads) - ROOM_FOR_REST
    if facts.genre == "page":
        said = _sentences(facts.blocks if facts.title is None else others)[facts.title is None :]
        texts = [cut_at_word(said[0], room)] if said else []
    else:
        texts = [block.text for block in chosen(others, room, MOST_ADDED, marks)]
    return [wording.also_reads.format(quotes=wording.quoted(texts))] if any(texts) else []


def _sentences(blocks: Sequence[Block]) -> list[str]:
    """Return the sentences of running text: each is quoted by itself, so that a text of three has no more."""
    return split_sentences(" ".join(block.text for block in blocks))


def _filled(template: str, facts: Facts, wording: Wording, **texts: str) -> str:
    """Return a template with a picture's nouns and colours."""
    noun, the = wording.nouns[facts.genre]
    top, bottom = facts.halves or (facts.colours[0], facts.colours[0])
    return template.format(
        noun=noun,
        the=the,
        colours=wording.plainly(facts.colours),
        definite=wording.definite(facts.colours),
        some=wording.some(facts.colours),
        ending=wording.endings[len(facts.colours) > 1],
        ink=wording.colour(facts.ink or facts.colours[0]),
        colour=wording.colour(facts.paper or facts.colours[0]),
        paper=wording.paper(facts.paper or facts.colours[0]),
        top=wording.colour(top),
        bottom=wording.colour(bottom),
        the_top=wording.definite([top]),
        the_bottom=wording.definite([bottom]),
        **texts,
    )


def differ(one: str, other: str) -> bool:
    """Return whether two colours are worth telling apart."""
    return family(one) != family(other) or one.startswith("dark_") != other.startswith("dark_")
