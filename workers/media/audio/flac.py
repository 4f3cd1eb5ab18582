"""FLAC of our own making, written and read in this process: starting ffmpeg takes as long as 30 s of sound.

Files from outside go to ffmpeg (`workers.media.audio.decoding`), which can be confined and stopped."""

import io
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import IO

import av
import numpy as np

from workers.media.audio.track import BLOCK, Samples, Track


def write_flac(sound: Track, file: IO[bytes]) -> None:
    """Write a track into a file that can be sought in, as mono FLAC of 16 bits. Raises OSError if the disk is full."""
    with av.open(file, "w", format="flac", options={"fflags": "bitexact"}) as container:
        stream = container.add_stream("flac", rate=sound.sample_rate, layout="mono", format="s16")
        stream.codec_context.flags |= av.codec.context.Flags.bitexact
        for start in range(0, len(sound), BLOCK):
            samples = sound.read(start, min(BLOCK, len(sound) - start))
            container.mux(stream.encode(_frame(samples, sound.sample_rate)))
        container.mux(stream.encode(None))


def read_flac(data: bytes, *, sample_rate: int) -> Iterator[Samples]:
    """Yield the samples of a mono FLAC file at a sample rate in Hz."""
    with av.open(io.BytesIO(data), "r", format="flac") as container:
        yield from _at_rate(container.decode(audio=0), sample_rate)


def resampled(blocks: Iterable[bytes], sample_rate: int, wanted: int) -> Iterator[bytes]:
    """Yield samples (16 bit, mono) of one rate in Hz at another; at the same rate, as they are."""
    if sample_rate == wanted:
        yield from blocks
        return
    frames = (_frame(np.frombuffer(block, "<i2"), sample_rate) for block in blocks)
    yield from (samples.tobytes() for samples in _at_rate(frames, wanted))


def _frame(samples: Samples, sample_rate: int) -> av.AudioFrame:
    frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
    frame.sample_rate = sample_rate
    return frame


def _at_rate(frames: Iterable[av.AudioFrame], sample_rate: int) -> Iterator[Samples]:
    resampler = av.AudioResampler("s16", "mono", sample_rate)
    for frame in chain(frames, [None]):
        for found in resampler.resample(frame):
            yield np.ravel(found.to_ndarray())
