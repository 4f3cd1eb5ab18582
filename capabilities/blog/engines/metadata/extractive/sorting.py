"""Sorting: the category of a post, by its cues."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice

import regex

from capabilities.blog.engines.metadata.extractive.evidence import ARABIC_ARTICLE, ARABIC_PREFIXES
from capabilities.blog.engines.metadata.extractive.sentences import OBITUARY
from capabilities.blog.engines.metadata.extractive.words import UNLISTED, commonness, lowered
from capabilities.blog.engines.metadata.places import places_in
from capabilities.blog.engines.metadata.taxonomy import Cues, Taxonomy
from workers.engines.languages.languages import COMPOUNDING, UNSPACED, Language

#: Weight of a cue in a title and in a text's opening, against 1 in the rest; characters of the opening.
TITLE_WEIGHT, OPENING_WEIGHT, OPENING = 4.0, 2.0, 700

#: Weight of a place against a cue, and most of all places.
PLACE_WEIGHT, MOST_PLACES = 0.5, 2.5

#: Weight at which a category is sure, and the least weight of any.
SURE_WEIGHT, LEAST_WEIGHT = 2.0, 1.5

#: Characters that show whether a text is an obituary.
OBITUARY_OPENING = 300

#: Share of a text's weight for categories without a cue in the title: in obituaries, and if the title has a place.
OBITUARY_SHARE, PLACE_SHARE = 0.3, 0.5

#: Most confidence in an obituary's category: no cover should show the thing of a profession.
MOST_OF_OBITUARY = 0.6

#: Least letters of a compound's last part: shorter ones end many words by chance.
SHORTEST_HEAD = 5

#: Hebrew prefixes.
_HEBREW_PREFIXES = "הבלמכשו"


@dataclass(frozen=True, slots=True)
class Sorted:
    """A category, and the words of the post that suggest it."""

    category: str
    cues: frozenset[str]
    confidence: float = 0.0  #: 0 to 1, by its weight and its lead over the second
    #: Places that the post names, in lower case.
    places: frozenset[str] = frozenset()


def sort_post(title: str, text: str, words: Mapping[str, int], language: Language, taxonomy: Taxonomy) -> Sorted:
    """Return the category with the most cues; shared cues count less. `words` are counts."""
    cues = taxonomy.cues(language.taxonomy)
    weights: dict[str, float] = defaultdict(float)
    spoken: dict[str, set[str]] = defaultdict(set)
    titled: set[str] = set()
    for found, weight in (
        (_found(lowered(title, language.code), None, cues, language), TITLE_WEIGHT),
        (_found(lowered(text[:OPENING], language.code), None, cues, language), OPENING_WEIGHT - 1.0),
        (_found(lowered(text, language.code), words, cues, language), 1.0),
    ):
        for cue, count, names in found:
            for name in names:
                weights[name] += weight * _specific(cue, language) * math.log1p(count) / len(names)
                spoken[name].add(cue)
                titled |= {name} if weight == TITLE_WEIGHT else set()
    travels = [category.name for category in taxonomy.category if category.places]
    places = [places_in(part, language) for part in (title, text[:OPENING], text[OPENING:])]
    is_obituary = OBITUARY.search(f"{title}\n{text[:OBITUARY_OPENING]}") is not None
    # An obituary names football and cities; a post about Lisbon names food.
    share = OBITUARY_SHARE if is_obituary else PLACE_SHARE if places[0] else 1.0
    for name in weights.keys() - titled - {*travels}:
        weights[name] *= share
    for name in travels:
        weights[name] += _weight_of_places(places[:1] if is_obituary else places, cues)
    # The fallback's words, such as tips, suggest any category.
    weights[taxonomy.fallback] = 0.0
    best = max(taxonomy.names, key=lambda name: weights[name])
    named = frozenset[str]().union(*places)
    if weights[best] < LEAST_WEIGHT:
        return Sorted(taxonomy.fallback, frozenset(), places=named)
    second = max((weight for name, weight in weights.items() if name != best), default=0.0)
    margin = 1.0 - max(second, 0.0) / weights[best]
    confidence = (1.0 - math.exp(-weights[best] / SURE_WEIGHT)) * (0.4 + 0.6 * margin)
    if is_obituary:
        confidence = min(confidence, MOST_OF_OBITUARY)
    return Sorted(best, frozenset(spoken[best]), confidence, named)


def _specific(cue: str, language: Language) -> float:
    """Return the weight of a cue by its length: *app* and *run* occur in many posts."""
    return 1.0 if language.code in UNSPACED | {"ko"} else min(1.0, 0.4 + 0.12 * len(cue))


def _weight_of_places(places: Sequence[Counter[str]], cues: Cues) -> float:
    """Return the weight of places in title, opening and rest; places that are cues have that weight."""
    weight = 0.0
    for found, factor in zip(places, (TITLE_WEIGHT, OPENING_WEIGHT, 1.0), strict=False):
        for place, count in found.items():
            if not cues.of_word(place):
                weight += PLACE_WEIGHT * factor * math.log1p(count)
    return min(weight, MOST_PLACES)


def _found(
    text: str, words: Mapping[str, int] | None, cues: Cues, language: Language
) -> Iterator[tuple[str, int, AbstractSet[str]]]:
    if language.code in UNSPACED:
        yield from _contained(text, cues)
        return
    counted = (
        words
        if words is not None
        else Counter(regex.findall(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:[-'’][\p{L}\p{N}\p{M}]+)*", text))
    )
    for word, count in counted.items():
        if names := cues.of_word(word) or _with_particle(word, cues, language):
            yield word, count, names
        elif language.code == "ar":
            known = ((form, names) for form in _arabic_forms(word) if (names := cues.of_word(form)))
            yield from ((form, count, names) for form, names in islice(known, 1))
    spaced = " ".join(regex.findall(r"[\p{L}\p{N}\p{M}’'-]+", text))
    for phrase, names in cues.phrases.items():
        if count := f" {spaced} ".count(f" {phrase}"):
            yield phrase.rstrip(), 2 * count, names


def _with_particle(word: str, cues: Cues, language: Language) -> AbstractSet[str]:
    if language.code == "he" and word[0] in _HEBREW_PREFIXES:
        return cues.of_word(word[1:])
    if language.code in COMPOUNDING:
        return _of_compound(word, cues, language)
    if language.code != "ko":
        return frozenset()
    for length in range(len(word) - 1, max(len(word) - 4, 1), -1):
        if names := cues.words.get(word[:length]):
            return names
    return frozenset()


def _of_compound(word: str, cues: Cues, language: Language) -> AbstractSet[str]:
    """Return the categories of a compound's last part, which names the thing: *Linsensuppe* is a *Suppe*.

    A usual word is not a compound: a *Beispiel* is no *Spiel*."""
    if commonness(word, language.code) > UNLISTED:
        return frozenset()
    for start in range(3, len(word) - SHORTEST_HEAD + 1):
        for head in (word[start:], word[start:-1]):
            if len(head) >= SHORTEST_HEAD and (names := cues.words.get(head) or cues.stems.get(head)):
                return names
    return frozenset()


def _arabic_forms(word: str) -> Iterator[str]:
    """Yield a word without prefixes, bare and with its article: cues have either."""
    bare = ARABIC_ARTICLE.sub("", word)
    yield from (bare, "ال" + bare)
    # Shorter words begin with such a letter by chance.
    if bare == word and word[0] in ARABIC_PREFIXES and len(word) > 3:
        yield from (word[1:], "ال" + word[1:])


def _contained(text: str, cues: Cues) -> Iterator[tuple[str, int, AbstractSet[str]]]:
    phrases = ((phrase.rstrip(), names) for phrase, names in cues.phrases.items())
    for cue, names in (*cues.words.items(), *phrases):
        if cue not in text:
            continue
        # 本 means a book by itself, but not in 日本; IT is not part of Fitr.
        letter = r"\p{Han}" if len(cue) == 1 else r"\p{Latin}" if cue.isascii() else ""
        count = len(regex.findall(rf"(?<!{letter}){cue}(?!{letter})", text)) if letter else text.count(cue)
        if count:
            yield cue, count, names
