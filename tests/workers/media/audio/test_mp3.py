"""MP3s: one file, constant rates, exact length, and the first bytes at once."""

import contextlib
import threading
import time

import pytest
from mp3_files import encode_mp3, frames_of
from waiting import wait_for

from workers.media.audio.encoding.encoded_stream import EncodedStream
from workers.media.audio.ffmpeg import FfmpegFailed
from workers.media.audio.pcm import Pcm

#: Seconds that a thread may take to get somewhere, on the busiest machine.
PATIENCE = 60
#: More sound than anything between writer and sink could hold: an hour, which makes an MP3 of 58 MB.
ENDLESS_BYTES = 3_600 * 22_050 * 2


def blocks(sound: Pcm, size: int = 100_000) -> list[bytes]:
    return [bytes(sound.samples[start : start + size]) for start in range(0, len(sound.samples), size)]


def write_for_ever(stream: EncodedStream) -> None:
    while True:
        stream.write(bytes(2**16))


def streamed(ffmpeg, sound: Pcm) -> list[bytes]:
    pieces: list[bytes] = []
    with EncodedStream(ffmpeg, sample_rate=sound.sample_rate, sink=pieces.append) as stream:
        for block in blocks(sound):
            stream.write(block)
        stream.finish()
    return pieces


@pytest.mark.parametrize("rate", [16_000, 22_050, 24_000, 44_100])
def test_a_chapter_is_192k_at_44_1_khz_from_the_first_frame_to_the_last(ffmpeg, speech, rate):
    frames = frames_of(encode_mp3(ffmpeg, blocks(Pcm(speech.samples, rate)), sample_rate=rate))

    assert {(frame.bit_rate, frame.sample_rate, frame.channels) for frame in frames} == {(192_000, 44_100, 1)}


def test_a_stream_is_128k_at_44_1_khz_from_the_first_frame_to_the_last(ffmpeg, speech):
    frames = frames_of(b"".join(streamed(ffmpeg, speech)))

    assert {(frame.bit_rate, frame.sample_rate, frame.channels) for frame in frames} == {(128_000, 44_100, 1)}
    length = sum(frame.samples for frame in frames) / 44_100
    assert speech.duration.total_seconds() <= length < speech.duration.total_seconds() + 0.1


def test_a_stream_hands_on_what_was_written_before_more_comes(ffmpeg, speech):
    came = threading.Event()
    pieces: list[bytes] = []

    def sink(piece: bytes) -> None:
        pieces.append(piece)
        came.set()

    with EncodedStream(ffmpeg, sample_rate=speech.sample_rate, sink=sink) as stream:
        stream.write(speech.samples[: speech.sample_rate * 2 * 3])
        assert came.wait(60)
        # 3 s are 48,000 bytes; the encoder keeps a few frames, and the reader of the samples a part of one.
        wait_for(lambda: sum(map(len, pieces)) >= 44_000)


def test_a_sink_that_fails_ends_the_stream_with_its_error(ffmpeg, speech):
    def full(piece: bytes) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"), EncodedStream(ffmpeg, sample_rate=22_050, sink=full) as stream:
        write_for_ever(stream)


def test_a_slow_sink_slows_the_writer_and_fills_no_memory(ffmpeg, speech):
    slow = threading.Event()
    written = 0
    stream = EncodedStream(ffmpeg, sample_rate=22_050, sink=lambda piece: slow.wait(PATIENCE) and None)

    def write() -> None:
        nonlocal written
        with contextlib.suppress(FfmpegFailed):
            while written < ENDLESS_BYTES:
                stream.write(bytes(2**16))
                written += 2**16

    writer = threading.Thread(target=write)
    writer.start()
    before = 0
    while writer.is_alive() and (not written or written != before):  # until it stands still, or was never held up
        before = written
        time.sleep(1)
    assert 0 < written < ENDLESS_BYTES
    slow.set()
    stream.close()
    writer.join(PATIENCE)
    assert not writer.is_alive()
