"""Tags: the names of a post's subjects, ranked."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

import regex

from capabilities.blog.engines.metadata.extractive.evidence import (
    CLAUSES,
    arabic_name,
    observed,
    without_affixes,
    without_title_case,
)
from capabilities.blog.engines.metadata.extractive.sorting import Sorted
from capabilities.blog.engines.metadata.extractive.weighing import WordWeights
from capabilities.blog.engines.metadata.extractive.words import PostWord, segmented, words_of
from capabilities.blog.engines.metadata.terms import stem
from workers.engines.languages.languages import COMPOUNDING, Language

#: Least worth of the first tags, of a fourth and fifth one, and of more.
LEAST_WORTHS = (0.1, 0.1, 0.1, 0.15, 0.15, 2.0, 2.0, 2.0)

#: The space that replaced an apostrophe; letters of scripts without spaces.
ELISION = regex.compile(r"(?<= [dl]) ")
UNSPACED_LETTERS = regex.compile(r"[\p{Han}\p{Katakana}\p{Hiragana}]")

#: Most words of a name in capitals.
LONGEST_NAME = 4

#: Words that join two things, not the parts of a name.
AND = frozenset({"and", "y", "et", "und", "e", "en", "con"})

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
        in_title, in_text = (list(segmented(runs, language, cues)) for runs in (in_title, in_text))
    seen = observed([*in_title, None, *in_text], language)
    weights = WordWeights(
        language, seen, frozenset(w.lower for w in in_title if w), cues, max(len(in_text), 1), category.places
    )
    return _chosen(_Ranking(weights).candidates(in_title, in_text), joins=language.code in COMPOUNDING)


class _Ranking:
    """Ranks single words and names of several words as tags."""

    def __init__(self, weights: WordWeights) -> None:
        self._weights = weights
        self._language, self._seen, self._cues = weights.language, weights.seen, weights.cues
        # Arabic names with their articles.
        self._written: dict[tuple[str, ...], str] = {}

    def candidates(self, title: Sequence[PostWord | None], text: Sequence[PostWord | None]) -> list[_Candidate]:
        found: list[_Candidate] = []
        for word in self._seen:
            if (worth := self._weights.worth_alone(word)) > 0:
                found.append(_Candidate(self._weights.usual_form(word), (stem(word),), worth))
        names = Counter(self._names(text))
        in_title = set(self._names(title))
        names.update(in_title)
        # “Senior dogs” in the text and “senior dog” in the title are one name.
        titled = {_stems(name) for name in in_title}
        # “Chocolate chip” occurs only within “chocolate chip cookies”.
        within = {part for name, count in names.items() for part in (name[1:], name[:-1]) if count >= names[part] > 0}
        for name in names:
            if (name not in within or self._is_proper(name)) and (
                worth := self._of_name(name, names[name], _stems(name) in titled)
            ) > 0:
                content = tuple(stem(word) for word in name if word not in self._language.joints)
                found.append(_Candidate(self._written.get(name) or self._joined(name), content, worth))
        return sorted(found, key=lambda candidate: (-candidate.worth, candidate.text))

    def _names(self, words: Sequence[PostWord | None]) -> Iterator[tuple[str, ...]]:
        """Yield names of two to four words; a middle one may be a joint, such as *of*."""
        joints = self._language.joints
        for run in _runs([w if w and (w.lower in joints or self._weights.parts[w.lower] > 0) else None for w in words]):
            for part in self._parts(run):
                name = tuple(word.lower for word in part)
                if name[0] in joints or name[-1] in joints:
                    continue
                if self._language.code == "ar":
                    self._written.setdefault(name, arabic_name(part))
                yield name

    def _joined(self, name: tuple[str, ...]) -> str:
        return "".join(name) if self._language.code == "zh" else ELISION.sub("'", " ".join(name))

    def _parts(self, run: Sequence[PostWord]) -> Iterator[Sequence[PostWord]]:
        """Yield the parts of a run that may be names; what is written in capitals is one name, up to a place."""
        start = 0
        while start < len(run):
            is_place = run[start].lower in self._weights.places
            end = start + is_place
            while end < len(run) and run[end].is_capital and self._is_proper((run[end].lower,)):
                end += 1
            first = start + (is_place and end - start > 2)  # “en Francia Izaskun Lesaka”
            if 1 < end - first <= LONGEST_NAME:
                yield run[first:end]
            for size in (2, 3):
                if start + size <= len(run) and end < start + size:
                    yield run[start : start + size]
            start += max(end - start - 1, 1)

    def _is_proper(self, name: tuple[str, ...]) -> bool:
        """Return whether each word of a name has a capital; in German, so have all nouns."""
        return self._language.code != "de" and all(self._seen[word].is_proper for word in name)

    def _of_name(self, name: tuple[str, ...], count: int, is_in_title: bool) -> float:
        """Return the worth of a name that occurs `count` times; 0: it is none."""
        content = [word for word in name if word not in self._language.joints]
        if not self._is_noun_phrase(name, content):
            return 0.0
        weights, given = self._weights, " ".join(name) in self._cues | self._weights.places
        recurs = bool(self._language.determiners) and all(weights.count(word) > 1 for word in content)
        is_known = given or (is_in_title and ((recurs and count > 1) or self._is_proper(name)))
        # In a long text or an unknown language, two words side by side once are not a name.
        if count < 2 and not is_known:
            return 0.0
        parts = [weights.parts[word] for word in content]
        worth = math.prod(parts) ** (1 / len(parts)) * (1.0 + 0.25 * (len(parts) - 1))
        if is_known or (count > 1 and 2 * count >= min(self._seen[word].count for word in content)):
            # If its words rarely occur without it, the name says more than they do.
            worth = max(worth, 1.05 * max(parts))
        return worth

    def _is_noun_phrase(self, name: tuple[str, ...], content: Sequence[str]) -> bool:
        """Return whether a name has no verb, no empty word and no word twice, and is not a private person's."""
        language, is_proper, joined = self._language, self._is_proper(name), " ".join(name)
        if len(joined) > 40 or len({stem(word) for word in content}) < len(content) or not AND.isdisjoint(name):
            return False
        if is_proper:
            # A name in capitals may be a private person's, unless the title has it.
            return joined in self._cues | self._weights.places or any(map(self._weights.is_in_title, content))
        if (clause := CLAUSES.get(language.code)) and clause.search(joined):
            return False
        return not any(map(language.is_empty_word, {*content} - self._cues))


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
        if candidate.worth < LEAST_WORTHS[len(chosen)]:
            break
        stems = set(candidate.stems)
        if any(stems <= set(other.stems) or stems >= set(other.stems) for other in chosen):
            continue
        if any(_is_kin(candidate, other, joins=joins) for other in chosen):
            continue
        if any(used[word] >= 2 for word in stems) or any(_is_within(candidate.text, other.text) for other in chosen):
            continue
        # “Zinfandel rose” and “rose stone” are parts of one longer name.
        if any(_is_next(one, other) for other in chosen for one, other in ((candidate, other), (other, candidate))):
            continue
        used.update(stems)
        chosen.append(candidate)
        if len(chosen) == len(LEAST_WORTHS):
            break
    return [candidate.text for candidate in chosen]


def _is_kin(one: _Candidate, other: _Candidate, *, joins: bool) -> bool:
    """Return whether two words share their root: *guitar* and *guitarist*, *Rücken* and *Rückenschmerzen*."""
    if len(one.stems) != 1 or len(other.stems) != 1:
        return False
    short, long = sorted((one.stems[0], other.stems[0]), key=len)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(short, long, strict=False)))
    part, whole = sorted((one.text, other.text), key=len)
    is_part = joins and len(part) >= SHORTEST_JOINED and (whole.startswith(part) or whole.endswith(part))
    return is_part or shared >= max(SHORTEST_ROOT, len(short) - LONGEST_ENDING)


def _is_next(one: _Candidate, other: _Candidate) -> bool:
    return len(one.stems) == len(other.stems) > 1 and one.stems[1:] == other.stems[:-1]


def _is_within(one: str, other: str) -> bool:
    """Return whether one of two names without spaces is a part of the other: 散策 of 散策コース."""
    return UNSPACED_LETTERS.search(one) is not None and (one in other or other in one)
