"""Evidence: the neighbours, places, capitals and ending of each word of a post."""

import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import regex

from capabilities.blog.engines.metadata.extractive.words import PostWord
from workers.engines.languages.languages import Language

_KNOWN = tomllib.loads(Path(__file__).with_name("endings.toml").read_text("utf-8"))

#: Words before infinitives as well as before nouns.
PREPOSITIONS = frozenset(_KNOWN["prepositions"].split())

#: Endings by language; a clause is a plural noun before a verb.
VERBS, INFINITIVES, CLAUSES = (
    {code: regex.compile(pattern) for code, pattern in _KNOWN[name].items()}
    for name in ("verbs", "infinitives", "clauses")
)

KOREAN_PARTICLES = regex.compile(
    r"(?<=..)(?:에서|에게|으로|까지|부터|처럼|보다|로|에|와|과)?(?:은|는|이|가|을|를|의|도|만|나|이나|마다|라도)?$"
)
KOREAN_VERBS = regex.compile(
    r"(?:다|요|니다|하는|하고|하면|해서|하여|되는|된|할|한|있는|없는|^.는|는|울|지|게|고|며|면|려면|어|아|히|(?<=.)기)$"
)
ARABIC_ARTICLE = regex.compile(r"^(?:و?(?:ال|بال|لل|كال))(?=\p{L}{3})")
#: Arabic prefixes: and, so, with, for, as.
ARABIC_PREFIXES = "وفبلك"

#: Hebrew prefixes: the, in, to, from, as, and, that.
_HEBREW_PREFIX = regex.compile(r"^ו?[הבלמכש](?=\p{L}{3})")


@dataclass(slots=True)
class Seen:
    """The occurrences of a word."""

    count: int = 0
    inside: int = 0  # not at a sentence's start
    capital: int = 0  # of those, with a capital letter
    after_determiner: int = 0  # or a preposition
    after_article: int = 0
    after_subject: int = 0
    before_article: int = 0  # *running* a shop
    beside_capital: int = 0  # next to another capital: a part of somebody's name
    first: int = 1_000_000  # its first place in the text
    forms: Counter[str] = field(default_factory=Counter)

    @property
    def is_proper(self) -> bool:
        """Return whether it is written with a capital, as names are; in German, so are all nouns."""
        return self.inside > 0 and self.capital > 0.7 * self.inside


def observed(words: Sequence[PostWord | None], language: Language) -> dict[str, Seen]:
    seen: dict[str, Seen] = defaultdict(Seen)
    articles = language.determiners - PREPOSITIONS
    before: PostWord | None = None
    for place, word in enumerate(words):
        if before and word:
            seen[before.lower].before_article += word.lower in articles
        if before and word and before.is_capital and word.is_capital and not language.is_empty_word(before.lower):
            seen[before.lower].beside_capital += 1
            seen[word.lower].beside_capital += 1
        if word is not None:
            known = seen[word.lower]
            known.count += 1
            known.first = min(known.first, place)
            known.forms[word.written] += 1
            if not word.is_first:
                known.inside += 1
                known.capital += word.is_capital
            if before is not None:
                known.after_determiner += before.lower in language.determiners
                known.after_article += before.lower in articles
                # “A guide to Lisbon”: what has a capital is not a verb.
                known.after_subject += before.lower in language.subjects and not word.is_capital
        before = word
    return seen


def without_affixes(
    words: Iterable[PostWord | None], language: Language, known: frozenset[str]
) -> Iterator[PostWord | None]:
    """Yield words without attached articles and particles; `known` are words by themselves."""
    match language.code:
        case "ar":
            yield from _arabic(list(words), known)
        case "he":
            yield from _hebrew(list(words))
        case "ko":
            yield from (word and _korean(word) for word in words)
        case _:
            yield from words


def arabic_name(words: Sequence[PostWord]) -> str:
    """Return a name of several Arabic words: صحة القلب keeps its article, as its first word has none."""
    if ARABIC_ARTICLE.match(words[0].written):
        return " ".join(word.lower for word in words)
    return " ".join([words[0].lower, *(word.written for word in words[1:])])


def _arabic(words: Sequence[PostWord | None], known: frozenset[str]) -> Iterator[PostWord | None]:
    """Yield words without their article, and without a prefix if the rest is a word."""
    alone = {ARABIC_ARTICLE.sub("", word) for word in known.union(word.lower for word in words if word)}
    for word in words:
        short = ARABIC_ARTICLE.sub("", word.lower) if word else ""
        if word and short == word.lower and len(short) > 3 and short[0] in ARABIC_PREFIXES and short[1:] in alone:
            short = short[1:]
        yield PostWord(word.written, short, word.is_first) if word else None


def _hebrew(words: Sequence[PostWord | None]) -> Iterator[PostWord | None]:
    """Yield words without a prefix if the text has the rest as a word."""
    alone = {word.lower for word in words if word}
    for word in words:
        short = _HEBREW_PREFIX.sub("", word.lower) if word else ""
        yield PostWord(word.written, short, word.is_first) if word and short in alone else word


def _korean(word: PostWord) -> PostWord | None:
    short = KOREAN_PARTICLES.sub("", word.lower)
    if short == word.lower and len(short) > 2 and KOREAN_VERBS.search(short):
        return None
    return PostWord(short, short, word.is_first)


def without_title_case(words: Sequence[PostWord | None]) -> list[PostWord | None]:
    """Return a line's words; in title case each counts as first in a sentence, as its capital proves nothing."""
    long = [word for word in words if word and len(word.written) > 3]
    if len(long) > 1 and sum(word.is_capital for word in long) >= 0.8 * len(long):
        return [word and PostWord(word.written, word.lower, True) for word in words]
    return list(words)
