"""Sentences: cuts a long text into chunks that can be spoken one by one.

Chunks keep every character, so `"".join(chunks) == text`: white space stays at the end of the chunk before it (at the
start of the first), where it does not count against the limit. Engines get `chunk.strip()`.
"""

import re
import unicodedata
from collections.abc import Iterator

from capabilities.speech.normalization.sentence_ends import sentences

#: Where a clause ends. Not in 10,000 or 12:30.
CLAUSE_END = re.compile(r"(?:[,;:](?=\s)|[，、；：،؛—])\s*|\s[-–]\s+")

SPACES = re.compile(r"\s+")
#: Characters that belong to the one before them, though not combining: joiners, emoji modifiers, and the second half
#: of a character outside the first plane in JSON.
JOINED = re.compile("[\u200c\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\udc00-\udfff]")
JOINER = "\u200d"


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
