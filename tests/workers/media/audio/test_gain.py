"""Gain: exact within full scale, limited past it, never clipped."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sound import level_db, peak_db, samples_of, true_peak_db

from workers.media.audio.gain import CEILING, FULL_SCALE, apply_gain
from workers.media.audio.pcm import Pcm

RATE = 22_050


def voice_like(peak: float, seconds: float = 2.0) -> Pcm:
    """Return pulses of 100 Hz that swell and fade four times a second."""
    time = np.arange(round(RATE * seconds)) / RATE
    wave = np.exp(-300 * (time % 0.01)) * np.sin(2 * np.pi * 700 * time) * (0.55 - 0.45 * np.cos(2 * np.pi * 4 * time))
    return Pcm(np.rint(wave / np.abs(wave).max() * peak).astype("<i2").tobytes(), RATE)


@pytest.mark.parametrize("gain", [-60, -40, -12, -0.1, 0.1, 3, 5.9])
def test_gain_is_exact_while_the_peak_stays_within_full_scale(gain):
    sound = voice_like(peak=FULL_SCALE / 2)

    changed = apply_gain(sound, gain)

    assert level_db(samples_of(changed)) - level_db(samples_of(sound)) == pytest.approx(gain, abs=0.1)
    assert peak_db(samples_of(changed)) - peak_db(samples_of(sound)) == pytest.approx(gain, abs=0.3)


@pytest.mark.parametrize("gain", [6.1, 8, 12, 16])
def test_past_full_scale_the_peaks_are_held_and_nothing_clips(gain):
    changed = samples_of(apply_gain(voice_like(peak=FULL_SCALE / 2), gain))

    assert peak_db(changed) == pytest.approx(-1, abs=0.05)
    assert true_peak_db(changed) < 0


def test_the_limiter_turns_the_wave_down_and_keeps_its_shape():
    sound = voice_like(peak=FULL_SCALE / 2)

    before, after = samples_of(sound), samples_of(apply_gain(sound, 12))

    # Within 5 ms the gain hardly changes, so each stretch is a scaled copy of the original.
    for start in range(0, len(before) - 110, 1_000):
        one, other = before[start : start + 110], after[start : start + 110]
        if level_db(one) > -50:
            assert np.corrcoef(one, other)[0, 1] > 0.99


@given(
    samples=st.lists(st.integers(-32_768, 32_767), max_size=300),
    gain=st.floats(-96, 16, allow_nan=False),
    rate=st.sampled_from([8_000, 22_050, 48_000]),
)
@settings(max_examples=200, deadline=None)
def test_any_sound_keeps_its_length_and_its_headroom(samples, gain, rate):
    changed = np.frombuffer(apply_gain(Pcm(np.array(samples, "<i2").tobytes(), rate), gain).samples, "<i2")

    assert len(changed) == len(samples)
    factor = 10 ** (gain / 20)
    loudest = max(map(abs, samples), default=0) * factor
    if factor == 1.0:  # also for a gain too small to make a difference
        assert changed.tolist() == samples
    elif loudest > FULL_SCALE:
        assert np.abs(changed.astype(int)).max() <= CEILING + 1
    else:
        assert np.abs(changed.astype(int)).max(initial=0) == pytest.approx(loudest, abs=1)
