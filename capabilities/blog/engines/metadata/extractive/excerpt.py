"""Excerpt: the sentences that stand for a post, or one made of its title."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np

from capabilities.blog.engines.metadata.checks import LONGEST_EXCERPT, cut
from capabilities.blog.engines.metadata.extractive.sentences import (
    WHOLE,
    Sentence,
    is_prose,
    is_question,
    is_usable,
    refers_back,
    refers_to_question,
    sentences_of,
    standing_alone,
    turns_away,
)
from capabilities.blog.engines.metadata.terms import terms_of
from capabilities.blog.engines.metadata.unwanted import is_unwanted
from workers.engines.languages.languages import UNSPACED, Language

#: Sentences of the highest rank that are combined, and most sentences of an excerpt (docs/blog.md).
BEST, MOST_CHOSEN = 14, 3

#: How well a sentence must stand alone (0 to 1) to be in an excerpt, and to count as the post's opening.
LEAST_ALONE, OPENING_ALONE = 0.2, 0.4

#: Weight of a group with the post's opening.
OPENING_FACTOR = 3.0

#: Least characters of a sentence that opens a post behind a question; a shorter one answers the question.
SHORTEST_ANSWERLESS = 60

#: Characters of a full excerpt, and of one that needs no sentence from elsewhere.
USUAL_LENGTH, ENOUGH = 130, 120

#: Least characters of a post that is its own excerpt.
SHORTEST_WHOLE = 40

#: Ends of sentences other than a point; Thai has a space.
FULL_STOPS = {"zh": "。", "ja": "。", "hi": "।", "th": ""}


def excerpt_of(title: str, text: str, language: Language) -> str | None:
    """Return the sentences that stand for a post, or None."""
    everything = sentences_of(text)
    if (whole := _whole_post(everything, language)) is not None:
        return whole
    usable = [sentence for sentence in everything if is_usable(sentence, title, language)]
    alone = [standing_alone(sentence, title, language) for sentence in usable]
    if max(alone, default=0.0) < LEAST_ALONE:
        return _first_words(everything, title)
    openers = (s for s, worth in zip(usable, alone, strict=True) if worth >= OPENING_ALONE)
    opening = next((s.place for s in openers if s.opens or _opens_behind_question(s, everything, language)), -1)
    ranks = [rank * worth for rank, worth in zip(_ranks(usable, title, language), alone, strict=True)]
    ranked = sorted(zip(ranks, usable, strict=True), key=lambda pair: -pair[0])
    fit = {s.place for s, worth in zip(usable, alone, strict=True) if worth >= LEAST_ALONE}
    short = [(rank, s) for rank, s in ranked if len(s.text) <= LONGEST_EXCERPT and s.place in fit]
    # The opening is always among them.
    best = short[:BEST] + [(r, s) for r, s in short[BEST:] if opening <= s.place < opening + MOST_CHOSEN]
    if not best:
        return cut(ranked[0][1].text)
    # Once for each sentence, since it is in hundreds of groups.
    traits = {sentence.place: _Traits.of(sentence, language) for _, sentence in best}
    subject = frozenset(terms_of(title, language))
    chosen = max(_combinations(best), key=lambda group: _worth(group, subject, traits, opening))
    return _joiner(language).join(sentence.text for _, sentence in chosen)


def _opens_behind_question(sentence: Sentence, sentences: list[Sentence], language: Language) -> bool:
    """Return whether only a question, which the sentence does not answer, precedes it in its paragraph."""
    before = next((one for one in sentences if one.place == sentence.place - 1), None)
    if before is None or sentence.opens or not (before.opens and is_question(before.text)):
        return False
    return len(sentence.text) >= SHORTEST_ANSWERLESS and not refers_to_question(sentence.text, language)


def _whole_post(sentences: list[Sentence], language: Language) -> str | None:
    """Return the text of a post that is as short as an excerpt, else None."""
    if len(sentences) > MOST_CHOSEN:
        return None
    text = _joiner(language).join(sentence.text for sentence in sentences)
    whole = all(WHOLE.search(sentence.text) for sentence in sentences)
    odd = is_unwanted(text) or not is_prose(text)
    return text if SHORTEST_WHOLE <= len(text) <= LONGEST_EXCERPT and whole and not odd else None


def titled_excerpt(title: str, subject: str | None, language: Language) -> str:
    """Return a sentence with a title and its subject, in the post's language."""
    title = title.strip()
    if not title:
        return subject or ""
    if len(title) > LONGEST_EXCERPT - 60:
        return cut(title)
    if subject is None or not language.about:
        whole = (language.whole or "{title}.").format(title=title.removesuffix("."))
        return whole if language.whole else _ended(title, language)
    about = language.about.format(subject=subject)
    if WHOLE.search(title):
        return f"{title}{_joiner(language)}{_ended(about[:1].upper() + about[1:], language)}"
    if language.code in UNSPACED:
        return f"{title}。{_ended(about, language)}"
    return f"{title} – {_ended(about, language)}"


def _ended(text: str, language: Language) -> str:
    return text if WHOLE.search(text) else text + FULL_STOPS.get(language.code, ".")


