"""Sphinx: CMU pocketsphinx with the English model of its wheel, for drafts where Whisper is not installed."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Self

from pipeline.kinds.transcription.transcripts import Segment, Word
from pipeline.settings import Settings
from workers.engines import Stopped, never
from workers.engines.transcription import SAMPLE_RATE, Hearing, Transcriber
from workers.engines.transcription.voice import Span, VoiceDetector
from workers.media.audio.track import Samples

LANGUAGE = "en"
#: Frames of the decoder a second.
FRAME_RATE = 100
#: A pause of so many seconds ends a segment and a sentence; a segment longer than this is split at its longest pause.
SEGMENT_PAUSE, SEGMENT_SECONDS = 0.4, 7.0
_CAPITALS = (
    "i i'm i'll i've i'd monday tuesday wednesday thursday friday saturday sunday january february april june july"
    " august september october november december"
)
#: Words that are written with a capital wherever they are; may and march are not always months.
CAPITALS = frozenset(_CAPITALS.split())
#: Samples that are decoded at a time. The decoder holds Python's global lock meanwhile: with a whole sentence at once,
#: the thread that renews the lease would wait too long.
CHUNK = 2_048
#: The name of a second search, for a single word, which is very fast.
QUICK = "quick"
#: States of the search a frame; the default is 30,000. This finds the same words in two thirds of the time.
MAX_STATES = 3_000


class Sphinx(Transcriber):
    """One decoder a process. It has a state, so it transcribes one sound at a time."""

    name = "sphinx"
    warning = (
        "This is a draft by pocketsphinx, which knows English alone, takes pauses for ends of sentences, and errs in "
        "every seventh word of clear speech: read it against the recording."
    )

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the engine; it has no settings."""
        return cls()

    def readiness(self) -> str | None:
        """Return None: all that it needs is installed with it."""
        return None

    def setup(self) -> None:
        """Load the model, in a second or two."""
        from pocketsphinx import Decoder

        self._decoder: Any = Decoder(samprate=SAMPLE_RATE, loglevel="FATAL", cmn="batch", maxhmmpf=MAX_STATES)
        self._speech = self._decoder.current_search()
        self._decoder.add_keyphrase(QUICK, "hello")
        self._voice = VoiceDetector()

    def languages(self) -> Sequence[str]:
        """Return English."""
        return (LANGUAGE,)

    @contextmanager
    def listen(
        self, samples: Samples, *, language: str | None, timed: bool, stop: Callable[[], bool] = never
    ) -> Iterator[Hearing]:
        """Listen to a sound; every language is taken for English."""
        with self._lock:
            yield Hearing(LANGUAGE, None, punctuated(self._groups(samples, stop)))

    def _groups(self, samples: Samples, stop: Callable[[], bool]) -> Iterator[Sequence[Word]]:
        for span in self._voice.find(samples, stop=stop):
            yield from group(self._words(samples, span, stop))

    def _words(self, samples: Samples, span: Span, stop: Callable[[], bool]) -> list[Word]:
        part = samples[round(span.start * SAMPLE_RATE) : round(span.end * SAMPLE_RATE)].astype("<i2")
        if stop():
            raise Stopped
        self._decoder.reinit_feat()  # forget the noise of the sound before
        self._decoder.set_cmn(self._channel(part))
        self._search(part, stop)
        return [
            # `what(2)` is the second pronunciation of `what`; <sil> and [NOISE] are not words
            Word(
                start=span.start + found.start_frame / FRAME_RATE,
                end=min(span.start + (found.end_frame + 1) / FRAME_RATE, span.end),
                word=found.word.partition("(")[0],
            )
            for found in self._decoder.seg() or ()
            if found.word[0] not in "<["
        ]

    def _search(self, part: Samples, stop: Callable[[], bool]) -> None:
        self._decoder.start_utt()
        try:
            for chunk in range(0, len(part), CHUNK):
                if stop():
                    raise Stopped
                self._decoder.process_raw(part[chunk : chunk + CHUNK].tobytes())
        finally:
            self._decoder.end_utt()  # or the next sound could not begin

    def _channel(self, part: Samples) -> str:
        """Return the cepstral mean of a sound, that is what microphone and room add to all of it, by a quick search.

        The decoder subtracts it. In a sound that comes in chunks it can't find it itself, and makes 1.5 times as many
        errors."""
        self._decoder.activate_search(QUICK)
        self._decoder.start_utt()
        self._decoder.process_raw(part.tobytes(), full_utt=True)
        self._decoder.end_utt()
        channel: str = self._decoder.get_cmn(False)
        self._decoder.activate_search(self._speech)
        self._decoder.reinit_feat()
        return channel


def group(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """Yield words as groups of some seconds, which end at pauses."""
    if not words:
        return
    pauses = [later.start - earlier.end for earlier, later in pairwise(words)]
    is_long = words[-1].end - words[0].start > SEGMENT_SECONDS
    if pauses and (is_long or max(pauses) >= SEGMENT_PAUSE):
        middle = len(words) / 2
        cut = max(range(1, len(words)), key=lambda place: (pauses[place - 1], -abs(place - middle)))
        yield from group(words[:cut])
        yield from group(words[cut:])
        return
    yield words


def punctuated(groups: Iterable[Sequence[Word]]) -> Iterator[Segment]:
    """Yield groups as segments: a sentence ends at a pause, and so does the last one."""
    begins = True
    rest = iter(groups)
    words = next(rest, None)
    while words is not None:
        following = next(rest, None)
        ends = following is None or following[0].start - words[-1].end >= SEGMENT_PAUSE
        texts = [_capital(word.word) if word.word in CAPITALS else word.word for word in words]
        if begins:
            texts[0] = _capital(texts[0])
        if ends:
            texts[-1] += "."
        said = [word.model_copy(update={"word": text}) for word, text in zip(words, texts, strict=True)]
        yield Segment(start=words[0].start, end=words[-1].end, text=" ".join(texts), words=said)
        begins, words = ends, following


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
