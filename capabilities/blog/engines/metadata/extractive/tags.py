"""Tags: the names of a post's subjects, ranked."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex

from capabilities.blog.engines.metadata.extractive.evidence import (
    ADJECTIVES,
    INFINITIVES,
    VERBS,
    arabic_name,
    observed,
    without_affixes,
    without_title_case,
)
from capabilities.blog.engines.metadata.extractive.sorting import Sorted
from capabilities.blog.engines.metadata.extractive.weighing import LONG, SentenceWeights
from capabilities.blog.engines.metadata.extractive.words import PostWord, segmented, words_of
from capabilities.blog.engines.metadata.terms import stem
from workers.engines.languages.languages import COMPOUNDING, Language

#: Least worth of a tag: that of a cue that occurs once, or another word that occurs twice.
LEAST_WORTH = 0.6

#: The space that replaced an apostrophe; letters of scripts without spaces.
ELISION = regex.compile(r"(?<= [dl]) ")
UNSPACED_LETTERS = regex.compile(r"[\p{Han}\p{Katakana}\p{Hiragana}]")

#: Least letters of a shared root, most letters of its ending, and least letters of a word within a compound.
SHORTEST_ROOT, LONGEST_ENDING, SHORTEST_JOINED = 6, 3, 5


@dataclass(frozen=True, slots=True)
class _Candidate:
    text: str
    stems: tuple[str, ...]
    worth: float


def tags_of(title: str, text: Sequence[PostWord | None], language: Language, category: Sorted) -> list[str]:
    """Return a post's tags, best first: names in its title or that recur in its text."""
    titled = list(words_of(title, language))
    cues = category.cues
    words = list(without_affixes([*titled, None, *text], language, cues))
    in_title, in_text = without_title_case(words[: len(titled)]), words[len(titled) + 1 :]
    if language.code == "zh":
        in_title, in_text = segmented(in_title, in_text, language, cues)
    seen = observed([*in_title, None, *in_text], language)
    weights = SentenceWeights(
        language, seen, frozenset(w.lower for w in in_title if w), cues, max(len(in_text), 1), category.places
    )
    candidates = [c for c in _Ranking(weights).candidates(in_title, in_text) if c.text not in category.passing]
    return _chosen(candidates, joins=language.code in COMPOUNDING)


class _Ranking:
    """Ranks single words and names of several words as tags."""

    def __init__(self, weights: SentenceWeights) -> None:
        self._weights = weights
        self._language, self._seen, self._cues = weights.language, weights.seen, weights.cues
        # Arabic names with their articles.
        self._written: dict[tuple[str, ...], str] = {}

    def candidates(self, title: Sequence[PostWord | None], text: Sequence[PostWord | None]) -> list[_Candidate]:
        """Return the candidates, best first."""
        found: list[_Candidate] = []
        for word in self._seen:
            if (worth := self._weights.worth_alone(word)) > 0:
                found.append(_Candidate(self._weights.usual_form(word), (stem(word),), worth))
        names = Counter(self._names(text))
        in_title = set(self._names(title))
        names.update(in_title)
        # “Senior dogs” in the text and “senior dog” in the title are one name.
        titled = {_stems(name) for name in in_title}
        alike: Counter[tuple[str, ...]] = Counter()
        for name, count in names.items():
            alike[_stems(name)] += count
        # “Chocolate chip” occurs only within “chocolate chip cookies”.
        within = {part for name, count in names.items() for part in (name[1:], name[:-1]) if count >= names[part] > 0}
        for name in names:
            stems = _stems(name)
            if (name not in within or self._is_proper(name)) and (
                worth := self._of_name(name, alike[stems], stems in titled)
            ) > 0:
                content = tuple(stem(word) for word in name if word not in self._language.joints)
                found.append(_Candidate(self._written.get(name) or ELISION.sub("'", " ".join(name)), content, worth))
        return sorted(found, key=lambda candidate: (-candidate.worth, candidate.text))

    def _names(self, words: Sequence[PostWord | None]) -> Iterator[tuple[str, ...]]:
        """Yield names of two or three words; the middle one may be a joint, such as *of*."""
        joints = self._language.joints
        for run in _runs([w if w and (w.lower in joints or self._weights.parts[w.lower] > 0) else None for w in words]):
            ends = ((start, start + size) for start in range(len(run)) for size in (2, 3) if start + size <= len(run))
            for part in (run[start:end] for start, end in ends):
                name = tuple(word.lower for word in part)
                if name[0] in joints or name[-1] in joints:
                    continue
                if self._language.code == "de" and not _is_german(part, self._language):
                    continue
                if self._language.code == "ar":
                    self._written.setdefault(name, arabic_name(part))
                yield name

    def _is_proper(self, name: tuple[str, ...]) -> bool:
        """Return whether each word of a name has a capital; in German, so have all nouns."""
        return self._language.code != "de" and all(self._seen[word].is_proper for word in name)

    def _is_verb(self, word: str) -> bool:
        """Return whether a word is an infinitive, or takes an object: bitcoin *captures* the imagination."""
        known, code = self._seen[word], self._language.code
        if word in self._cues or known.after_article:
            return False
        is_infinitive = code in INFINITIVES and INFINITIVES[code].search(word) is not None
        return is_infinitive or (code == "en" and known.before_article == known.count and not self._is_proper((word,)))

    def _of_name(self, name: tuple[str, ...], count: int, is_in_title: bool) -> float:
        content = [word for word in name if word not in self._language.joints]
        joined = " ".join(name)
        if not self._is_proper(name) and any(self._language.is_empty_word(word) for word in {*content} - self._cues):
            return 0.0
        if len(joined) > 40 or len({stem(word) for word in content}) < len(content):
            return 0.0
        # A name in capitals may be a private person's, unless the title has it.
        is_public = joined in self._cues | self._weights.places or any(map(self._weights.is_in_title, content))
        if (self._is_proper(name) and not is_public) or self._is_verb(content[0]) or self._is_verb(content[-1]):
            return 0.0
        if self._language.code == "en" and VERBS["en"].search(content[-1]) and content[-1] not in self._cues:
            return 0.0
        # A name in capitals, such as Buenos Aires, counts even if it occurs once.
        is_known = joined in self._cues or self._is_proper(name)
        # In a long text or an unknown language, two words side by side once are no name.
        is_short_title = is_in_title and self._weights.length <= LONG and self._language.determiners
        if count < 2 and not is_known and not is_short_title:
            return 0.0
        parts = [self._weights.parts[word] for word in content]
        worth = math.prod(parts) ** (1 / len(parts)) * (1.0 + 0.25 * (len(parts) - 1))
        if (count > 1 or is_known) and 2 * count >= min(self._seen[word].count for word in content):
            # If its words rarely occur without it, the name says more than they do.
            worth = max(worth, 1.05 * max(parts))
        worth *= 1.0 if count > 1 or is_known else 0.75
        # A verb is no part of a name; an adjective may start one, but not end it.
        for place, word in enumerate(content):
            known = self._seen[word]
            if known.after_subject > known.after_determiner and joined not in self._cues:
                worth *= 0.3
            code = self._language.code
            if code == "en" and place == len(content) - 1 and ADJECTIVES["en"].search(word) and word not in self._cues:
                worth *= 0.5
        return worth


