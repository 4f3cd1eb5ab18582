"""MP3 parts: one file by several encoders at once, frame for frame as one encoder makes it.

An encoder is one process on one core, and takes most of the time of a long text. Three things let several work on one
file without a gap, a click or a difference:

- Without a bit reservoir a frame depends on the sound around it and not on earlier frames. At 192k speech needs none.
- An encoder begins a cycle before its part, and ends one after it: what it makes there is left out.
- Parts begin where a cycle does: after 49 frames (1.28 s) lengths of frames and phases of resampling are as they were.
"""

import os
import struct
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from math import gcd
from typing import IO

from workers.engines import Stopped, never
from workers.media.audio.encoding.encodings import CHAPTER, Mp3Format, encode_into
from workers.media.audio.ffmpeg import Ffmpeg, FfmpegFailed, FfmpegUnfit
from workers.media.audio.levelling import Levelled

#: Samples of a frame, and frames of a cycle at 44.1 kHz, of 626 or 627 bytes at 192k.
FRAME, CYCLE = 1_152, 49
#: The most encoders of a file, and the least sound for another one: an encoder starts in a tenth of a second.
MOST_PARTS = 4
SHORTEST_PART = timedelta(seconds=60)
#: Bytes of the first frame, which has no sound and tells the length ("Info", as LAME writes it), and its fields:
#: counts of frames and bytes, samples at both ends that are not played, bytes and their checksums.
INFO_FRAME = 626
INFO, COUNTS, ENDS, MUSIC_BYTES, CHECKSUMS = 21, 29, 162, 169, 173
CHECKED_BYTES = 190
#: First bytes of each frame: MPEG-1, layer III, without a checksum.
SYNC = b"\xff\xfb"
#: Bytes copied at once.
COPIED = 2**20


@contextmanager
def encoded_mp3(
    ffmpeg: Ffmpeg,
    sound: Levelled,
    *,
    form: Mp3Format = CHAPTER,
    parts: int | None = None,
    stop: Callable[[], bool] = never,
) -> Iterator[IO[bytes]]:
    """Yield an MP3 as a file, by so many encoders; None for as many as suit the sound and the cores.

    Any other form than CHAPTER is made by one encoder, since its frames have other lengths.
    Raises FfmpegFailed, Stopped."""
    starts = _starts(sound, parts or (_suitable_parts(sound) if form == CHAPTER else 1))
    with ExitStack() as opened:
        files = [opened.enter_context(tempfile.TemporaryFile(prefix="pressroom-")) for _ in starts]
        _encode(files, ffmpeg, sound, starts, form, stop)
        if len(files) > 1:
            _join(files, sound, starts)
        yield files[0]


def _suitable_parts(sound: Levelled) -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_PARTS, int(len(sound) / sound.sample_rate / SHORTEST_PART.total_seconds()))


def _starts(sound: Levelled, parts: int) -> Sequence[int]:
    """Return the first sample of each part; each begins with a cycle."""
    cycle = _cycle_samples(sound)
    cycles = len(sound) // cycle
    return sorted({0, *(cycles * part // parts * cycle for part in range(1, parts))})


def _cycle_samples(sound: Levelled) -> int:
    """Return the samples of a whole number of cycles at the sound's own rate: of one, at all usual rates."""
    encoded = FRAME * CYCLE * sound.sample_rate
    return encoded // gcd(encoded, CHAPTER.sample_rate)


def _encode(
    files: Sequence[IO[bytes]],
    ffmpeg: Ffmpeg,
    sound: Levelled,
    starts: Sequence[int],
    form: Mp3Format,
    stop: Callable[[], bool],
) -> None:
    """Encode each part into its file, with the cycles around it that belong to its neighbours."""
    rate, cycle = sound.sample_rate, _cycle_samples(sound)
    has_failed = threading.Event()

    def encode(part: int) -> None:
        end = starts[part + 1] + cycle if part + 1 < len(starts) else None
        blocks = sound.blocks(max(0, starts[part] - cycle), end)

        def is_over() -> bool:
            return has_failed.is_set() or stop()

        try:
            encode_into(files[part], ffmpeg, blocks, sample_rate=rate, form=form, stop=is_over)
        except (FfmpegFailed, Stopped):
            has_failed.set()
            raise

    with ThreadPoolExecutor(len(files), "mp3 part") as threads:
        encoding = [threads.submit(encode, part) for part in range(len(files))]
    errors = [error for future in encoding if (error := future.exception()) is not None]
    # Not one that only stopped because another had failed.
    for error in sorted(errors, key=lambda error: isinstance(error, Stopped)):
        raise error


def _join(files: Sequence[IO[bytes]], sound: Levelled, starts: Sequence[int]) -> None:
    """Put the frames of all parts into the first file, and their counts into its first frame. Raises FfmpegFailed."""
    whole, *others = files
    whole.seek(INFO_FRAME + _bytes_of(sound, starts[1]))
    whole.truncate()
    for file, start, end in zip(others, starts[1:], [*starts[2:], None], strict=True):
        before = min(start, _cycle_samples(sound))
        file.seek(INFO_FRAME + _bytes_of(sound, before))
        if file.read(2) != SYNC:
            raise FfmpegUnfit("The encoder makes frames of another length than expected; unset PRESSROOM_FFMPEG.")
        file.seek(-2, os.SEEK_CUR)
        _copy(file, whole, None if end is None else _bytes_of(sound, end - start))
    _describe(whole, last=others[-1])
    whole.seek(0)


def _bytes_of(sound: Levelled, samples: int) -> int:
    """Return the bytes of the frames of so many samples, which are whole cycles."""
    return samples * CHAPTER.bit_rate // (8 * sound.sample_rate)


def _copy(source: IO[bytes], target: IO[bytes], count: int | None) -> None:
    while count != 0 and (block := source.read(COPIED if count is None else min(COPIED, count))):
        target.write(block)
        count = None if count is None else count - len(block)


def _describe(file: IO[bytes], *, last: IO[bytes]) -> None:
    """Write into the first frame how long the file is; `last` is the file of its last part."""
    size = file.seek(0, os.SEEK_END)
    info, of_last = _info(file), _info(last)
    samples = (size - INFO_FRAME) * 8 * CHAPTER.sample_rate // CHAPTER.bit_rate
    struct.pack_into(">II", info, COUNTS, round(samples / FRAME), size)
    # Twelve bits each: samples before the first and after the last, that only the encoder needs.
    ends = int.from_bytes(info[ENDS : ENDS + 3], "big") >> 12 << 12
    ends |= int.from_bytes(of_last[ENDS : ENDS + 3], "big") & 0xFFF
    info[ENDS : ENDS + 3] = ends.to_bytes(3, "big")
    # The checksum of the frames stays 0, "not made": no player reads it, and it would take longer than the joining.
    struct.pack_into(">IHH", info, MUSIC_BYTES, size, 0, 0)
    struct.pack_into(">H", info, CHECKSUMS + 2, _crc16(info[:CHECKED_BYTES]))
    file.seek(0)
    file.write(info)


def _info(file: IO[bytes]) -> bytearray:
    """Return a file's first frame. Raises FfmpegFailed for another one than ours."""
    file.seek(0)
    info = bytearray(file.read(INFO_FRAME))
    if info[INFO : INFO + 4] != b"Info":
        raise FfmpegUnfit("The encoder's file does not begin with its length; unset PRESSROOM_FFMPEG.")
    return info


def _crc16(data: bytes | bytearray) -> int:
    """Return the checksum of LAME's tag (CRC-16, polynomial 0x8005, lowest bit first)."""
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc
