"""Whisper: the engine's own code with a model of random weights that knows what to say."""

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tiny_whisper
from spoken import RATE, samples_of
from waiting import wait_for

from capabilities.transcription.engines.whisper import listener
from capabilities.transcription.engines.whisper.hallucinations import MOST_ALIKE
from capabilities.transcription.engines.whisper.languages import PART_SECONDS, Part, find_parts
from capabilities.transcription.engines.whisper.listener import Listener, quickest, rest_of
from capabilities.transcription.engines.whisper.whisper import Whisper
from pipeline.errors import NotReady
from pipeline.settings import Settings
from pipeline.subtitles.segments import Segment
from workers.engines import Stopped
from workers.media.audio.track import Samples

SENTENCE = "this is what a random model says."


def whisper_of(**settings: Any) -> Whisper:
    return Whisper(Settings(transcription={"whisper": settings}))


def made(folder: Path, **settings: Any) -> Whisper:
    engine = whisper_of(**{"model": str(folder), "device": "cpu", "cpu_threads": 2} | settings)
    assert engine.readiness() is None
    engine.setup()
    return engine


@pytest.fixture(scope="module")
def whisper(whisper_folder: Path) -> Whisper:
    return made(whisper_folder)


def heard(
    engine: Whisper, samples: Samples, *, language: str | None = None, timed: bool = False
) -> tuple[str, float | None, list[Segment]]:
    with engine.listen(samples, language=language, timed=timed) as hearing:
        return hearing.language, hearing.language_probability, list(hearing.segments)


