"""Weighing: the worth of each word of a post as a tag, or as a part of one."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping

import regex

from capabilities.blog.engines.metadata.extractive.evidence import (
    INFINITIVES,
    VERBS,
    Seen,
)
from capabilities.blog.engines.metadata.extractive.words import commonness
from capabilities.blog.engines.metadata.terms import stem
from workers.engines.languages.languages import UNSPACED, Language

#: Words of a long text, where a word that occurs once says little; and of its opening, where it may say more.
LONG, OPENING_WORDS = 60, 40

#: How often a name that is in no title must occur: Tom, who is mentioned twice, is not a subject.
LEAST_NAMED = 3

#: Commonness from which on a word says nothing of a post, in general and in a title, where it keeps a part of its
#: weight; and how much less common a word of full weight is.
COMMON, TITLE_COMMON, TITLE_RARITY, RARE = 5.0, 5.5, 0.3, 1.2

#: Most letters of a Thai name between two spaces; a longer run is half a sentence.
LONGEST_RUN = 14


#: Numbers in Chinese and Japanese names, which are of a list.
COUNTED = regex.compile(
    r"^[一二三四五六七八九十百千数第\d]+(?:\p{Han}{0,2}|[\p{Katakana}ー]{1,6})$|[一二三四五六七八九十\d]+[時分秒年月日回]$"
    r"|^毎?[日週月年]?[一二三四五六七八九十百千万億\d]+円$"
)


class WordWeights:
    """The worth of a post's words: by count, place, and how likely they are nouns."""

    def __init__(
        self,
        language: Language,
        seen: Mapping[str, Seen],
        title: frozenset[str],
        cues: frozenset[str],
        length: int,
        places: frozenset[str] = frozenset(),
    ) -> None:
        self.places = places
        self.language, self.seen, self.cues, self.length = language, seen, cues, length
        self._title, self._title_stems = title, {stem(word) for word in title}
        self._forms: dict[str, Counter[str]] = defaultdict(Counter)
        for word, known in seen.items():
            if not language.is_empty_word(word):
                # Dutch *hete* is hot, and no form of *het*, which is the.
                self._forms[stem(word)][word] += known.count
        #: Worth of each word in a name of several; 0: it can be in none.
        self.parts = {word: self._worth_in_name(word, known) for word, known in seen.items()}

    def usual_form(self, word: str) -> str:
        forms = self._forms[stem(word)] or Counter({word: 1})
        return max(forms, key=lambda form: (form in self._title, forms[form], form == word, -len(form)))

    def worth_alone(self, word: str) -> float:
        """Return the worth of a word as a tag by itself; 0: it can be none."""
        worth, known = self.parts[word], self.seen[word]
        if worth <= 0:
            return worth
        # A guidebook or a vet who is named in passing is not a subject.
        is_late = self.count(word) < 2 and self.length > LONG and known.first > len(self._title) + OPENING_WORDS
        if is_late and not self.is_in_title(word) and word not in self.places:
            worth *= 0.4
        if word in self.cues:
            return worth
        # A name that is not a place, and in no title, may be a private person's.
        is_private = 2 * known.beside_capital >= known.count or self.count(word) < LEAST_NAMED
        if self._is_proper(known) and is_private and word not in self.places and not self.is_in_title(word):
            return 0.0
        code = self.language.code
        if code in ("en", "zh") and VERBS[code].search(word):
            return 0.0
        if self.language.is_empty_word(word) or code == "vi":
            return 0.0
        if self.is_in_title(word):
            return worth
        # Romance nouns follow an article or a preposition now and then; *pulse* and *cliquez* never do.
        is_verb = code in INFINITIVES and self.language.determiners and not (known.after_determiner or known.is_proper)
        is_sentence = code == "th" and (len(word) > LONGEST_RUN or word.startswith(tuple(self.language.stop)))
        # Where no articles are known, verbs look like nouns.
        is_unclear = not self.language.determiners and (code not in UNSPACED or (code == "ja" and len(word) < 3))
        return 0.0 if is_sentence or is_verb or (is_unclear and self.count(word) < 2) else worth

    def _worth_in_name(self, word: str, known: Seen) -> float:
        is_cue = word in self.cues
        if not self._is_name(word, known, is_cue):
            return 0.0
        count = self.count(word)
        worth = math.log1p(count) * (1.0 + 0.4 / (1.0 + known.first / 60))
        if self.is_in_title(word) and not self._is_incidental(known, count, is_cue):
            worth *= 2.2
        elif count < 2 and self.length > LONG and not self._is_proper(known):
            worth *= 0.5 if is_cue else 0.3
        worth *= self._rarity(word)
        worth *= self._as_noun(word, known, is_cue)
        return worth * (1.25 if self._is_proper(known) else 1.0)

    def _rarity(self, word: str) -> float:
        """Return the weight of a word by how rarely it occurs elsewhere, from 0 to 1."""
        if word in self.places or self.language.code == "vi":  # whose words are syllables
            return 1.0
        most, least = (TITLE_COMMON, TITLE_RARITY) if self.is_in_title(word) else (COMMON, 0.0)
        common = max(commonness(form, self.language.code) for form in {word, *self._forms[stem(word)]})
        return min(max((most - common) / RARE, least), 1.0)

    def _is_incidental(self, known: Seen, count: int, is_cue: bool) -> bool:
        """Return whether a word of the title is not the post's subject: *Really* good."""
        recurs = count > 1 or self.length <= LONG or not self.language.determiners
        return not (recurs or is_cue or known.after_determiner or self._is_proper(known) or self.language.code == "de")

    def count(self, word: str) -> int:
        return sum(self._forms[stem(word)].values()) or self.seen[word].count

    def is_in_title(self, word: str) -> bool:
        return word in self._title or stem(word) in self._title_stems

    def _is_proper(self, known: Seen) -> bool:
        return self.language.code != "de" and known.is_proper

    def _is_name(self, word: str, known: Seen, is_cue: bool) -> bool:
        language = self.language
        grammar = language.determiners | language.subjects
        if language.is_empty_word(word) and not (is_cue and word not in grammar | language.vague):
            # Elden Ring, Black Friday: a part of a name, if it is written as one.
            return self._is_proper(known) and len(word) > 2 and word not in grammar
        if word.replace(".", "").replace("-", "").isdigit() or not regex.search(r"\p{L}", word) or len(word) > 40:
            return False
        if language.code in ("zh", "ja", "ko"):
            return len(word) > 1 and not COUNTED.search(word)
        # Abbreviations are short, and written in capitals.
        return len(word) > 2 or (len(word) == 2 and known.forms.most_common(1)[0][0].isupper())

    def _as_noun(self, word: str, known: Seen, is_cue: bool) -> float:
        code = self.language.code
        if code == "de":
            return self._as_german_noun(word, known, is_cue)
        is_noun = known.after_article or known.is_proper or is_cue
        if not is_noun and code in INFINITIVES and INFINITIVES[code].search(word):
            return 0.0
        if code == "en" and not (known.is_proper or is_cue) and known.before_article == known.count:
            return 0.0  # a verb: bitcoin *captures* the market
        return 0.2 if known.after_subject > known.after_determiner else 1.0

    def _as_german_noun(self, word: str, known: Seen, is_cue: bool) -> float:
        if known.inside:
            return 1.0 if known.capital > 0.5 * known.inside else 0.0
        return 1.0 if is_cue or word in self._title else 0.3
