"""Excerpt: the sentences that stand for a post, or one made of its title."""

from collections.abc import Sequence

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

#: Most sentences of an excerpt, and of a post, counted from its beginning, that may start one (docs/blog.md).
MOST_CHOSEN, MOST_STARTS = 3, 40

#: How well a sentence must stand alone (0 to 1) to be in an excerpt.
LEAST_ALONE = 0.2

#: The weight of a passage: without a word of the title; within a paragraph; of a sentence that refers to others; of one
#: that has to be cut. Sentences after which a passage weighs half, and characters of one of full weight.
UNTITLED, INSIDE, DANGLING, CUT, FADING, USUAL_LENGTH = 0.5, 0.5, 0.25, 0.7, 5.0, 110

#: Words of the title that a passage needs for full weight.
ENOUGH_WORDS = 3

#: Least characters of a sentence that opens a post behind a question; a shorter one answers the question.
SHORTEST_ANSWERLESS = 60

#: Least characters of a post that is its own excerpt.
SHORTEST_WHOLE = 40

#: Ends of sentences other than a point; Thai has a space.
FULL_STOPS = {"zh": "。", "ja": "。", "hi": "।", "th": ""}


def excerpt_of(title: str, text: str, language: Language) -> str | None:
    """Return a passage that stands for a post: early, about the title's words, and clear by itself; or None."""
    everything = sentences_of(text)
    if (whole := _whole_post(everything, language)) is not None:
        return whole
    alone = [standing_alone(s, title, language) if is_usable(s, title, language) else 0.0 for s in everything]
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
    return cut(passage) if passage else _first_words(everything, title)


def _passage(sentences: Sequence[Sentence], alone: Sequence[float], start: int, language: Language) -> str:
    """Return a sentence and those that follow it, as far as they fit and go on from it."""
    passage = sentences[start].text
    for number in range(start + 1, min(start + MOST_CHOSEN, len(sentences))):
        text = f"{passage}{_joiner(language)}{sentences[number].text}"
        is_next = sentences[number].place == sentences[number - 1].place + 1
        if not is_next or len(text) > LONGEST_EXCERPT or alone[number] < LEAST_ALONE:
            break
        if turns_away(sentences[number].text, language) or is_question(sentences[number].text):
            break
        passage = text
    return passage


def _worth_of_start(sentences: Sequence[Sentence], start: int, language: Language) -> float:
    """Return the weight of a passage by its first sentence: the earlier and clearer, the more."""
    first = sentences[start]
    worth = 1.0 / (1.0 + first.place / FADING)
    if not first.opens and not (start and _answers_nothing(sentences[start - 1], first, language)):
        worth *= INSIDE
    # “These cookies” at the start of a post are those of its title.
    if turns_away(first.text, language) or (first.place and refers_back(first.text, language)):
        worth *= DANGLING
    return worth * (CUT if len(first.text) > LONGEST_EXCERPT else 1.0)


def _answers_nothing(before: Sentence, sentence: Sentence, language: Language) -> bool:
    """Return whether only a question, which the sentence does not answer, precedes it in its paragraph."""
    if not (before.opens and is_question(before.text)):
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


def _first_words(sentences: list[Sentence], title: str) -> str | None:
    """Return the beginning of the first long line of prose, or None."""
    lines = (s.text for s in sentences if len(s.text) >= 60 and s.text.casefold() != title.casefold())
    return next((cut(text) for text in lines if is_prose(text) and not is_unwanted(text)), None)
