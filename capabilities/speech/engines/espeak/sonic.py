"""Sonic: changes the pace or pitch of speech by repeating and dropping single pitch periods.

espeak-ng itself uses this library past 450 words a minute (github.com/waywardgeek/sonic). It is linked into
libespeak-ng with its functions exported, and works 1,000 times faster than real time.
"""

import ctypes
import itertools
import math
from collections.abc import Callable
from functools import cache

from capabilities.speech.engines.espeak import libespeak
from pipeline.errors import NotReady
from workers.engines import Stopped
from workers.media.audio.pcm import SAMPLE_BYTES, Pcm

#: Bytes given to Sonic at once, about 6 s of sound; `stop` is called before each.
BLOCK_BYTES = 2**18
#: Seconds of silence added to the end and cut off again, since Sonic drops the last, incomplete pitch period.
TAIL = 0.05
#: The length to aim at, as a share of the wanted one, since a shorter result is filled up with silence, and the largest
#: error. Sonic keeps pitch periods whole, which makes errors of up to 8 % in half a second of sound; then it is called
#: again with a corrected tempo. Sounds of some seconds are right at the first attempt.
AIM = 0.99
TOLERANCE = 0.02
ATTEMPTS = 8


class Sonic:
    """Sonic's functions in a library. Raises AttributeError if it lacks them."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._create = library.sonicCreateStream
        self._create.restype = ctypes.c_void_p
        self._set_speed = _declared(library.sonicSetSpeed, ctypes.c_float)
        self._set_pitch = _declared(library.sonicSetPitch, ctypes.c_float)
        self._write = _declared(library.sonicWriteShortToStream, ctypes.c_char_p, ctypes.c_int)
        self._available = _declared(library.sonicSamplesAvailable)
        self._read = _declared(library.sonicReadShortFromStream, ctypes.c_char_p, ctypes.c_int)
        self._flush = _declared(library.sonicFlushStream)
        self._destroy = _declared(library.sonicDestroyStream)

    def reshape(self, sound: Pcm, *, length: int, semitones: float, stop: Callable[[], bool]) -> Pcm:
        """Return the sound with `length` samples (up to 1 % more) and its pitch moved by `semitones`.

        Raises Stopped."""
        tempo = len(sound.samples) / SAMPLE_BYTES / length
        tail = round(TAIL * sound.sample_rate)
        best, least_error = bytearray(), math.inf
        for _ in range(ATTEMPTS):
            shaped = self._shaped(sound, tail, tempo, semitones, stop)
            if stop():
                raise Stopped
            del shaped[len(shaped) - round(tail / tempo) * SAMPLE_BYTES :]
            ratio = max(1, len(shaped) // SAMPLE_BYTES) / length / AIM
            if abs(ratio - 1) < least_error:
                best, least_error = shaped, abs(ratio - 1)
            if least_error <= TOLERANCE:
                break
            tempo *= ratio
        best.extend(bytes(max(0, length * SAMPLE_BYTES - len(best))))
        return Pcm(best, sound.sample_rate)

    def _shaped(self, sound: Pcm, tail: int, tempo: float, semitones: float, stop: Callable[[], bool]) -> bytearray:
        stream = self._create(sound.sample_rate, 1)
        if not stream:
            raise MemoryError("Sonic has no memory for a stream.")
        shaped = bytearray()
        try:
            self._set_speed(stream, tempo)
            self._set_pitch(stream, 2 ** (semitones / 12))
            starts = range(0, len(sound.samples), BLOCK_BYTES)
            blocks = (bytes(sound.samples[start : start + BLOCK_BYTES]) for start in starts)
            for block in itertools.chain(blocks, [bytes(tail * SAMPLE_BYTES)]):
                if stop():
                    raise Stopped
                if not self._write(stream, block, len(block) // SAMPLE_BYTES):
                    raise MemoryError("Sonic has no memory for its samples.")
                shaped.extend(self._taken(stream))
            self._flush(stream)
            shaped.extend(self._taken(stream))
        finally:
            self._destroy(stream)
        return shaped

    def _taken(self, stream: int) -> bytes:
        buffer = ctypes.create_string_buffer(self._available(stream) * SAMPLE_BYTES)
        read = self._read(stream, buffer, len(buffer) // SAMPLE_BYTES)
        return buffer.raw[: read * SAMPLE_BYTES]


@cache
def load_sonic() -> Sonic:
    """Return the Sonic of this process's libespeak-ng. Raises NotReady."""
    try:
        return Sonic(libespeak.load().functions)
    except AttributeError as error:
        raise NotReady(f"This libespeak-ng is built without Sonic ({error}). Reinstall espeakng-loader.") from error


def _declared(function: "ctypes._NamedFuncPointer", *arguments: type) -> "ctypes._NamedFuncPointer":
    function.argtypes = (ctypes.c_void_p, *arguments)
    return function
