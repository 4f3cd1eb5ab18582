"""Low notes: speech by telephone is found, and other sound stays as it is."""

import numpy as np
import pytest
from numpy.typing import NDArray
from spoken import RATE, TEXTS, samples_of

from capabilities.transcription.engines.low_notes import with_low_notes
from capabilities.transcription.engines.whisper.languages import find_pieces


def sound_of(name: str) -> NDArray[np.float32]:
    return samples_of(name).astype(np.float32) / 32_768


def by_telephone(sound: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return a sound in the band of a telephone, 300 to 3,400 Hz."""
    spectrum, hertz = np.fft.rfft(sound), np.fft.rfftfreq(len(sound), 1 / RATE)
    spectrum[(hertz < 300) | (hertz > 3_400)] = 0
    return np.fft.irfft(spectrum, len(sound)).astype(np.float32)


def seconds_found(sound: NDArray[np.float32]) -> float:
    return sum(stop - start for start, stop in find_pieces(sound)) / RATE


@pytest.mark.parametrize("name", TEXTS)
def test_speech_by_telephone_is_found_as_well_as_the_same_speech_by_itself(name: str) -> None:
    sound = sound_of(name)
    assert seconds_found(by_telephone(sound)) > 0.9 * seconds_found(sound)
    assert np.array_equal(with_low_notes(sound), sound)


@pytest.mark.parametrize("hertz", [425.0, None])
def test_a_dial_tone_and_hiss_by_telephone_are_no_speech(hertz: float | None) -> None:
    times = np.arange(10 * RATE) / RATE
    noise = np.random.default_rng(0).standard_normal(times.size)
    sound = noise * 0.1 if hertz is None else np.sin(2 * np.pi * hertz * times) * 0.2
    assert seconds_found(by_telephone(sound.astype(np.float32))) == 0
