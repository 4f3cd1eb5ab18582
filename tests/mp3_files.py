"""MP3 files: their frames, and the samples that they decode to, for tests that measure them."""

import subprocess
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.settings import Settings
from workers.engines import never
from workers.media.audio.encoding.encodings import encode_into
from workers.media.audio.ffmpeg import Ffmpeg, find_ffmpeg

#: Bit rates in kbit/s of layer III: of MPEG-1, and of MPEG-2 (ISO 11172-3, 13818-3).
MPEG1 = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
MPEG2 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)


@dataclass(frozen=True)
class Frame:
    """One frame's header."""

    bit_rate: int
    sample_rate: int
    channels: int
    samples: int


def frames_of(mp3: bytes) -> list[Frame]:
    """Return every frame; fails on a byte that belongs to none."""
    frames, at = [], 0
    while at < len(mp3):
        header = int.from_bytes(mp3[at : at + 4], "big")
        assert header >> 21 == 0x7FF, f"no frame at byte {at:,} of {len(mp3):,}"
        mpeg1 = header >> 19 & 3 == 3
        bit_rate = (MPEG1 if mpeg1 else MPEG2)[header >> 12 & 15] * 1_000
        sample_rate = (44_100, 48_000, 32_000)[header >> 10 & 3] // (1 if mpeg1 else 2)
        samples = 1_152 if mpeg1 else 576
        frames.append(Frame(bit_rate, sample_rate, 1 if header >> 6 & 3 == 3 else 2, samples))
        at += samples // 8 * bit_rate // sample_rate + (header >> 9 & 1)
    return frames


def decoded(mp3: bytes, sample_rate: int = 44_100) -> NDArray[np.float64]:
    """Return the samples of any audio file, mono, full scale at ±1."""
    command = [find_ffmpeg(Settings()).path, "-nostdin", "-loglevel", "error", "-i", "fd:", "-ac", "1"]
    # From a file and not a pipe: ffmpeg reads the length in the header of those alone.
    with tempfile.TemporaryFile() as file:
        file.write(mp3)
        file.seek(0)
        done = subprocess.run([*command, "-ar", str(sample_rate), "-f", "s16le", "-"], stdin=file, capture_output=True)
    assert done.returncode == 0, done.stderr
    return np.frombuffer(done.stdout, "<i2") / 32_768


def encode_mp3(
    ffmpeg: Ffmpeg,
    blocks: Iterable[bytes],
    *,
    sample_rate: int,
    stop: Callable[[], bool] = never,
) -> bytes:
    """Return an MP3 of the samples as bytes."""
    with tempfile.TemporaryFile() as file:
        encode_into(file, ffmpeg, blocks, sample_rate=sample_rate, stop=stop)
        return file.read()
