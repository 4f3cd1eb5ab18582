"""libespeak-ng by ctypes: the calls that list its voices and make it speak.

The library keeps its voice and parameters in global variables, so one thread at a time may use it: hold `LOCK`.
"""

import ctypes
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from capabilities.speech.engines.utterance import SpokenWord, Utterance
from pipeline.errors import NotReady
from workers.engines import Stopped, never
from workers.engines.locks import FairLock
from workers.media.audio.pcm import SAMPLE_BYTES, Pcm

#: Held while the library speaks, and while it is loaded.
LOCK, _LOADING = FairLock(), threading.Lock()

# speak_lib.h of espeak-ng 1.52.
_AUDIO_OUTPUT_SYNCHRONOUS = 2
_INITIALIZE_DONT_EXIT = 0x8000
_RATE = 1
_PITCH = 3
_CHARS_UTF8 = 1  # without SSML (0x10) and PHONEMES (0x100), so that no text is taken for commands
_LIST_END, _WORD, _CLAUSE_END = 0, 1, 5  # espeak_EVENT_TYPE
#: The rate, in words a minute, and the pitch that voices have by default.
NORMAL_RATE = 175
NORMAL_PITCH = 50

_SynthCallback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


class _Voice(ctypes.Structure):
    """espeak_VOICE of speak_lib.h, up to the fields read here."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("languages", ctypes.c_void_p),
        ("identifier", ctypes.c_char_p),
    )


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
    """A word begins at `start` of the text and so many seconds of the sound; `length` 0: a clause has ended."""

    start: int
    length: int
    seconds: float


class EspeakFailed(RuntimeError):
    """The library refused a call."""


@dataclass(frozen=True, slots=True)
class LibraryVoice:
    """A voice as the library lists it, with its best language first."""

    identifier: str
    name: str
    languages: tuple[str, ...]


class Library:
    """The loaded library; `load()` returns the one of this process."""

    def __init__(self, path: Path, voice_folder: Path) -> None:
        self.functions = ctypes.CDLL(str(path))
        self._declare()
        self.sample_rate = self.functions.espeak_Initialize(
            _AUDIO_OUTPUT_SYNCHRONOUS, 0, bytes(voice_folder), _INITIALIZE_DONT_EXIT
        )
        if self.sample_rate <= 0:
            raise NotReady(f"libespeak-ng found no voices in {voice_folder}. Reinstall the package espeakng-loader.")
        self._listing = threading.Lock()
        self._voices: Sequence[LibraryVoice] = ()
        # For the text that is being spoken.
        self._samples = bytearray()
        self._events: list[WordEvent] = []
        self._stop: Callable[[], bool] = never
        self._raised: Stopped | MemoryError | None = None
        # The library keeps only the pointer, so the callback must live as long as this object.
        self._callback = _SynthCallback(self._receive)
        self.functions.espeak_SetSynthCallback(self._callback)

    def voices(self) -> Sequence[LibraryVoice]:
        """Return every voice of a language, without the variants (`+f2`) that can be added to each."""
        # Listed once: the library collects them in global variables, which two threads at once overflow.
        with self._listing:
            self._voices = self._voices or tuple(self._list_voices())
            return self._voices

    def _list_voices(self) -> Iterator[LibraryVoice]:
        listed = self.functions.espeak_ListVoices(None)
        for place in itertools.count():
            if not listed[place]:  # a C array ends with a null pointer
                return
            voice = listed[place].contents
            yield LibraryVoice(voice.identifier.decode(), voice.name.decode().strip(), _languages(voice.languages))

    def speak(self, text: str, *, voice: str, rate: int, pitch: int, stop: Callable[[], bool]) -> Utterance:
        """Return the text as sound, with its words. The caller holds LOCK. Raises Stopped, EspeakFailed."""
        self._check(self.functions.espeak_SetVoiceByName(voice.encode()), "espeak_SetVoiceByName")
        self._check(self.functions.espeak_SetParameter(_RATE, rate, 0), "espeak_SetParameter")
        self._check(self.functions.espeak_SetParameter(_PITCH, pitch, 0), "espeak_SetParameter")
        encoded = text.encode()
        samples, events = bytearray(), list[WordEvent]()
        self._samples, self._events = samples, events
        self._stop, self._raised = stop, None
        try:
            result = self.functions.espeak_Synth(encoded, len(encoded) + 1, 0, 1, 0, _CHARS_UTF8, None, None)
        finally:
            self._samples, self._events, self._stop = bytearray(), [], never
        if self._raised is not None:
            raise self._raised
        self._check(result, "espeak_Synth")
        sound = Pcm(samples, self.sample_rate)
        return Utterance(sound, _spoken_words(events, sound))

    def _receive(self, samples: int | None, count: int, events: int | None) -> int:
        """Keep a piece of sound and its events. Returning 1 makes the library stop."""
        if samples is None:
            return 0
        try:
            self._samples += ctypes.string_at(samples, max(0, count) * SAMPLE_BYTES)
            if events is not None:
                self._events.extend(_read_events(events))
            if self._stop():
                raise Stopped
        except (Stopped, MemoryError) as error:  # it can't pass through C; speak() raises it again
            self._raised = error
            return 1
        return 0

    def _check(self, result: int, call: str) -> None:
        if result != 0:
            raise EspeakFailed(f"{call} of libespeak-ng returned {result}.")

    def _declare(self) -> None:
        functions = self.functions
        functions.espeak_Initialize.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_int)
        functions.espeak_SetSynthCallback.argtypes = (_SynthCallback,)
        functions.espeak_ListVoices.restype = ctypes.POINTER(ctypes.POINTER(_Voice))
        functions.espeak_ListVoices.argtypes = (ctypes.c_void_p,)
        functions.espeak_SetVoiceByName.argtypes = (ctypes.c_char_p,)
        functions.espeak_SetParameter.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int)
        functions.espeak_Synth.argtypes = (
            ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint, ctypes.c_int, ctypes.c_uint, ctypes.c_uint,
            ctypes.c_void_p, ctypes.c_void_p,
        )  # fmt: skip


def find() -> tuple[Path, Path]:
    """Return where the library and its voices are. Raises NotReady."""
    try:
        import espeakng_loader
    except ImportError as error:
        raise NotReady("espeak needs the package espeakng-loader: pip install espeakng-loader.") from error
    library = Path(espeakng_loader.get_library_path())
    voices = Path(espeakng_loader.__file__).with_name("espeak-ng-data")
    for path in (library, voices):
        if not path.exists():
            raise NotReady(f"{path} is missing. Reinstall the package espeakng-loader.")
    return library, voices


def load() -> Library:
    """Return this process's library. Raises NotReady."""
    with _LOADING:
        return _load()


