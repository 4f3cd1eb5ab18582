"""WAV files: their header tells the truth."""

import io
import struct
import wave

import pytest

from workers.media.audio.pcm import Pcm, audible, encode_wav


@pytest.mark.parametrize("count", [0, 1, 22_050, 100_001])
def test_the_header_has_the_real_length_and_format(count):
    sound = Pcm(struct.pack(f"<{count}h", *(index % 1_000 for index in range(count))), 22_050)

    file = encode_wav(sound)

    assert struct.unpack("<I", file[4:8])[0] == len(file) - 8
    with wave.open(io.BytesIO(file)) as reader:
        assert (reader.getnchannels(), reader.getsampwidth(), reader.getframerate()) == (1, 2, 22_050)
        assert reader.getnframes() == count
        assert reader.readframes(count) == sound.samples


@pytest.mark.parametrize("peak", [20_000, 300])
def test_what_is_audible_is_what_is_louder_than_a_hundredth_of_the_peak(peak):
    rate, quiet = 8_000, max(0, peak // 200)
    samples = [quiet] * 800 + [peak if number % 40 else -peak for number in range(4_000)] + [-quiet] * 1_600
    sound = Pcm(struct.pack(f"<{len(samples)}h", *samples), rate)

    first, last = audible(sound)

    assert 800 - 40 <= first <= 800
    assert 4_800 <= last <= 4_800 + 80
    assert audible(Pcm(bytes(1_000), rate)) == audible(Pcm(b"", rate)) == (0, 0)
