"""libespeak-ng by ctypes: the calls that list its voices and make it speak.

The library keeps its voice and its parameters in global variables. So one thread at a time may use it: hold `LOCK`.
"""

import ctypes
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from capabilities.speech.engines.espeak.word_events import WordEvent, read_events, spoken_words
from capabilities.speech.engines.utterance import Utterance
from pipeline.errors import NotReady
from workers.engines import Stopped, never
from workers.engines.locks import FairLock
from workers.media.audio.pcm import SAMPLE_BYTES, Pcm

#: Held while the library speaks.
LOCK = FairLock()

# speak_lib.h of espeak-ng 1.52.
_AUDIO_OUTPUT_SYNCHRONOUS = 2
_INITIALIZE_DONT_EXIT = 0x8000
_RATE = 1
_PITCH = 3
_CHARS_UTF8 = 1  # without SSML (0x10) and PHONEMES (0x100), so that no text is taken for commands

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


class EspeakFailed(RuntimeError):
    """The library refused a call."""


@dataclass(frozen=True, slots=True)
class LibraryVoice:
    """A voice as the library lists it; languages are best first."""

    identifier: str
    name: str
    languages: tuple[str, ...]


class Library:
    """The loaded library; `load()` makes the one of this process."""

    def __init__(self, path: Path, voice_folder: Path) -> None:
        self.functions = ctypes.CDLL(str(path))
        self._declare()
        self.sample_rate = self.functions.espeak_Initialize(
            _AUDIO_OUTPUT_SYNCHRONOUS, 0, bytes(voice_folder), _INITIALIZE_DONT_EXIT
        )
        if self.sample_rate <= 0:
            raise NotReady(f"libespeak-ng found no voices in {voice_folder}. Reinstall the package espeakng-loader.")
        # Of the text that is being spoken.
        self._samples = bytearray()
        self._events: list[WordEvent] = []
        self._stop: Callable[[], bool] = never
        self._raised: BaseException | None = None
        # The library keeps the pointer only, so the callback must live as long as this object.
        self._callback = _SynthCallback(self._receive)
        self.functions.espeak_SetSynthCallback(self._callback)

    def voices(self) -> Iterator[LibraryVoice]:
        """Yield every voice that a language has, without the variants (`+f2`), which can be added to each."""
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
        return Utterance(sound, spoken_words(events, sound))

    def _receive(self, samples: int | None, count: int, events: int | None) -> int:
        """Keep a piece of sound, and what is told of it; 1 makes the library stop."""
        if samples is None:
            return 0
        try:
            self._samples += ctypes.string_at(samples, max(0, count) * SAMPLE_BYTES)
            if events is not None:
                self._events.extend(read_events(events))
            if self._stop():
                raise Stopped
        except BaseException as error:  # noqa: BLE001  it can't pass through C; speak() raises it again
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
    """Return where the library and its voices are; raises NotReady."""
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


@cache
def load() -> Library:
    """Return this process's library; raises NotReady."""
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
