"""Sentences: where a reader would end a sentence, in any language, and texts cut into chunks of whole sentences.

The package sentencex knows abbreviations and the marks of many scripts. This module keeps from it what it can't take
(blank lines lose characters, white space other than a plain space makes it panic), and mends what it gets wrong.

Chunks keep every character, so `"".join(chunks) == text`: white space stays at the end of the chunk before it (at the
start of the first), where it does not count against the limit. Engines get `chunk.strip()`.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Any

import sentencex

from capabilities.speech.normalization.language import language_data
from pipeline.offers.languages import base_language

#: A line of at least so many characters may continue in the next one: its author wrapped the text.
WRAPPED = 60
#: Characters that sentencex gets at once, since its time grows with the square of the quotation marks.
WINDOW = 4_000

LINE = re.compile(r"[^\n]*\n\s*|[^\n]+\Z")
LIST_ITEM = re.compile(r"[-*•–—·#>]|\d+[.)]\s")
FINISHED = re.compile(r"[.!?…:;。！？][\"'”’»)\]]*\s*\Z")
SPACE = re.compile(r"\s")
#: An opening quotation mark or bracket. To sentencex a quotation is one sentence, however long.
OPENING = re.compile(r"(?:(?<=\s)|\A)[\"'“„«‘(\[「『](?=\S)|[「『“„«]")
SURROGATE = re.compile("[\ud800-\udfff]")
#: A full stop without the usual white space after it: J.-C., Yahoo!Answers.
UNSPACED = re.compile(r"[.!?…\"'”’)\]»]\Z")
LIST_NUMBER = re.compile(r"\s*\(?\d{1,3}[.)]\s*")
LAST_WORD = re.compile(r"[^\s(\[\"“„«'’]{1,20}\s*\Z")
LAST_INITIAL = re.compile(r"(?<!\w)[^\W\d_]\.\s*\Z")
FIRST_INITIAL = re.compile(r"[^\W\d_]\.")
FIRST_WORD = re.compile(r"\w+")
NUMBER = re.compile(r"[(\[]?(?:\d|[IVXLC]+\b)")
ORDINAL = re.compile(r"(?<!\w)(\w{1,10})\s+\d{1,3}\.\s*\Z")
#: End of a clause; none in 10,000 or 12:30.
CLAUSE_END = re.compile(r"(?:[,;:](?=\s)|[，、；：،؛—])\s*|\s[-–]\s+")

SPACES = re.compile(r"\s+")
#: Characters that belong to the one before them, though not combining: joiners, emoji modifiers, and the second half
#: of a character outside the first plane in JSON.
JOINED = re.compile("[\u200c\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\udc00-\udfff]")
JOINER = "\u200d"


def sentences(text: str, language: str, *, in_quotes: bool = False) -> Iterator[str]:
    """Yield the sentences of a text, each with the white space after it; joined, they are the text.

    `language` is a tag such as pt-BR; one that sentencex doesn't know is read like English. A quotation or bracket
    belongs to one sentence, unless `in_quotes` asks for the sentences in it."""
    code = base_language(language)
    for paragraph in _paragraphs(text):
        sentence = ""
        for piece in _segmented(paragraph, code, in_quotes):
            if sentence and not _goes_on(sentence, piece, code):
                yield sentence
                sentence = ""
            sentence += piece
        yield sentence


def _paragraphs(text: str) -> Iterator[str]:
    """Yield lines, joined if a sentence continues past the end of a line."""
    lines = LINE.findall(text)
    start, end = 0, 0
    for line, follower in zip(lines, [*lines, ""][1:], strict=True):
        end += len(line)
        if not _is_wrapped(line, follower):
            yield text[start:end]
            start = end


def _is_wrapped(line: str, follower: str) -> bool:
    """Return whether the next line continues the sentence: in lower case, or after a line as long as a page's."""
    if not follower or line.count("\n", len(line.rstrip())) > 1 or LIST_ITEM.match(follower):
        return False
    return follower[0].islower() or (len(line.rstrip()) >= WRAPPED and not FINISHED.search(line[-20:]))


def _segmented(paragraph: str, code: str, in_quotes: bool) -> Iterator[str]:
    """Yield a paragraph in the pieces that sentencex finds, window by window."""
    plain = SURROGATE.sub("\ufffd", SPACE.sub(" ", paragraph))
    if in_quotes:
        plain = OPENING.sub(" ", plain)
    start = 0
    while start < len(plain):
        lengths = _lengths(plain[start : start + WINDOW], code)
        # The last piece of a window may be cut off: the next window begins with it.
        whole = lengths if start + WINDOW >= len(plain) else lengths[:-1] or lengths
        for length in whole:
            yield paragraph[start : start + length]
            start += length


