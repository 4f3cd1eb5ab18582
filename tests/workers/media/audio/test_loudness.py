"""Loudness: measured as BS.1770 says, and made what it should be."""

import numpy as np
import pytest
from mp3_files import decoded, encode_mp3
from sound import integrated_loudness, true_peak_db

from workers.media.audio.gain import STEPS_PER_SECOND
from workers.media.audio.levelling import Levelled
from workers.media.audio.loudness import SILENCE, TARGET, MeasuredTrack, loudness, profile
from workers.media.audio.pcm import Pcm

VOICES = [("en-US", {}), ("en-US-female", {}), ("de", {"pitch": -15}), ("cmn", {}), ("ru", {"speed": 3.0})]
TEXT = "The quick brown fox jumps over the lazy dog. Who would have thought? "


def sine(hertz: float, amplitude: float, seconds: float, rate: int) -> np.ndarray:
    return amplitude * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


@pytest.mark.parametrize("rate", [22_050, 24_000, 44_100, 48_000])
def test_the_standards_own_sine_is_at_minus_23(rate, track_of):
    # EBU Tech 3341, case 1, with one channel: a sine of 1 kHz at -20 dBFS in mono is at -23 LUFS.
    assert loudness(profile(track_of(sine(1_000, 0.1, 5, rate), rate))) == pytest.approx(-23.0, abs=0.1)


@pytest.mark.parametrize("rate", [22_050, 44_100])
def test_it_is_what_pyloudnorm_says(rate, speech, track_of):
    time = np.arange(20 * rate) / rate
    samples = np.random.default_rng(1).standard_normal(time.size) * 0.05 * (1 + np.sin(2 * np.pi * 0.3 * time))
    samples[8 * rate : 12 * rate] = 0

    assert loudness(profile(track_of(samples, rate))) == pytest.approx(
        integrated_loudness(samples, rate, filter_class="DeMan"), abs=0.05
    )


@pytest.mark.parametrize("rate", [22_050, 44_100])
def test_peaks_between_samples_are_found(rate, track_of):
    # At a quarter of the rate and an eighth of a turn, all samples are at 0.707 of the peak.
    samples = 0.5 * np.sin(np.pi / 2 * np.arange(rate) + np.pi / 4)
    assert np.abs(samples).max() < 0.36
    measured = profile(track_of(samples * np.hanning(rate), rate))

    assert measured.peaks.max() == pytest.approx(0.5, rel=0.02)
    assert len(measured.peaks) == pytest.approx(STEPS_PER_SECOND, rel=0.01)


@pytest.mark.parametrize(("voice", "how"), VOICES)
def test_speech_as_an_mp3_is_at_minus_16_with_true_peaks_under_minus_1(ffmpeg, espeak, voice, how, track_of):
    sound = espeak.speak(TEXT * 3, voice=voice, **how)
    assert sound.duration.total_seconds() > 3
    track = track_of(sound)

    heard = decoded(encode_mp3(ffmpeg, Levelled(track).blocks(), sample_rate=sound.sample_rate))

    assert integrated_loudness(heard, 44_100) == pytest.approx(TARGET, abs=0.7)
    assert true_peak_db(heard) <= -1.0


@pytest.mark.parametrize("level", [-70, -45, -30, -3])
def test_quiet_and_loud_sounds_end_at_the_same_loudness(level, track_of):
    rate = 44_100
    noise = np.random.default_rng(2).standard_normal(4 * rate)
    samples = noise / np.abs(noise).max() * 10 ** (level / 20)
    made = np.frombuffer(b"".join(Levelled(track_of(samples, rate)).blocks()), "<i2") / 32_768
    raised = 40 if level == -70 else None

    after = integrated_loudness(made, rate)
    if raised:  # past 40 dB there is only noise to raise
        before = integrated_loudness(samples, rate)
        assert after - max(before, -90) < 42
    else:
        assert after == pytest.approx(TARGET, abs=0.5)
    assert true_peak_db(made) <= -1.0


@pytest.mark.parametrize(
    "samples", [np.zeros(0), np.zeros(1), np.zeros(44_100), np.ones(3) * 0.1, np.ones(9_000) * 0.1]
)
def test_nothing_silence_and_a_click_pass(samples, track_of):
    track = track_of(samples, 44_100)

    assert len(b"".join(Levelled(track).blocks())) == 2 * len(samples)
    if not samples.any():
        assert loudness(profile(track)) == SILENCE


@pytest.mark.parametrize("rate", [22_050, 44_100])
@pytest.mark.parametrize("seconds", [0, 0.3, 20])
def test_a_track_that_is_measured_while_it_grows_is_measured_as_a_whole_one(rate, seconds, track_of):
    samples = (np.random.default_rng(1).standard_normal(round(seconds * rate)) * 3_000).astype("<i2").tobytes()
    with MeasuredTrack(rate) as growing:
        for start in range(0, len(samples), 30_000):
            growing.append(samples[start : start + 30_000])
        measured = growing.measured()

    whole = profile(track_of(Pcm(samples, rate)))
    np.testing.assert_array_equal(measured.powers, whole.powers)
    np.testing.assert_array_equal(measured.peaks, whole.peaks)