def _joiner(language: Language) -> str:
    return "" if language.code in UNSPACED else " "


def _ranks(sentences: list[Sentence], title: str, language: Language) -> list[float]:
    """Return each sentence's rank: how central, near to the title and early it is."""
    vectors = _vectors([sentence.text for sentence in sentences] + [title], language)
    similar = vectors @ vectors.T
    to_title = similar[-1, :-1]
    central = _text_rank(similar[:-1, :-1])
    places = np.array([sentence.place for sentence in sentences], dtype=float)
    early = 1.0 / (1.0 + places / 4.0)
    ranks = 0.40 * central / max(central.max(), 1e-9) + 0.30 * to_title / max(to_title.max(), 1e-9) + 0.45 * early
    return [float(rank) for rank in ranks]


def _vectors(texts: list[str], language: Language) -> Any:
    """Return tf-idf vectors of unit length, shape (texts, terms)."""
    counts = [Counter(terms_of(text, language)) for text in texts]
    shared = Counter(term for counter in counts for term in counter)
    # A term of one text alone makes it similar to none.
    index = {term: place for place, term in enumerate(term for term, n in shared.items() if n > 1)}
    matrix = np.zeros((len(texts), max(len(index), 1)), dtype=np.float32)
    for row, counter in enumerate(counts):
        for term, count in counter.items():
            if term in index:
                matrix[row, index[term]] = (1 + np.log(count)) * np.log(1 + len(texts) / shared[term])
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.maximum(lengths, 1e-9)


def _text_rank(similar: Any) -> Any:
    """Return the PageRank of sentences that vote for those like them (Mihalcea and Tarau 2004)."""
    votes = similar.copy()
    np.fill_diagonal(votes, 0.0)
    votes /= np.maximum(votes.sum(axis=1, keepdims=True), 1e-9)
    rank = np.full(len(votes), 1.0 / len(votes))
    for _ in range(25):
        rank = 0.15 / len(votes) + 0.85 * votes.T @ rank
    return rank


def _combinations(best: list[tuple[float, Sentence]]) -> list[tuple[tuple[float, Sentence], ...]]:
    """Return the groups of one to three sentences that fit, each in the order of the post."""
    ordered = sorted(best, key=lambda ranked: ranked[1].place)
    groups = [group for size in range(1, MOST_CHOSEN + 1) for group in combinations(ordered, size)]
    return [g for g in groups if sum(len(s.text) + 1 for _, s in g) - 1 <= LONGEST_EXCERPT] or [(best[0],)]


@dataclass(frozen=True, slots=True)
class _Traits:
    """The traits that decide whether a sentence follows others."""

    terms: frozenset[str]
    turns_away: bool
    refers_back: bool
    is_question: bool

    @classmethod
    def of(cls, sentence: Sentence, language: Language) -> Self:
        """Return the traits of a sentence."""
        text = sentence.text
        terms = frozenset(terms_of(text, language))
        return cls(terms, turns_away(text, language), refers_back(text, language), is_question(text))


def _worth(
    group: tuple[tuple[float, Sentence], ...], subject: frozenset[str], traits: Mapping[int, _Traits], first: int
) -> float:
    """Return the weight of a group: best are two or three good sentences in a row that fill the room."""
    sentences = [sentence for _, sentence in group]
    worth = sum(rank for rank, _ in group) / len(group)
    for number, sentence in enumerate(sentences):
        worth *= _follows_on(sentences[:number], sentence, subject, traits)
    if sentences[0].place == first:
        worth *= OPENING_FACTOR
    elif not sentences[0].opens:
        worth *= 0.6
    length = sum(len(sentence.text) for sentence in sentences)
    worth *= 0.55 + 0.45 * min(length / USUAL_LENGTH, 1.0)
    return worth * (1.0 if len(group) > 1 else 0.8 if length >= ENOUGH else 0.6)


def _follows_on(
    before: Sequence[Sentence], sentence: Sentence, subject: frozenset[str], traits: Mapping[int, _Traits]
) -> float:
    """Return the weight of a sentence given the sentences before it."""
    own = traits[sentence.place]
    if own.turns_away:
        return 0.3
    is_next = bool(before) and sentence.place == before[-1].place + 1
    # “These cookies” at the start of a post are those of its title.
    if not is_next and sentence.place and own.refers_back:
        return 0.3
    if own.is_question:
        return 0.3
    if not before:
        return 1.0
    if is_next and sentence.place - before[0].place == len(before):
        return 1.2 if sentence.opens else 1.5
    # One from elsewhere must be about the same.
    shared = own.terms & (subject | traits[before[-1].place].terms)
    is_short = sum(len(one.text) for one in before) < ENOUGH
    return (0.8 if shared else 0.65) if is_short else 0.5


def _first_words(sentences: list[Sentence], title: str) -> str | None:
    """Return the beginning of the first long line of prose, or None."""
    lines = (s.text for s in sentences if len(s.text) >= 60 and s.text.casefold() != title.casefold())
    return next((cut(text) for text in lines if is_prose(text) and not is_unwanted(text)), None)
