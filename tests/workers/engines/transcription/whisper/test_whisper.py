"""Whisper: the engine's own code with a model of random weights that knows what to say."""

import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
import pytest
import tiny_whisper
from spoken import RATE, samples_of

from pipeline.engine_settings import WhisperSettings
from pipeline.errors import NotReady
from pipeline.kinds.transcription.transcripts import Segment
from workers.engines import Stopped
from workers.engines.transcription.whisper.whisper import Whisper, quickest
from workers.media.audio.track import Samples

SENTENCE = "this is what a random model says."


def made(folder: Path | str, **settings: Any) -> Whisper:
    engine = Whisper(WhisperSettings(model=str(folder), device="cpu", cpu_threads=2, **settings))
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


def test_a_language_is_found_out_with_its_probability(whisper: Whisper) -> None:
    language, probability, segments = heard(whisper, samples_of("library"))

    assert language == "de"
    assert probability is not None
    assert 0.5 < probability < 1
    assert [segment.text.strip() for segment in segments] == [SENTENCE]
    assert segments[0].words is None


def test_a_language_that_is_given_is_not_looked_for(whisper: Whisper) -> None:
    assert heard(whisper, samples_of("library"), language="fr")[:2] == ("fr", None)
    assert heard(whisper, samples_of("library"), language="jv")[:2] == ("jv", None)  # Whisper calls it jw


def test_words_have_times_and_probabilities_when_they_are_wanted(whisper: Whisper) -> None:
    [segment] = heard(whisper, samples_of("library"), timed=True)[2]

    assert segment.words is not None
    assert "".join(word.word for word in segment.words).strip() == SENTENCE
    assert all(0 <= word.start <= word.end <= 8.2 for word in segment.words)
    assert all(word.probability is not None for word in segment.words)


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