def test_a_model_is_tried_with_a_second_and_not_with_half_a_minute(
    whisper_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a minute costs a processor 0.7 s at each start of a pool."""
    frames: list[int] = []
    from faster_whisper import WhisperModel  # takes a second, so not while tests are collected

    encode = WhisperModel.encode
    monkeypatch.setattr(
        WhisperModel, "encode", lambda model, features: (frames.append(features.shape[-1]), encode(model, features))[1]
    )

    made(whisper_folder)

    assert frames == [100]


def test_a_language_is_found_out_with_its_probability(whisper: Whisper) -> None:
    language, probability, segments = heard(whisper, samples_of("library"))

    assert language == "de"
    assert probability is not None
    assert 0.5 < probability < 1
    assert [segment.text.strip() for segment in segments] == [SENTENCE]
    assert segments[0].words is None


@pytest.mark.parametrize("language", [None, "en"])
@pytest.mark.parametrize("loudness", [0, 300, 6_000])
def test_silence_and_noise_never_reach_the_model(whisper: Whisper, language: str | None, loudness: int) -> None:
    sound = np.random.default_rng(1).normal(0, loudness, 10 * RATE).clip(-32_767, 32_767).astype(np.int16)

    assert heard(whisper, sound, language=language)[2] == []


@pytest.fixture(scope="module")
def long() -> Samples:
    """Over a minute, with a pause in the middle."""
    once = [samples_of(name) for name in ("library", "market", "train", "weather", "newspaper")]
    return np.concatenate([*once, np.zeros(5 * RATE, np.int16), *once])


def test_a_language_is_changed_only_where_another_is_far_likelier(
    whisper: Whisper, long: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of four pieces ahead German is the likeliest; Dutch is a little likelier in one, and French is sure in another.
    doubt, sure = [("<|nl|>", 0.5), ("<|de|>", 0.4), ("<|fr|>", 0.0)], [("<|fr|>", 0.95), ("<|de|>", 0.01)]
    german = [("<|de|>", 0.8), ("<|nl|>", 0.1), ("<|fr|>", 0.0)]
    answers = iter([doubt, german, german, german, [*sure, ("<|nl|>", 0.0)]])

    class Judge:
        """The model, with these answers and then German."""

        def __getattr__(self, name: str) -> Any:
            return getattr(model, name)

        def detect_language(self, piece: object) -> list[list[tuple[str, float]]]:
            return [next(answers, german)]

    model = whisper._listener._loaded.model
    monkeypatch.setattr(whisper._listener._loaded, "model", Judge())

    parts = list(find_parts(whisper._listener._loaded, long.astype(np.float32) / 32_768, None))

    assert [part.language for part in parts][:3] == ["de", "fr", "de"]
    clips = [clip for part in parts for clip in part.clips(starts_short=False)]
    assert all(before[1] <= after[0] for before, after in pairwise(clips))
    assert all(stop - start <= 30 * RATE for start, stop in clips)
    assert all(part.pieces[-1][1] - part.pieces[0][0] <= PART_SECONDS * RATE for part in parts)


@pytest.mark.parametrize("timed", [False, True])
def test_long_recordings_go_through_the_model_in_batches_where_that_is_set(
    whisper: Whisper, whisper_folder: Path, long: Samples, timed: bool
) -> None:
    one_by_one = heard(whisper, long, timed=timed)
    batched = heard(made(whisper_folder, batch=4), long, timed=timed)

    assert batched[0] == one_by_one[0] == "de"
    for _, _, segments in (one_by_one, batched):
        assert len(segments) == MOST_ALIKE  # of those that say the same
        assert segments[-1].start >= 17
        assert {segment.text.strip() for segment in segments} == {SENTENCE}
        assert [segment.start for segment in segments] == sorted(segment.start for segment in segments)
        assert segments[-1].end <= len(long) / RATE


@pytest.mark.parametrize("batch", [1, 4])
def test_a_sentence_that_a_clip_cuts_is_heard_with_what_follows(
    whisper: Whisper, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    def hear(sound: Any, clips: Any, *how: Any) -> Any:
        found = [SimpleNamespace(start=a / RATE, end=min(a / RATE + 15, b / RATE)) for a, b in clips]
        return found, [rest_of(clip, found) for clip in clips]

    monkeypatch.setattr(whisper._listener, "_batch", batch)
    monkeypatch.setattr(whisper._listener, "_heard", hear)
    pieces = [(second * RATE, (second + 12) * RATE) for second in range(0, 72, 12)]

    found = list(whisper._listener._hear(None, Part("en", 1.0, pieces), {}, starts_short=True))

    assert (found[0].start, found[-1].end) == (0, 72)
    assert all(one.end == other.start for one, other in pairwise(found))


@pytest.mark.parametrize(
    ("tokens", "expected"), [([9, 1, 9], False), ([9, 1, 9, 9, 1, 9], False), ([9, 1, 9, 9], True), ([9, 1], False)]
)
def test_a_clip_is_unfinished_if_the_model_says_so(tokens: list[int], expected: bool) -> None:
    from capabilities.transcription.engines.whisper.clips import is_unfinished  # takes a second

    assert is_unfinished(tokens, 9) is expected


def test_it_stops_between_segments(whisper: Whisper, long: Samples) -> None:
    seen = []
    with whisper.listen(long, language="en", timed=False, stop=lambda: bool(seen)) as hearing:
        seen.append(next(hearing.segments))
        with pytest.raises(Stopped):
            next(hearing.segments)
    assert heard(whisper, samples_of("train"))[0] == "de"


def test_a_model_that_would_take_all_memory_is_not_loaded(
    whisper_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "free_memory", lambda: 50 * 10**6)

    with pytest.raises(NotReady, match="of free memory, and 50 MB are free"):
        made(whisper_folder)


def test_an_idle_model_comes_when_it_is_needed_and_leaves_the_memory_again(whisper_folder: Path) -> None:
    engine = made(whisper_folder, idle_minutes=0.002)
    assert not engine._listener._loaded.model.model_is_loaded
    assert engine.offer()["translates"]

    assert heard(engine, samples_of("train"))[2]
    wait_for(lambda: not engine._listener._loaded.model.model_is_loaded, seconds=60)


def test_a_multilingual_model_offers_its_languages_and_an_english_one_english(whisper: Whisper, tmp_path: Path) -> None:
    english = made(tiny_whisper.build(tmp_path, language=None))

    assert english.offer() == {"languages": ["en"], "translates": False}
    assert heard(english, samples_of("train"))[:2] == ("en", None)
    assert {"en", "de", "zh", "jv"} <= set(whisper.languages())
    assert len(whisper.languages()) >= 99


def test_it_computes_where_and_as_quickly_as_this_machine_can(whisper_folder: Path) -> None:
    engine = whisper_of(model=str(whisper_folder), device="auto")
    engine.setup()

    assert engine._listener._device in ("cpu", "cuda")
    assert quickest("cpu", {"int8", "float32"}) == "int8"
    assert quickest("cuda", {"int8", "float16", "float32"}) == "float16"
    assert quickest("cuda", {"int8", "float32"}) == "default"


def test_a_gpu_that_can_not_be_used_leaves_the_work_to_the_processor_unless_it_was_asked_for(
    whisper_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = Listener._load

    def without_libraries(self: Listener) -> Any:
        if self._device == "cuda":
            raise RuntimeError("Library libcublas.so.12 is not found or cannot be loaded")
        return load(self)

    monkeypatch.setattr("ctranslate2.get_cuda_device_count", lambda: 1)
    monkeypatch.setattr(Listener, "_load", without_libraries)
    engine = whisper_of(model=str(whisper_folder), device="auto")

    engine.setup()

    assert engine._listener._device == "cpu"
    assert heard(engine, samples_of("train"))[2]
    with pytest.raises(NotReady, match="can't be used on cuda: Library libcublas"):
        whisper_of(model=str(whisper_folder), device="cuda").setup()
