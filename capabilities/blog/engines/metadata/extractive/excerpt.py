"""Excerpt: the sentences that stand for a post, or one made of its title."""

from collections.abc import Sequence

from capabilities.blog.engines.metadata.checks import LONGEST_EXCERPT, cut
from capabilities.blog.engines.metadata.extractive.sentences import (
    WHOLE,
    Sentence,
    is_question,
    is_usable,
    refers_back,
    sentences_of,
    standing_alone,
    turns_away,
)
from capabilities.blog.engines.metadata.terms import terms_of
from workers.engines.languages.languages import UNSPACED, Language

#: Most sentences of an excerpt, and of a post, counted from its beginning, that may start one (docs/blog.md).
MOST_CHOSEN, MOST_STARTS = 3, 40

#: Least independence (0 to 1) of a sentence in an excerpt.
LEAST_ALONE = 0.2

#: The weight of a passage: without a word of the title; within a paragraph; of a sentence that refers to others.
#: Sentences after which a passage weighs half, and characters of one of full weight.
UNTITLED, INSIDE, DANGLING, FADING, USUAL_LENGTH = 0.5, 0.5, 0.25, 5.0, 110

#: Words of the title that a passage needs for full weight.
ENOUGH_WORDS = 3

#: Ends of sentences other than a point; Thai has a space.
FULL_STOPS = {"zh": "。", "ja": "。", "hi": "।", "th": ""}


def excerpt_of(title: str, text: str, language: Language) -> str | None:
    """Return a passage that stands for a post: early, about the title's words, and clear by itself; or None."""
    everything = sentences_of(text)
    alone = [standing_alone(s, title) if is_usable(s, title, language) else 0.0 for s in everything]
    subject = frozenset(terms_of(title, language))
    best, passage = 0.0, ""
    for start in range(min(len(everything), MOST_STARTS)):
        if alone[start] < LEAST_ALONE:
            continue
        chosen = _passage(everything, alone, start, language)
        worth = alone[start] * _worth_of_start(everything, start, language)
        shared = len(subject.intersection(terms_of(chosen, language))) / max(min(len(subject), ENOUGH_WORDS), 1)
        worth *= UNTITLED + (1 - UNTITLED) * min(shared, 1.0)
        worth *= 0.5 + 0.5 * min(len(chosen) / USUAL_LENGTH, 1.0)
        if worth > best:
            best, passage = worth, chosen
    return cut(passage) if passage else None


def _passage(sentences: Sequence[Sentence], alone: Sequence[float], start: int, language: Language) -> str:
    """Return a sentence and those that follow it, as far as they fit and go on from it."""
    passage = sentences[start].text
    for number in range(start + 1, min(start + MOST_CHOSEN, len(sentences))):
        text = f"{passage}{_joiner(language)}{sentences[number].text}"
        is_next = sentences[number].place == sentences[number - 1].place + 1
        if not is_next or len(text) > LONGEST_EXCERPT or alone[number] < LEAST_ALONE:
            break
        if is_question(sentences[number].text):
            break
        passage = text
    return passage


def _worth_of_start(sentences: Sequence[Sentence], start: int, language: Language) -> float:
    """Return the weight of a passage by its first sentence: the earlier and clearer, the more."""
    first = sentences[start]
    worth = 1.0 / (1.0 + first.place / FADING)
    if not first.opens:
        worth *= INSIDE
    # “These cookies” at the start of a post are those of its title.
    if turns_away(first.text, language) or (first.place and refers_back(first.text, language)):
        worth *= DANGLING
    return worth


def titled_excerpt(title: str, subject: str | None, language: Language) -> str:
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
