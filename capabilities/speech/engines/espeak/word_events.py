"""Word events: libespeak-ng tells, with each piece of sound, where in the text it is."""

import ctypes
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from capabilities.speech.engines.utterance import SpokenWord
from workers.media.audio.pcm import SAMPLE_BYTES, Pcm

# espeak_EVENT_TYPE of speak_lib.h.
_LIST_END = 0
_WORD = 1
_CLAUSE_END = 5


class _Event(ctypes.Structure):
    """espeak_EVENT of speak_lib.h; `text_position` counts characters from 1, `audio_position` milliseconds."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    )


class WordEvent(NamedTuple):
    """A word begins at the place `start` of the text and at so many seconds; `length` 0: a clause has ended."""

    start: int
    length: int
    seconds: float


def read_events(address: int) -> Iterator[WordEvent]:
    """Yield the events of one piece of sound, of a list that ends with an event of no type."""
    events = ctypes.cast(address, ctypes.POINTER(_Event))
    place = 0
    while (event := events[place]).type != _LIST_END:
        if event.type in (_WORD, _CLAUSE_END):
            length = event.length if event.type == _WORD else 0
            yield WordEvent(max(0, event.text_position - 1), length, event.audio_position / 1_000)
        place += 1


def spoken_words(events: Sequence[WordEvent], sound: Pcm) -> list[SpokenWord]:
    """Return the words of a sound: each lasts until the next event, without the silence before that."""
    words = []
    ends = [event.seconds for event in events[1:]] + [sound.duration.total_seconds()]
    for event, end in zip(events, ends, strict=True):
        if event.length:
            words.append(
                SpokenWord(event.start, event.start + event.length, event.seconds, _audible(sound, event.seconds, end))
            )
    return words


def _audible(sound: Pcm, begins: float, ends: float) -> float:
    """Return where the sound between two times falls silent for good."""
    first, last = (round(seconds * sound.sample_rate) * SAMPLE_BYTES for seconds in (begins, ends))
    heard = len(sound.samples[first:last].rstrip(b"\0"))
    return min(ends, begins + heard / SAMPLE_BYTES / sound.sample_rate)
