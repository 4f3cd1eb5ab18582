"""Whisper base, which comes with the installation: English, and sounds in which nobody speaks."""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from sound import file_of
from spoken import RATE, TEXTS, samples_of, word_error_rate

from capabilities.speech.demo import FILES
from capabilities.speech.engines.espeak.espeak import Espeak
from capabilities.transcription.engines.whisper.whisper import Whisper
from pipeline.settings import Settings
from pipeline.subtitles.segments import Segment
from workers.media.audio.decoding import decode
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.media.audio.track import Samples

#: The first sentence of one recording: short, because it is heard often.
SENTENCE = slice(0, int(4.4 * RATE))
SAID = "On Saturday we went to the market to buy fresh bread, cheese and apples."


@pytest.fixture(scope="module")
def espeak() -> Espeak:
    engine = Espeak()
    engine.setup()
    return engine


def at_16_kilohertz(samples: bytes, rate: int) -> Samples:
    given = np.frombuffer(samples, "<i2").astype(float)
    places = np.arange(0, len(given) - 1, rate / RATE)
    return np.interp(places, np.arange(len(given)), given).astype(np.int16)


def test_it_is_what_works_without_any_setting(base: Whisper) -> None:
    assert base.model == "whisper-base"
    assert len(base.languages()) == 99 + 1
    assert base.translates


def test_clear_speech_is_written_down_with_few_errors(base: Whisper, heard: Any) -> None:
    # Whisper writes "9" for "nine".
    errors = {name: word_error_rate(text, heard(base, samples_of(name))) for name, text in TEXTS.items()}

    assert max(errors.values()) <= 0.2, errors
    assert np.mean(list(errors.values())) <= 0.1, errors


def decoded(content: bytes) -> Samples:
    minute = timedelta(minutes=1)
    with (
        file_of(content) as file,
        decode(find_ffmpeg(Settings()), file, sample_rate=RATE, max_duration=minute) as track,
    ):
        return track.read(0, len(track))


def test_each_word_has_its_time(base: Whisper) -> None:
    pause = np.zeros(2 * RATE, np.int16)
    spoken = samples_of("market")[SENTENCE]
    with base.listen(np.concatenate([pause, spoken, pause, spoken]), language="en", timed=True) as hearing:
        segments = [part for part in hearing.segments if isinstance(part, Segment)]

    words = [word for segment in segments for word in segment.words or ()]
    assert "".join(word.word for word in words).split() == (SAID + " " + SAID).split()
    times = [time for word in words for time in (word.start, word.end)]
    assert times == sorted(times)
    markets = [word.start for word in words if word.word == " market"]
    assert markets[0] == pytest.approx(3.7, abs=0.4)
    assert markets[1] - markets[0] == pytest.approx(6.4, abs=0.4)
    assert all(word.probability is not None and 0 <= word.probability <= 1 for word in words)


def test_names_are_spelled_as_the_prompt_has_them(base: Whisper, espeak: Espeak, heard: Any) -> None:
    sound = espeak.speak("This morning Shivon Quynne met Kaitlyn at the library.", voice="en-US")
    samples = at_16_kilohertz(sound.samples, sound.sample_rate)
    assert "Quynne" not in heard(base, samples)

    assert "Quynne" in heard(base, samples, prompt="Kaitlyn, Shivon Quynne")


@pytest.mark.parametrize("decibels", [20, 10])
def test_speech_over_noise_is_written_down(base: Whisper, heard: Any, decibels: float) -> None:
    spoken = samples_of("train").astype(float)
    loudness = np.sqrt(np.mean(spoken**2)) / 10 ** (decibels / 20)
    noisy = (spoken + np.random.default_rng(1).normal(0, loudness, len(spoken))).clip(-32_767, 32_767)

    assert word_error_rate(TEXTS["train"], heard(base, noisy.astype(np.int16))) < 0.5


def tune(*, harmonics: int, seconds: float, fading: float) -> np.ndarray:
    """Return five seconds of an instrument that plays notes of a scale."""
    rng = np.random.default_rng(harmonics)
    time = np.arange(int(RATE * seconds)) / RATE
    swell = np.exp(-time * fading) * np.minimum(1, time * 200)
    notes = [220 * 2 ** (rng.choice([0, 2, 4, 5, 7, 9, 11, 12]) / 12) for _ in range(int(5 / seconds))]
    return np.concatenate(
        [swell * sum(np.sin(2 * np.pi * hertz * h * time) / h for h in range(1, harmonics + 1)) for hertz in notes]
    )


def noise(exponent: float) -> np.ndarray:
    """Return five seconds of noise: white (0), pink (0.5) or brown (1)."""
    rng = np.random.default_rng(1)
    frequencies = np.fft.rfftfreq(5 * RATE, 1 / RATE)
    spectrum = rng.normal(size=len(frequencies)) + 1j * rng.normal(size=len(frequencies))
    spectrum[1:] /= frequencies[1:] ** exponent
    spectrum[0] = 0
    return np.fft.irfft(spectrum)


NOT_SPEECH = {
    "silence": np.zeros(5 * RATE),
    "white": noise(0),
    "brown": noise(1),
    "tone": np.sin(2 * np.pi * 1_000 * np.arange(5 * RATE) / RATE),
    "flute": tune(harmonics=2, seconds=0.5, fading=0.2),
    "piano": tune(harmonics=8, seconds=0.18, fading=5),
}


@pytest.mark.parametrize("sound", NOT_SPEECH)
def test_where_nobody_speaks_no_words_are_made_up(base: Whisper, heard: Any, sound: str) -> None:
    loud = NOT_SPEECH[sound] / (np.sqrt(np.mean(NOT_SPEECH[sound] ** 2)) or 1) * 10 ** (-18 / 20)

    assert heard(base, (np.clip(loud, -1, 1) * 32_767).astype(np.int16)) == ""


def test_music_is_an_empty_text(base: Whisper, heard: Any) -> None:
    music = FILES["music"]

    assert heard(base, decoded(music.read_bytes())[: 30 * RATE]) == ""