def _is_german(part: Sequence[PostWord], language: Language) -> bool:
    """Return whether German words are a capitalised adjective and its noun: *Erneuerbare Energien*."""
    return len(part) == 2 and part[0].is_capital and not any(language.is_empty_word(word.lower) for word in part)


def _stems(name: Sequence[str]) -> tuple[str, ...]:
    return tuple(stem(word) for word in name)


def _runs(words: Sequence[PostWord | None]) -> Iterator[list[PostWord]]:
    run: list[PostWord] = []
    for word in [*words, None]:
        if word is not None:
            run.append(word)
        elif run:
            yield run
            run = []


def _chosen(candidates: Sequence[_Candidate], *, joins: bool) -> list[str]:
    """Return the best candidates without repeats; `joins`: the language has compounds."""
    chosen: list[_Candidate] = []
    used: Counter[str] = Counter()
    for candidate in candidates:
        if candidate.worth < LEAST_WORTH:
            break
        stems = set(candidate.stems)
        if any(stems <= set(other.stems) or stems >= set(other.stems) for other in chosen):
            continue
        if any(_is_kin(candidate, other) or (joins and _is_joined(candidate, other)) for other in chosen):
            continue
        if any(used[word] >= 2 for word in stems) or any(_is_within(candidate.text, other.text) for other in chosen):
            continue
        used.update(stems)
        chosen.append(candidate)
        if len(chosen) == 8:
            break
    return [candidate.text for candidate in chosen]


def _is_kin(one: _Candidate, other: _Candidate) -> bool:
    """Return whether two words have the same root: *guitar* and *guitarist*, *professori* and *professoressa*."""
    if len(one.stems) != 1 or len(other.stems) != 1:
        return False
    short, long = sorted((one.stems[0], other.stems[0]), key=len)
    return len(short) >= SHORTEST_ROOT and long.startswith(short) and len(long) - len(short) <= LONGEST_ENDING


def _is_joined(one: _Candidate, other: _Candidate) -> bool:
    """Return whether one word is a part of the other: *Rücken* of *Rückenschmerzen*."""
    short, long = sorted((one.text, other.text), key=len)
    return len(short) >= SHORTEST_JOINED and " " not in long and (long.startswith(short) or long.endswith(short))


def _is_within(one: str, other: str) -> bool:
    """Return whether one of two names without spaces is a part of the other: 散策 of 散策コース."""
    return UNSPACED_LETTERS.search(one) is not None and (one in other or other in one)
