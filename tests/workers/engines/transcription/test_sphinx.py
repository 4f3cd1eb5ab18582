"""Sphinx: drafts of real speech, and not a word where nobody speaks."""

import threading
import time
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sound import file_of
from spoken import LOSSLESS, LOSSY, RATE, TEXTS, encoded, samples_of, word_error_rate

from pipeline.kinds.transcription.transcripts import Segment, Word
from pipeline.settings import Settings
from workers.engines import Stopped
from workers.engines.transcription.sphinx import SEGMENT_SECONDS, Sphinx, group, punctuated
from workers.media.audio.decoding import decode
from workers.media.audio.ffmpeg import find_ffmpeg
from workers.media.audio.track import Samples

#: The first sentence of one recording: short, because it is heard often.
SENTENCE = slice(0, int(3.4 * RATE))
SAID = "The train from the city arrives at a quarter past seven."


@pytest.fixture(scope="module")
def sphinx() -> Sphinx:
    engine = Sphinx.from_settings(Settings())
    assert engine.readiness() is None
    engine.setup()
    return engine


def heard(engine: Sphinx, samples: Samples) -> list[Segment]:
    with engine.listen(samples, language=None, timed=True) as hearing:
        assert (hearing.language, hearing.language_probability) == ("en", None)
        return list(hearing.segments)


def text_of(segments: list[Segment]) -> str:
    return " ".join(segment.text for segment in segments)


def test_real_speech_is_understood_well_enough_for_a_draft(sphinx: Sphinx) -> None:
    errors = {name: word_error_rate(text, text_of(heard(sphinx, samples_of(name)))) for name, text in TEXTS.items()}

    assert max(errors.values()) <= 0.35, errors


def decoded(content: bytes) -> Samples:
    minute = timedelta(minutes=1)
    with (
        file_of(content) as file,
        decode(find_ffmpeg(Settings()), file, sample_rate=RATE, max_duration=minute) as track,
    ):
        return track.read(0, len(track))


def test_the_sentence_is_understood(sphinx: Sphinx) -> None:
    assert text_of(heard(sphinx, samples_of("train")[SENTENCE])) == SAID


@pytest.mark.parametrize("ending", LOSSLESS)
def test_a_lossless_format_brings_the_same_samples_and_so_the_same_text(tmp_path: Path, ending: str) -> None:
    spoken = samples_of("train")[SENTENCE]

    assert np.array_equal(decoded(encoded(spoken, tmp_path, ending, *LOSSLESS[ending])), spoken)


@pytest.mark.parametrize("ending", LOSSY)
def test_a_lossy_format_hardly_changes_the_text(sphinx: Sphinx, tmp_path: Path, ending: str) -> None:
    spoken = samples_of("train")[SENTENCE]

    lossy = decoded(encoded(spoken, tmp_path, ending, *LOSSY[ending]))

    assert word_error_rate(SAID, text_of(heard(sphinx, lossy))) <= 0.15


def test_each_word_has_its_time(sphinx: Sphinx) -> None:
    pause = np.zeros(2 * RATE, np.int16)
    [first, second] = heard(sphinx, np.concatenate([pause, *[samples_of("train")[SENTENCE], pause] * 2]))

    assert first.text == second.text == SAID
    assert first.start == pytest.approx(2.18, abs=0.1)
    assert second.start - first.start == pytest.approx(5.4, abs=0.1)
    for segment in (first, second):
        assert segment.words is not None
        assert " ".join(word.word for word in segment.words) == segment.text
        times = [time for word in segment.words for time in (word.start, word.end)]
        assert times == sorted(times)
        assert (segment.start, segment.end) == (times[0], times[-1])


def test_what_others_said_before_changes_nothing(sphinx: Sphinx) -> None:
    spoken = samples_of("weather")[: 3 * RATE]
    alone = heard(sphinx, spoken)
    heard(sphinx, samples_of("market")[: 3 * RATE] // 20)

    assert heard(sphinx, spoken) == alone


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
    "pink": noise(0.5),
    "brown": noise(1),
    "hum": np.sin(2 * np.pi * 50 * np.arange(5 * RATE) / RATE),
    "flute": tune(harmonics=2, seconds=0.5, fading=0.2),
    "piano": tune(harmonics=8, seconds=0.18, fading=5),
    "organ": tune(harmonics=5, seconds=1.0, fading=0.0),
}