def _lengths(plain: str, code: str) -> list[int]:
    """Return the lengths of the pieces that sentencex finds in a text; of the whole text if it loses characters."""
    lengths = [len(piece) for piece in sentencex.segment(code, plain)]
    return lengths if sum(lengths) == len(plain) else [len(plain)]


def _goes_on(sentence: str, follower: str, code: str) -> bool:
    """Return whether a sentence continues with the piece that follows, though sentencex ends it."""
    end = sentence[-40:]
    if not end[-1].isspace():
        return UNSPACED.search(end) is not None
    if LAST_INITIAL.search(end) and (FIRST_INITIAL.match(follower) or follower[0].islower()):
        return True
    if LIST_NUMBER.fullmatch(sentence):
        return True
    listed = _listed(code)
    last = LAST_WORD.search(end)
    word = last.group().rstrip() if last else ""
    if word in listed["abbreviations"]:
        return True
    if word in listed["before_numbers"]:
        return NUMBER.match(follower) is not None
    if word in listed["times"]:
        first = FIRST_WORD.match(follower)
        return first is not None and first.group() in listed["after_times"]
    ordinal = ORDINAL.search(end) if listed["before_ordinals"] else None
    return ordinal is not None and ordinal.group(1).lower() in listed["before_ordinals"]


@cache
def _listed(code: str) -> dict[str, frozenset[str]]:
    """Return the word lists of a language; those missing from its file are empty."""
    table: dict[str, Any] = language_data(code).get("sentences", {})
    lists = ("abbreviations", "before_numbers", "times", "after_times", "before_ordinals")
    return {name: frozenset(table.get(name, ())) for name in lists}


def split_text(text: str, *, limit: int, language: str) -> list[str]:
    """Return chunks of at most `limit` characters, each with as many whole sentences as fit.

    `language` is a tag such as en-GB. A sentence past the limit is cut after the last clause that fits, else after the
    last word, else anywhere but inside a character. Only a text of white space alone gives a chunk of it."""
    chunks: list[str] = []
    chunk = ""
    for sentence in _sentences(text, limit, language):
        if _fits(chunk + sentence, limit):
            chunk += sentence
            continue
        # White space before the first word belongs to what follows it.
        start, rest = ("", chunk + sentence) if not chunk.strip() else (chunk, sentence)
        *pieces, chunk = _pieces(rest, limit)
        chunks += [start, *pieces] if start else pieces
    return [*chunks, chunk] if chunk else chunks


def _sentences(text: str, limit: int, language: str) -> Iterator[str]:
    """Yield sentences, and those inside a long quotation, which else is one sentence."""
    for sentence in sentences(text, language):
        if _fits(sentence, limit):
            yield sentence
        else:
            yield from sentences(sentence, language, in_quotes=True)


def _fits(text: str, limit: int) -> bool:
    return len(text.strip()) <= limit


def _pieces(sentence: str, limit: int) -> list[str]:
    """Return a sentence in pieces that fit."""
    pieces = []
    while not _fits(sentence, limit):
        cut = _cut(sentence, limit)
        pieces.append(sentence[:cut])
        sentence = sentence[cut:]
    return [*pieces, sentence]


def _cut(sentence: str, limit: int) -> int:
    """Return where to cut a sentence that is too long."""
    start = len(sentence) - len(sentence.lstrip())
    for end in (CLAUSE_END, SPACES):
        if cut := _last(end, sentence, start, start + limit):
            return cut
    return _character_end(sentence, start, start + limit)


def _last(end: re.Pattern[str], sentence: str, start: int, stop: int) -> int | None:
    """Return the end of the last match that lies before `stop`, white space aside."""
    last = None
    # One more character, for a word that ends just there.
    for found in end.finditer(sentence, start, stop + 1):
        if found.start() + len(found.group().rstrip()) <= stop:
            last = found.end()
    # White space that began before `stop` goes with it, however long it is.
    spaces = SPACES.match(sentence, last) if last is not None else None
    return spaces.end() if spaces else last


def _character_end(sentence: str, start: int, stop: int) -> int:
    """Return the last place up to `stop` that is not inside a character, or `stop` if there is none."""
    for cut in range(stop, start, -1):
        follower = sentence[cut]
        if not unicodedata.combining(follower) and not JOINED.match(follower) and sentence[cut - 1] != JOINER:
            return cut
    return stop
