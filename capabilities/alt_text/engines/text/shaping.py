"""Shaping: any text about a picture, brought into the form that its mode promises."""

import re
from collections.abc import Sequence

from capabilities.alt_text.engines import Mode
from capabilities.alt_text.engines.text.cleaning import WORDS, balanced, clean, tidy, without_opener, without_repeats
from workers.engines import EngineUnavailable

#: Most characters of a text (docs/alt-text.md).
LIMITS: dict[Mode, int] = {"short": 125, "long": 500, "seo": 160}
MOST_SENTENCES: dict[Mode, int] = {"short": 2, "long": 3, "seo": 2}

TERMINAL = ".!?…。！？।؟"
CLOSING = "\"'”’»“)]」』"
SENTENCE_EDGE = re.compile(rf"(?<=[.!?…])[{re.escape(CLOSING)}]*(?=\s+[^\s,;:a-zà-ÿ])|(?<=[。！？।])[」』]*")
ABBREVIATION = re.compile(
    r"(?:\b[^\W\d_]|\b(?:mr|mrs|ms|dr|st|no|nr|vs|jr|sr|approx|ca|etc|inc|ltd|co|art|fig|p|pp|z\.b|bzw|usw|sra?|dra?|ud|núm"
    r"|mme|mlle|av|prof|sig|dott|pág|vol))\.\Z",
    re.IGNORECASE,
)
CLAUSE_EDGE = re.compile(r"[,;:](?=\s)|\s[-–—](?=\s)|[，、；：،؛—]|\s(?=\()")
#: Articles, prepositions and the like, which can't be the last word of a text.
DANGLING = frozenset(" ".join(WORDS["dangling"].values()).split())


class NothingSaid(EngineUnavailable):
    """An engine's answer has no words."""

    code = "engine_gave_nothing"


def shape(text: str, mode: Mode, *, is_generated: bool = True, is_ended: bool = True) -> str:
    """Return a text as its mode promises: plain words, within the limit, in whole sentences or up to a clause's end.

    `is_generated`: a model wrote it, so repetitions are removed; an author's are meant. `is_ended`: it is complete; if
    not, an unfinished last sentence is dropped. Raises NothingSaid when no word is left."""
    sentences = _sentences(clean(text), is_generated)
    if not is_ended and len(sentences) > 1 and sentences[-1][-1] not in TERMINAL:
        sentences.pop()
    return fitted(sentences, mode)


def fitted(sentences: Sequence[str], mode: Mode) -> str:
    """Return as many clean sentences as a mode has room for, punctuated. Raises NothingSaid if there are none."""
    chosen = _chosen([_capitalised(sentence) for sentence in sentences], LIMITS[mode], MOST_SENTENCES[mode])
    if not chosen:
        raise NothingSaid("The engine said nothing about the picture. Try again, or with another engine.")
    if mode == "short" and len(chosen) == 1:
        return re.sub(r"(?<=[^.])[.。]\Z", "", chosen[0]).rstrip()
    return _joined(chosen)


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a line; "St. Mary" and "3.14" are not cut."""
    sentences = []
    start = 0
    for edge in SENTENCE_EDGE.finditer(text):
        if not ABBREVIATION.search(text, start, edge.start()):
            sentences.append(text[start : edge.end()].strip())
            start = edge.end()
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]


def _sentences(text: str, is_generated: bool) -> list[str]:
    if is_generated:
        text = without_repeats(text)
    sentences: list[str] = []
    for sentence in split_sentences(text):
        said = _capitalised(_trimmed(without_opener(sentence.lstrip(" ,;:.!?…-–—。、"))))
        if any(character.isalnum() for character in said) and said not in sentences:
            sentences.append(said)
    return sentences


def _chosen(sentences: Sequence[str], limit: int, most: int) -> list[str]:
    """Return the first sentences that fit, each with a full stop; a first one that is too long is cut."""
    chosen: list[str] = []
    for sentence in sentences[:most]:
        ended = _ended(sentence)
        if len(_joined([*chosen, ended])) > limit:
            break
        chosen.append(ended)
    if sentences and not chosen:
        cut = cut_to(sentences[0], limit - 1)
        return [_ended(cut)] if cut else []
    return chosen


def cut_to(text: str, limit: int) -> str:
    """Return the start of a text: up to the last clause that fits, or else up to a word, with an ellipsis."""
    if len(text) <= limit:
        return text
    edges = [edge.start() for edge in CLAUSE_EDGE.finditer(text, 0, limit + 1) if edge.start() >= limit * 2 // 5]
    for edge in reversed(edges):
        if text[:edge].count("“") + text[:edge].count("«") == text[:edge].count("”") + text[:edge].count("»"):
            return _trimmed(balanced(_without_dangling(text[:edge])))
    words = text[:limit].rpartition(" ")[0] if text[limit - 1 : limit].strip() else text[:limit].rstrip()
    kept = words if len(words) >= limit // 3 else text[: limit - 1]
    return _trimmed(balanced(_without_dangling(kept)))[: limit - 1].rstrip() + "…"


def _without_dangling(text: str) -> str:
    words = text.split(" ")
    while len(words) > 1 and words[-1].strip(" ,;:-–—'’").lower() in DANGLING:
        words.pop()
    return " ".join(words)


def _trimmed(text: str) -> str:
    """Return a text without punctuation at its end that announces more, such as a comma or a dash."""
    return tidy(re.sub(r"[\s,;:/&+=\\|_~^•·-–—\-]+\Z", "", text))


def _capitalised(text: str) -> str:
    """Return a text with a capital as first letter, unless the second is one: "iPhone"."""
    first = text[:1].upper()
    if len(first) != 1 or text[1:2].isupper():
        return text
    return first + text[1:]


def _ended(sentence: str) -> str:
    bare = sentence.rstrip(CLOSING)
    if bare and bare[-1] in TERMINAL:
        return sentence
    return sentence + (
        "。" if "\u3040" <= sentence[-1] <= "\u9fff" else "।" if "\u0900" <= sentence[-1] <= "\u097f" else "."
    )


def _joined(sentences: Sequence[str]) -> str:
    return "".join(
        sentence if index == 0 or sentences[index - 1][-1] in "。！？」』" else f" {sentence}"
        for index, sentence in enumerate(sentences)
    )
