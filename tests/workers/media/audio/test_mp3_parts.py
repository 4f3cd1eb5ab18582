"""An MP3 of several encoders: frame for frame what one encoder makes."""

import numpy as np
import pytest
from mp3_files import decoded, encode_mp3, frames_of

from workers.media.audio.encoding.encodings import Mp3Format
from workers.media.audio.encoding.mp3_parts import COUNTS, INFO_FRAME, encoded_mp3
from workers.media.audio.ffmpeg import FfmpegFailed
from workers.media.audio.levelling import Levelled
from workers.media.audio.pcm import Pcm


def in_parts(ffmpeg, sound: Levelled, parts: int | None) -> bytes:
    with encoded_mp3(ffmpeg, sound, parts=parts) as file:
        return file.read()


@pytest.fixture
def sound(speech, track_of):
    """A function that makes half a minute of speech, without a pause in it, at a sample rate; it sounds accordingly."""

    def make(rate: int, seconds: float = 31.4) -> Levelled:
        samples = np.frombuffer(speech.samples, "<i2")
        samples = np.resize(samples[np.abs(samples) > 30], round(seconds * rate))
        return Levelled(track_of(Pcm(samples.tobytes(), rate)))

    return make


@pytest.mark.parametrize("rate", [8_000, 16_000, 22_050, 24_000, 44_100, 48_000])
@pytest.mark.parametrize("parts", [2, 3])
def test_parts_join_to_the_frames_that_one_encoder_makes(ffmpeg, sound, rate, parts):
    levelled = sound(rate)
    alone = encode_mp3(ffmpeg, levelled.blocks(), sample_rate=rate)

    joined = in_parts(ffmpeg, levelled, parts)

    assert joined[INFO_FRAME:] == alone[INFO_FRAME:]
    # The first frame as well, but for the table of places and the checksums.
    assert joined[:COUNTS] == alone[:COUNTS]
    assert joined[COUNTS : COUNTS + 8] == alone[COUNTS : COUNTS + 8]
    assert joined[137:173] == alone[137:173]
    assert len(frames_of(joined)) == len(frames_of(alone))


def test_parts_are_as_long_as_the_sound_and_decode_to_it(ffmpeg, sound):
    levelled = sound(24_000, seconds=20.017)

    heard = decoded(in_parts(ffmpeg, levelled, 4), 24_000)

    original = np.frombuffer(b"".join(levelled.blocks()), "<i2") / 32_768
    assert len(heard) == len(original)
    noise = np.mean((heard - original) ** 2) / np.mean(original**2)
    assert 10 * np.log10(noise) < -20


@pytest.mark.parametrize("parts", [1, 2, 50, None])
@pytest.mark.parametrize("seconds", [0, 0.0001, 1.0, 1.28, 2.56])
def test_what_is_too_short_for_parts_is_encoded_all_the_same(ffmpeg, sound, parts, seconds):
    levelled = sound(24_000, seconds=seconds)

    joined = in_parts(ffmpeg, levelled, parts)

    assert joined[INFO_FRAME:] == encode_mp3(ffmpeg, levelled.blocks(), sample_rate=24_000)[INFO_FRAME:]


class Broken(Levelled):
    """A sound whose second half can't be read."""

    def blocks(self, start=0, stop=None):
        if start:
            raise FfmpegFailed("broken")
        return super().blocks(start, stop)


def test_an_encoder_that_fails_ends_the_others_and_says_why(ffmpeg, sound):
    with pytest.raises(FfmpegFailed, match="broken"):
        in_parts(ffmpeg, Broken(sound(24_000)._track), 2)


@pytest.mark.parametrize(("asked", "bit_rate"), [(64, 64), (100, 96), (320, 320)])
def test_another_bit_rate_and_two_channels_are_made_by_one_encoder(ffmpeg, sound, asked, bit_rate):
    levelled = sound(24_000, seconds=3)

    with encoded_mp3(ffmpeg, levelled, form=Mp3Format(asked * 1_000, channels=2)) as file:
        made = file.read()

    assert len(made) == pytest.approx(3 * bit_rate * 125, rel=0.05)
    assert made[3] >> 6 != 3  # not mono