@pytest.mark.parametrize("sound", NOT_SPEECH)
def test_where_nobody_speaks_no_words_are_made_up(sphinx: Sphinx, sound: str) -> None:
    loud = NOT_SPEECH[sound] / (np.sqrt(np.mean(NOT_SPEECH[sound] ** 2)) or 1) * 10 ** (-18 / 20)

    assert heard(sphinx, (np.clip(loud, -1, 1) * 32_767).astype(np.int16)) == []


def test_long_silence_takes_no_time_and_what_is_said_behind_it_is_heard(
    sphinx: Sphinx, monkeypatch: pytest.MonkeyPatch
) -> None:
    detector, asked = sphinx._voice._detector, []

    class Counting:
        reset = detector.reset

        def process_samples(self, samples: list[float]) -> float:
            asked.append(len(samples))
            return float(detector.process_samples(samples))

    monkeypatch.setattr(sphinx._voice, "_detector", Counting())
    spoken = samples_of("train")[SENTENCE]

    assert heard(sphinx, np.zeros(600 * RATE, np.int16)) == []
    assert asked == []
    [segment] = heard(sphinx, np.concatenate([np.zeros(60 * RATE, np.int16), spoken]))
    assert segment.text == SAID
    assert segment.start == pytest.approx(60.18, abs=0.1)
    assert sum(asked) <= len(spoken) + 2 * RATE


def test_speech_over_noise_is_still_heard(sphinx: Sphinx) -> None:
    spoken = samples_of("train")[SENTENCE]
    hiss = np.random.default_rng(1).normal(0, 100, len(spoken))

    assert word_error_rate(SAID, text_of(heard(sphinx, spoken + hiss))) < 0.6


def test_other_threads_go_on_while_it_listens_for_one_of_them_renews_the_lease(sphinx: Sphinx) -> None:
    has_ended = threading.Event()
    ticks: list[float] = []

    def tick() -> None:
        while not has_ended.wait(0.005):
            ticks.append(time.process_time())  # of which a busy machine takes nothing

    ticking = threading.Thread(target=tick)
    ticking.start()
    began = time.process_time()
    heard(sphinx, samples_of("train")[SENTENCE])
    took = time.process_time() - began
    has_ended.set()
    ticking.join()

    assert max(later - earlier for earlier, later in pairwise(ticks)) < took / 2


@pytest.mark.parametrize("looks", [0, 5])
def test_it_stops_before_a_sentence_and_amid_one_and_hears_the_next_all_the_same(sphinx: Sphinx, looks: int) -> None:
    left = iter(range(looks))
    with (
        sphinx.listen(
            samples_of("train")[SENTENCE], language="en", timed=False, stop=lambda: next(left, None) is None
        ) as hearing,
        pytest.raises(Stopped),
    ):
        next(hearing.segments)

    assert text_of(heard(sphinx, samples_of("train")[SENTENCE])) == SAID


def said(*starts: float) -> list[Word]:
    """Return words of a second each, which are numbers."""
    return [Word(start=start, end=start + 1, word=str(number)) for number, start in enumerate(starts)]


def test_a_long_sentence_is_parted_where_its_speaker_pauses() -> None:
    groups = list(group(said(0, 1, 2, 3, 4.3, 5.3, 6.3, 7.3, 8.3)))

    assert [" ".join(word.word for word in words) for words in groups] == ["0 1 2 3", "4 5 6 7 8"]
    assert all(words[-1].end - words[0].start <= SEGMENT_SECONDS for words in groups)
    assert list(group([])) == []


def test_a_draft_is_written_as_sentences_which_end_at_pauses() -> None:
    words = ["the", "doors", "i'm", "sure", "may", "and", "i", "march", "sunday"]
    times = said(0, 1, 2, 3, 5, 6, 7, 8, 9)
    named = [time.model_copy(update={"word": word}) for time, word in zip(times, words, strict=True)]

    segments = list(punctuated([named[:2], named[2:4], named[4:]]))

    assert [segment.text for segment in segments] == ["The doors", "I'm sure.", "May and I march Sunday."]
    for segment in segments:
        assert " ".join(word.word for word in segment.words or ()) == segment.text
    assert list(punctuated([])) == []
