"""What holds for every voice of a network: speed, pitch, gain, loudness, times of words, and several texts at once."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sound import pitches, samples_of, shift_in_semitones
from spoken import word_error_rate

from capabilities.speech.engines import NothingToSpeak
from capabilities.speech.engines.neural.synthesizer import NeuralSynthesizer
from workers.engines import Stopped
from workers.media.audio.pcm import Pcm

TEXT = "The quick brown fox jumps over the lazy dog. Nobody knows why."
SENTENCES = (
    "The library opens early in the morning, and closes at night.",
    "She bought apples, pears and a loaf of bread at the market.",
    "The train to London was late again because of heavy snow.",
)

VOICES = {"hibari": "en-US-Heart", "piper": "en-US-Joe", "kokoro": "ja-JP-Kokoro-Alpha"}


#: Kokoro takes a second or more for each second of sound; so it speaks little here.
QUICK = ["hibari", "piper"]

#: How long an engine speaks TEXT.
NATURAL: dict[str, float] = {}


@pytest.fixture(params=VOICES)
def engine(request: pytest.FixtureRequest) -> NeuralSynthesizer:
    found: NeuralSynthesizer = request.getfixturevalue(request.param)
    return found


def voice_of(engine: NeuralSynthesizer) -> str:
    return VOICES[engine.name]


@pytest.mark.parametrize("engine", QUICK, indirect=True)
def test_whisper_understands_what_is_spoken(engine: NeuralSynthesizer, transcribed: Callable[[Pcm], str]) -> None:
    text = " ".join(SENTENCES)

    # Piper's noise makes another rendering each time: a misheard word or two of 34 may happen.
    assert word_error_rate(text, transcribed(engine.speak(text, voice=voice_of(engine)))) <= 0.1


@pytest.mark.parametrize("engine", QUICK, indirect=True)
@pytest.mark.parametrize("speed", [0.25, 1.3, 4.0])
def test_speed_is_held_within_five_percent(engine: NeuralSynthesizer, speed: float) -> None:
    assert natural_seconds(engine) / mean_seconds(engine, speed) == pytest.approx(speed, rel=0.05)


def natural_seconds(engine: NeuralSynthesizer) -> float:
    """Return how long the text is at speed 1; spoken once for all speeds."""
    if engine.name not in NATURAL:
        NATURAL[engine.name] = mean_seconds(engine, 1.0)
    return NATURAL[engine.name]


def mean_seconds(engine: NeuralSynthesizer, speed: float) -> float:
    """Return the mean of several renderings of Piper, which differ by some per cent; the others' are all the same."""
    times = 5 if engine.name == "piper" else 1
    return float(np.mean([seconds(engine, speed) for _ in range(times)]))


def seconds(engine: NeuralSynthesizer, speed: float) -> float:
    return engine.speak(TEXT, voice=voice_of(engine), speed=speed).duration.total_seconds()


@pytest.mark.parametrize("engine", QUICK, indirect=True)
@pytest.mark.parametrize("pitch", [-4, 4])
def test_pitch_moves_by_semitones_and_keeps_the_length(engine: NeuralSynthesizer, pitch: float) -> None:
    natural, moved = (engine.speak(TEXT, voice=voice_of(engine), pitch=shift) for shift in (0.0, pitch))

    if engine.name == "piper":  # whose renderings differ from one another
        shift = 12 * np.log2(median_pitch(moved, 110 * 2 ** (pitch / 12)) / median_pitch(natural, 110))
        assert shift == pytest.approx(pitch, abs=1.5)
    else:
        shift = shift_in_semitones(natural, moved, voice_hertz=220, expected=pitch)
        assert shift == pytest.approx(pitch, abs=0.5)
        assert moved.duration / natural.duration == pytest.approx(1, abs=0.02)


def median_pitch(sound: Pcm, near: float) -> float:
    """Return the pitch of a voice in hertz."""
    return float(np.nanmedian(pitches(sound, near)[1]))


def test_each_word_has_its_time(engine: NeuralSynthesizer) -> None:
    text = "Elephants. Umbrellas are yellow, aren't they?"
    spoken = engine.utter(text, voice=voice_of(engine))
    assert spoken.words is not None

    assert [text[word.start : word.end].strip(".,?") for word in spoken.words] == [
        *("Elephants", "Umbrellas", "are", "yellow", "aren't", "they")
    ]
    borders = [time for word in spoken.words for time in (word.begins, word.ends)]
    assert borders == sorted(borders)
    assert 0 < borders[0] < 0.3
    assert borders[-1] <= spoken.sound.duration.total_seconds() + 1e-5
    # The pause after the first word, the longest, is where the times say.
    begins, ends = longest_silence(spoken.sound)
    assert spoken.words[0].ends == pytest.approx(begins, abs=0.25)
    assert spoken.words[1].begins == pytest.approx(ends, abs=0.1)


def longest_silence(sound: Pcm) -> tuple[float, float]:
    """Return where the longest silence between two words begins and ends, in seconds."""
    block = sound.sample_rate // 100
    samples = np.abs(samples_of(sound))
    loud = np.flatnonzero(samples[: len(samples) // block * block].reshape(-1, block).max(axis=1) > 0.02)
    longest = int(np.diff(loud).argmax())
    return float(loud[longest] + 1) / 100, float(loud[longest + 1]) / 100


@pytest.mark.parametrize("engine", QUICK, indirect=True)
def test_several_texts_are_spoken_at_once(engine: NeuralSynthesizer) -> None:
    texts = ["Good morning.", "Nobody knows."]
    with ThreadPoolExecutor(4) as threads:
        alone = [seconds_of(engine, text) for text in texts]
        together = list(threads.map(lambda text: seconds_of(engine, text), texts * 2))

    assert together == pytest.approx(alone * 2, rel=0.2 if engine.name == "piper" else 0.001)


def seconds_of(engine: NeuralSynthesizer, text: str) -> float:
    return engine.speak(text, voice=voice_of(engine)).duration.total_seconds()


@pytest.mark.parametrize("engine", QUICK, indirect=True)
def test_it_stops_between_sentences(engine: NeuralSynthesizer) -> None:
    asked = iter([False])

    with pytest.raises(Stopped):
        engine.speak("Yes. No. " * 500, voice=voice_of(engine), stop=lambda: next(asked, True))


@pytest.mark.parametrize("engine", QUICK, indirect=True)
@pytest.mark.parametrize("text", ["\u200b", "...", "-"])
def test_a_text_without_a_word_is_refused(engine: NeuralSynthesizer, text: str) -> None:
    with pytest.raises(NothingToSpeak):
        engine.speak(text, voice=voice_of(engine))
