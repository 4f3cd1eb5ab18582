"""English only: keeps the text of a model that knows only English where English was spoken.

Such a model answers every language with fluent English that nobody said. It gives itself away: it is unsure of its
words, and hears others if the same sound is played a little faster. Or it passes over foreign speech, often behind
English in the same half minute. docs/transcription.md has the figures.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capabilities.transcription.engines import SAMPLE_RATE, Foreign

#: Least mean log probability of a token that proves English: 71 of 100 English sounds reach it, none of 286 others.
SURE = -0.5
#: Texts that zlib compresses more than this are loops of the same words.
LOOPS = 2.4
#: How much faster the sound is played again; its pitch rises by a semitone.
FASTER = 1.06
#: The weight of the share of common words against the mean log probability.
AGREEMENT_WEIGHT = 0.8
#: Lowest scores of English, for long and for short speech.
LEAST, LEAST_SHORT = -0.3, -0.75
SHORT_SECONDS = 3.0
#: Lowest share of common words in a loop that somebody did say.
LEAST_OF_LOOP = 0.7
#: Seconds of sound taken with speech, before and after it.
MARGIN = 0.2
#: Most tokens of half a minute: quick speakers say about 150. A loop would go on to 448, less up to 225 of a prompt.
MOST_TOKENS = 200
#: Seconds of speech without text that are heard again by themselves. Shorter ones can't be judged well.
LEAST_PASSED_OVER = 3.0


class EnglishOnly:
    """Judges the segments of one sound (float32, 16 kHz), half minute by half minute."""

    #: How the model decodes: once and without chance, so that text and verdict are reproducible. Whisper would try
    #: unsure words and loops again at random, but they are the evidence.
    HOW: Mapping[str, Any] = {
        "temperature": 0.0,
        "compression_ratio_threshold": None,
        "log_prob_threshold": None,
        "no_speech_threshold": None,
        "max_new_tokens": MOST_TOKENS,
    }

    def __init__(self, model: Any, sound: NDArray[Any], hear: Callable[[NDArray[Any]], Iterable[Any]]) -> None:
        """`hear` returns faster-whisper's segments of a sound, decoded by HOW."""
        self._model = model
        self._sound = sound
        self._hear = hear

    def kept(self) -> Iterator[Any]:
        """Yield the English segments, and Foreign in place of others."""
        written = 0.0
        for segments in self._half_minutes(0.0, len(self._sound) / SAMPLE_RATE):
            yield from self._passed_over(written, segments[0].start)
            yield from self._judged(segments)
            written = segments[-1].end
        yield from self._passed_over(written, len(self._sound) / SAMPLE_RATE)

    def _passed_over(self, start: float, end: float) -> Iterator[Any]:
        """Yield the segments of a part without text, heard from the start of its own speech."""
        spoken = self._spoken(start, end)
        if sum(last - first for first, last in spoken) >= LEAST_PASSED_OVER:
            for segments in self._half_minutes(spoken[0][0], spoken[-1][1]):
                yield from self._judged(segments)

    def _half_minutes(self, start: float, end: float) -> Iterator[list[Any]]:
        for _, decoded in groupby(self._hear(self._part(start, end)), key=lambda segment: segment.seek):
            yield [_later(segment, start) for segment in decoded]

    def _judged(self, segments: list[Any]) -> Iterator[Any]:
        if self._is_english(segments):
            yield from segments
        else:
            yield Foreign(float(segments[0].start), float(segments[-1].end))

    def _spoken(self, start: float, end: float) -> list[tuple[float, float]]:
        """Return the times of speech in a part, in seconds of the whole sound."""
        if end - start < LEAST_PASSED_OVER:
            return []
        from faster_whisper.vad import VadOptions, get_speech_timestamps

        how = VadOptions(min_speech_duration_ms=250, min_silence_duration_ms=500, speech_pad_ms=0)
        found = get_speech_timestamps(self._part(start, end), how)
        return [(start + one["start"] / SAMPLE_RATE, start + one["end"] / SAMPLE_RATE) for one in found]

    def _part(self, start: float, end: float) -> NDArray[Any]:
        return self._sound[max(0, int(start * SAMPLE_RATE)) : int(end * SAMPLE_RATE)]

    def _is_english(self, segments: Sequence[Any]) -> bool:
        if not _is_loop(segments) and _log_probability(segments) >= SURE:
            return True
        again = self._decoded_again(segments)
        agreement = _agreement(segments, again)
        if _is_loop(segments) or _is_loop(again):
            return agreement >= LEAST_OF_LOOP
        score = (_log_probability(segments) + _log_probability(again)) / 2 + AGREEMENT_WEIGHT * agreement
        seconds = float(segments[-1].end - segments[0].start)
        return score >= (LEAST_SHORT if seconds < SHORT_SECONDS else LEAST)

    def _decoded_again(self, segments: Sequence[Any]) -> Sequence[Any]:
        part = self._part(segments[0].start - MARGIN, segments[-1].end + MARGIN)
        places = np.arange(0, len(part) - 1, FASTER)
        faster = np.interp(places, np.arange(len(part)), part).astype(np.float32)
        how = dict(self.HOW, temperature=0.0, language="en", beam_size=1, without_timestamps=True, vad_filter=True)
        return list(self._model.transcribe(faster, **how)[0])


def _later(segment: Any, seconds: float) -> Any:
    """Return a segment with its times moved."""
    words = segment.words and [replace(one, start=one.start + seconds, end=one.end + seconds) for one in segment.words]
    return replace(segment, start=segment.start + seconds, end=segment.end + seconds, words=words)


def _is_loop(segments: Sequence[Any]) -> bool:
    return any(segment.compression_ratio > LOOPS for segment in segments)


def _log_probability(segments: Sequence[Any]) -> float:
    return float(np.mean([segment.avg_logprob for segment in segments])) if segments else -1.0


def _agreement(first: Sequence[Any], second: Sequence[Any]) -> float:
    return SequenceMatcher(None, _words(first), _words(second), autojunk=False).ratio()


def _words(segments: Sequence[Any]) -> list[str]:
    return re.findall(r"[\w']+", " ".join(segment.text for segment in segments).lower())
