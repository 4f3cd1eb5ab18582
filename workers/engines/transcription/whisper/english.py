"""English only: what a model that knows English alone has written down is kept only where English was spoken.

Such a model answers every language with fluent English that nobody has said. It can't tell the language, but it gives
itself away: it is not sure of its words, and it hears others when the same sound is played a little faster.
docs/transcription.md has the figures of this rule.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.engines.transcription import SAMPLE_RATE, Foreign

#: Mean log probability of a token from which on it was English: 71 of 100 English sounds reach it, none of 286 others.
SURE = -0.5
#: Texts that zlib makes smaller than this are loops, such as the same words again and again.
LOOPS = 2.4
#: How much faster the sound is played the second time; the pitch rises too, by a semitone.
FASTER = 1.06
#: What the share of words that both decodings have counts beside their mean log probability.
AGREEMENT_WEIGHT = 0.8
#: Lowest scores of English: of speech that is long enough to be judged by, and of shorter speech.
LEAST, LEAST_SHORT = -0.3, -0.75
SHORT_SECONDS = 3.0
#: Lowest share of words that both decodings of a loop have, if somebody did say the same again and again.
LEAST_OF_LOOP = 0.7
#: Seconds of sound that are taken with speech, before and after it.
MARGIN = 0.2
#: Most tokens of half a minute: quick speakers say about 150, and a loop would go on to 448, less those of a prompt. Of
#: these there may be 225.
MOST_TOKENS = 200


class EnglishOnly:
    """Judges what a model has heard in one sound (float32, 16 kHz), half minute by half minute."""

    #: How the model decodes. Loops alone are tried again: unsure words are what the verdict is made of.
    HOW: Mapping[str, Any] = {
        "temperature": (0.0, 0.4),
        "compression_ratio_threshold": LOOPS,
        "log_prob_threshold": None,
        "no_speech_threshold": None,
        "max_new_tokens": MOST_TOKENS,
    }

    def __init__(self, model: Any, sound: NDArray[Any]) -> None:
        self._model = model
        self._sound = sound

    def kept(self, found: Iterable[Any]) -> Iterator[Any]:
        """Yield faster-whisper's segments where they are English, and Foreign in place of the others."""
        for _, decoded in groupby(found, key=lambda segment: segment.seek):
            segments = list(decoded)
            if self._is_english(segments):
                yield from segments
            else:
                yield Foreign(float(segments[0].start), float(segments[-1].end))

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
        start = max(0, int((segments[0].start - MARGIN) * SAMPLE_RATE))
        part = self._sound[start : int((segments[-1].end + MARGIN) * SAMPLE_RATE)]
        places = np.arange(0, len(part) - 1, FASTER)
        faster = np.interp(places, np.arange(len(part)), part).astype(np.float32)
        how = dict(self.HOW, temperature=0.0, language="en", beam_size=1, without_timestamps=True, vad_filter=True)
        return list(self._model.transcribe(faster, **how)[0])


def _is_loop(segments: Sequence[Any]) -> bool:
    return any(segment.compression_ratio > LOOPS for segment in segments)


def _log_probability(segments: Sequence[Any]) -> float:
    return float(np.mean([segment.avg_logprob for segment in segments])) if segments else -1.0


def _agreement(first: Sequence[Any], second: Sequence[Any]) -> float:
    return SequenceMatcher(None, _words(first), _words(second), autojunk=False).ratio()


def _words(segments: Sequence[Any]) -> list[str]:
    return re.findall(r"[\w']+", " ".join(segment.text for segment in segments).lower())