@cache
def _load() -> Library:
    try:
        return Library(*find())
    except (OSError, AttributeError) as error:
        raise NotReady(f"libespeak-ng does not load on this machine: {error}.") from error


def _languages(address: int) -> tuple[str, ...]:
    """Read pairs of a priority byte (low is better) and a C string, up to a zero priority."""
    found: list[tuple[int, str]] = []
    while priority := ctypes.string_at(address, 1)[0]:
        language = ctypes.string_at(address + 1)
        found.append((priority, language.decode()))
        address += len(language) + 2
    return tuple(language for _, language in found)


def _read_events(address: int) -> Iterator[WordEvent]:
    """Yield the events of one piece of sound."""
    events = ctypes.cast(address, ctypes.POINTER(_Event))
    place = 0
    while (event := events[place]).type != _LIST_END:
        if event.type in (_WORD, _CLAUSE_END):
            length = event.length if event.type == _WORD else 0
            yield WordEvent(max(0, event.text_position - 1), length, event.audio_position / 1_000)
        place += 1


def _spoken_words(events: Sequence[WordEvent], sound: Pcm) -> list[SpokenWord]:
    """Return the words of a sound. Each lasts until the next event, less the silence before that."""
    ends = [event.seconds for event in events[1:]] + [sound.duration.total_seconds()]
    return [
        SpokenWord(event.start, event.start + event.length, event.seconds, _audible(sound, event.seconds, end))
        for event, end in zip(events, ends, strict=True)
        if event.length
    ]


def _audible(sound: Pcm, begins: float, ends: float) -> float:
    """Return where the sound between two times falls silent for good."""
    first, last = (round(seconds * sound.sample_rate) * SAMPLE_BYTES for seconds in (begins, ends))
    heard = len(sound.samples[first:last].rstrip(b"\0"))
    return min(ends, begins + heard / SAMPLE_BYTES / sound.sample_rate)
