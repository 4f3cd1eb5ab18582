"""Hallucinations: texts that Whisper writes and nobody says, such as thanks to an audience, or loops."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("hallucinations.toml")
#: Identical segments in a row that are believed; more for one or two words, since people do repeat "yes".
MOST_ALIKE, MOST_ALIKE_SHORT = 2, 6
#: A loop within a segment: repeated at least so often, in a text that zlib compresses more than this.
LEAST_TIMES, LOOPS = 4, 2.4
LOOP = re.compile(rf"(\S.{{0,100}}?)(?:[\s,.!?;-]*\1){{{LEAST_TIMES - 1},}}", re.DOTALL)
#: An often invented text is believed if the model takes the sound for speech and is sure of its words.
MOST_NO_SPEECH, LEAST_LOG_PROBABILITY = 0.5, -0.7


def without_hallucinations(found: Iterable[Any]) -> Iterator[Any]:
    """Yield faster-whisper's segments without hallucinations."""
    before, alike = "", 0
    for segment in found:
        text = plain(segment.text)
        alike = alike + 1 if text == before else 1
        before = text
        most = MOST_ALIKE if len(text.split()) > 2 else MOST_ALIKE_SHORT
        if alike > most or is_invented(segment):
            continue
        yield cut_loop(segment)


def is_invented(segment: Any) -> bool:
    """Return whether a segment has no word, or is a text that Whisper knows from subtitles."""
    text = plain(segment.text)
    if not text or any(credit in text for credit in _texts("never_said")):
        return True
    is_doubtful = segment.no_speech_prob > MOST_NO_SPEECH or segment.avg_logprob < LEAST_LOG_PROBABILITY
    return is_doubtful and text in _texts("often_invented")


def cut_loop(segment: Any) -> Any:
    """Return a segment in which a loop stands once."""
    if segment.compression_ratio <= LOOPS or (loop := LOOP.search(segment.text)) is None:
        return segment
    segment.text = segment.text[: loop.start()] + loop[1] + segment.text[loop.end() :]
    if segment.words is not None:
        segment.words = list(_words_outside(segment.words, loop.start() + len(loop[1]), loop.end()))
    return segment


def plain(text: str) -> str:
    """Return the words of a text for comparison, without case and punctuation."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _words_outside(words: Iterable[Any], start: int, end: int) -> Iterator[Any]:
    """Yield the words that begin outside a part of their text."""
    at = 0
    for word in words:
        if not start <= at < end:
            yield word
        at += len(word.word)


@cache
def _texts(kind: str) -> frozenset[str]:
    listed = tomllib.loads(FILE.read_text("utf-8"))[kind]
    return frozenset(plain(text) for texts in listed.values() for text in texts)
