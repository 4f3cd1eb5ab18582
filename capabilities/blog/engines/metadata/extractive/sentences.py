"""Sentences: a text's sentences, and how well each stands alone."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import regex

from capabilities.blog.engines.metadata.unwanted import ORDERS, is_unwanted
from workers.engines.languages.languages import WORD, Language

#: Most sentences that are compared.
MOST_SENTENCES = 160

#: Least characters of a sentence in an excerpt; Chinese characters say more.
SHORTEST, SHORTEST_UNSPACED = 20, 12

_KNOWN: Mapping[str, Sequence[str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_ABBREVIATED = regex.compile(rf"(?:^|[\s(])(?:{'|'.join(_KNOWN['abbreviations'])})\.$")
#: Greetings, openings and boilerplate that say nothing about a post.
_BOILERPLATE = regex.compile(
    rf"^(?:{'|'.join(_KNOWN['greetings'])})\b|^(?:{'|'.join(_KNOWN['openings'])})|{'|'.join(_KNOWN['boilerplate'])}",
    regex.IGNORECASE,
)
_SENTENCE_END = regex.compile(
    r"(?<=[.!?…؟।։])[\"'”’»)\]]*\s+(?=[\"'“‘«„»¿¡(\[]*[\p{Lu}\p{Lt}\p{Lo}\p{N}])|(?<=[。！？])(?![」』”）。！？])"
)
WHOLE = regex.compile(r"[.!?…؟।。！？][\"'”’»」』)]*$")
_LETTERS = regex.compile(r"[\p{L}\p{M}]")
_QUESTION = regex.compile(r"[?？؟][\"'”’»」』)]*$")

#: Words of obituaries.
OBITUARY = regex.compile("|".join(_KNOWN["obituaries"]), regex.IGNORECASE)

#: Most characters of a paragraph that an order rules out; of a longer one only the sentence goes.
LONGEST_ORDER = 600


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, its place in the post, and whether it opens a paragraph."""

    text: str
    place: int
    opens: bool


def sentences_of(text: str) -> list[Sentence]:
    """Return the sentences of a text of one paragraph a line; an empty line marks an omission."""
    found: list[Sentence] = []
    gaps = 0
    for line in text.split("\n"):
        # The sentences around an omission are not neighbours.
        gaps += not line
        start = 0
        opens = True
        for end in _SENTENCE_END.finditer(line):
            if _ABBREVIATED.search(line, max(start, end.start() - 12), end.start()):
                continue
            found.append(Sentence(line[start : end.end()].strip(), len(found) + gaps, opens))
            start, opens = end.end(), False
        if rest := line[start:].strip():
            found.append(Sentence(rest, len(found) + gaps, opens))
        if len(found) >= MOST_SENTENCES:
            break
    return found[:MOST_SENTENCES]


def without_orders(text: str) -> str:
    """Return a text without short paragraphs that give orders to a language model."""
    return "\n".join(line for line in text.split("\n") if len(line) > LONGEST_ORDER or ORDERS.search(line) is None)


def is_usable(sentence: Sentence, title: str, language: Language) -> bool:
    text = sentence.text
    least = SHORTEST_UNSPACED if language.code in ("zh", "ja", "ko") else SHORTEST
    return (
        len(text) >= least
        and is_prose(text)
        and WHOLE.search(text) is not None
        and not text[0].islower()
        and not is_unwanted(text)
        and _is_balanced(text)
        and text.rstrip(".!?").casefold() != title.rstrip(".!?").casefold()
    )


def is_prose(text: str) -> bool:
    """Return whether a text is mostly letters; marks count too, as Hindi and Thai write vowels so."""
    return len(_LETTERS.findall(text)) > len(text) * 0.6


def _is_balanced(text: str) -> bool:
    # „So“ and “so” end and begin with the same sign.
    quoted = "„" in text or text.count("“") == text.count("”")
    pairs = (("(", ")"), ("«", "»"), ("「", "」"), ("『", "』"), ("（", "）"))
    return quoted and text.count('"') % 2 == 0 and all(text.count(a) == text.count(b) for a, b in pairs)


def standing_alone(sentence: Sentence, title: str) -> float:
    """Return how well a sentence stands alone, from 0 to 1."""
    text = sentence.text
    weaknesses = (
        # A post about newsletters may use their words.
        (_BOILERPLATE.search(text.replace("’", "'")) and not _BOILERPLATE.search(title), 0.15),
        (is_question(text), 0.35),
        (text.endswith("!"), 0.8),
    )
    return math.prod((factor for is_there, factor in weaknesses if is_there), start=1.0)


def is_question(text: str) -> bool:
    return _QUESTION.search(text) is not None


def turns_away(text: str, language: Language) -> bool:
    """Return whether a sentence starts with a word such as *now* or *but*."""
    first = WORD.search(text)
    word = first.group().lower().replace("’", "'") if first else ""
    return word in language.connectors


def refers_back(text: str, language: Language) -> bool:
    """Return whether a sentence starts with a word such as *this*."""
    if language.openings:
        return text.startswith(tuple(language.openings))
    first = WORD.search(text)
    if first is None:
        return True
    word = first.group().lower()
    if word in language.determiners and (second := WORD.search(text, first.end())) is not None:
        word = second.group().lower() if word not in language.dangling else word
    return word in language.dangling or word.partition("'")[0] in language.dangling