def test_who_is_not_sure_of_the_language_hears_on(
    whisper: Whisper, long: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    class Unsure:
        """The model, which takes each window for another language."""

        def __getattr__(self, name: str) -> Any:
            return getattr(model, name)

        def detect_language(self, window: object) -> list[list[tuple[str, float]]]:
            asked.append(window)
            return [[(f"<|{('nl', 'de', 'de')[len(asked) - 1]}|>", 0.4)]]

    model = whisper._model.model
    monkeypatch.setattr(whisper._model, "model", Unsure())

    assert heard(whisper, long)[:2] == ("de", 0.4)
    assert len(asked) == 3  # of half a minute each


@pytest.mark.parametrize("timed", [False, True])
def test_long_recordings_go_through_the_model_in_batches_where_that_is_set(
    whisper: Whisper, whisper_folder: Path, long: Samples, timed: bool
) -> None:
    one_by_one = heard(whisper, long, timed=timed)
    batched = heard(made(whisper_folder, batch=4), long, timed=timed)

    assert batched[0] == one_by_one[0] == "de"
    for _, _, segments in (one_by_one, batched):
        assert len(segments) >= 3
        assert {segment.text.strip() for segment in segments} == {SENTENCE}
        assert [segment.start for segment in segments] == sorted(segment.start for segment in segments)
        assert segments[-1].end <= len(long) / RATE


def test_it_stops_between_segments(whisper: Whisper, long: Samples) -> None:
    seen = []
    with whisper.listen(long, language="en", timed=False, stop=lambda: bool(seen)) as hearing:
        seen.append(next(hearing.segments))
        with pytest.raises(Stopped):
            next(hearing.segments)
    assert heard(whisper, samples_of("train"))[0] == "de"


def test_an_idle_model_leaves_the_memory_and_comes_back_when_it_is_needed(whisper_folder: Path) -> None:
    engine = made(whisper_folder, idle_minutes=0.002)
    until = time.monotonic() + 60
    while engine._model.model.model_is_loaded:
        assert time.monotonic() < until
        time.sleep(0.01)

    assert heard(engine, samples_of("train"))[2]


def test_a_multilingual_model_offers_its_languages_and_an_english_one_english(whisper: Whisper, tmp_path: Path) -> None:
    english = made(tiny_whisper.build(tmp_path, language=None))

    assert english.offer() == {"languages": ["en"]}
    assert heard(english, samples_of("train"))[:2] == ("en", None)
    assert {"en", "de", "zh", "jv"} <= set(whisper.languages())
    assert len(whisper.languages()) >= 99


def test_it_computes_where_and_as_quickly_as_this_machine_can(whisper_folder: Path) -> None:
    engine = Whisper(WhisperSettings(model=str(whisper_folder), device="auto"))
    engine.setup()

    assert engine._device in ("cpu", "cuda")
    assert quickest("cpu", {"int8", "float32"}) == "int8"
    assert quickest("cuda", {"int8", "float16", "float32"}) == "float16"
    assert quickest("cuda", {"int8", "float32"}) == "default"


def test_a_gpu_that_can_not_be_used_leaves_the_work_to_the_processor_unless_it_was_asked_for(
    whisper_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = Whisper._load

    def without_libraries(self: Whisper, folder: str) -> Any:
        if self._device == "cuda":
            raise RuntimeError("Library libcublas.so.12 is not found or cannot be loaded")
        return load(self, folder)

    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: 1)
    monkeypatch.setattr(Whisper, "_load", without_libraries)
    engine = Whisper(WhisperSettings(model=str(whisper_folder), device="auto"))

    engine.setup()

    assert engine._device == "cpu"
    assert heard(engine, samples_of("train"))[2]
    with pytest.raises(NotReady, match="can't be used on cuda: Library libcublas"):
        Whisper(WhisperSettings(model=str(whisper_folder), device="cuda")).setup()


def test_without_a_model_it_says_which_setting_names_one() -> None:
    needs = Whisper(WhisperSettings()).readiness()

    assert needs == "PRESSROOM_TRANSCRIPTION__WHISPER__MODEL names no model"


@pytest.mark.parametrize("content", [{"model.bin": b"\0" * 100}, {"model.bin": b"", "config.json": b"{"}, None])
def test_a_folder_with_a_broken_model_is_told(
    tmp_path: Path, whisper_folder: Path, content: dict[str, bytes] | None
) -> None:
    if content is None:
        content = {file.name: file.read_bytes() for file in whisper_folder.iterdir()}
    for name, data in (content | {"tokenizer.json": b"{"}).items():
        (tmp_path / name).write_bytes(data)

    with pytest.raises(NotReady, match="can't be used"):
        made(tmp_path)


@pytest.mark.parametrize("lacking", ["model.bin", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_told_before_anything_is_loaded_or_fetched(tmp_path: Path, lacking: str) -> None:
    for name in {"model.bin", "tokenizer.json", "config.json"} - {lacking}:
        (tmp_path / name).touch()
    engine = Whisper(WhisperSettings(model=str(tmp_path)))

    assert f"no {lacking} in that folder" in (engine.readiness() or "")
    with pytest.raises(NotReady, match=f"no {lacking} in that folder.*--copy_files tokenizer.json"):
        engine.setup()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[socket.socket]:
    """A hub that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
        monkeypatch.setattr("workers.engines.models.HUB_SECONDS", 0.2)
        yield server


def test_a_model_that_would_have_to_be_downloaded_hangs_nothing_when_the_hub_is_silent(hub: socket.socket) -> None:
    began = time.monotonic()

    with pytest.raises(NotReady, match="Download it where there is a network") as raised:
        Whisper(WhisperSettings(model="small")).setup()

    assert "PRESSROOM_TRANSCRIPTION__WHISPER__MODEL" in raised.value.message
    assert time.monotonic() - began < 60  # its library would go on for minutes


def test_nothing_is_asked_of_the_hub_when_the_operator_is_offline(
    hub: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    hub.settimeout(0.1)

    with pytest.raises(NotReady, match="HF_HUB_OFFLINE"):
        Whisper(WhisperSettings(model="small")).setup()
    with pytest.raises(TimeoutError):
        hub.accept()


def cached(folder: Path, **files: bytes) -> None:
    """Put a model into the cache of the hub's library."""
    repository = folder / "models--Systran--faster-whisper-small"
    snapshot = repository / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    for name, content in files.items():
        (snapshot / name).write_bytes(content)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("a" * 40)


def test_a_download_that_was_broken_off_does_not_pass_for_a_model(hub: socket.socket, tmp_path: Path) -> None:
    cached(tmp_path, **{"config.json": b"{}"})

    with pytest.raises(NotReady, match="Download it where there is a network"):
        Whisper(WhisperSettings(model="small")).setup()


def test_a_hub_that_answers_with_something_else_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[str] = []

    class Portal(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>Accept our terms")

        def log_message(self, *_: object) -> None:
            asked.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), Portal) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
        with pytest.raises(NotReady, match="'small' could not be downloaded"):
            Whisper(WhisperSettings(model="small")).setup()
        server.shutdown()
    assert len(asked) > 1


@pytest.mark.parametrize("model", ["smaller", "/nowhere/at/all", "models/whisper/small"])
def test_a_name_that_is_no_model_is_told(model: str) -> None:
    with pytest.raises(NotReady, match=model):
        Whisper(WhisperSettings(model=model)).setup()


def test_two_recordings_at_once_are_heard_one_after_the_other(whisper: Whisper) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(heard(whisper, samples_of("train"))[0])) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["de", "de"]
