"""llama: the real engine and its child process on tiny models, and what it makes of answers that a test writes."""

import base64
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from drawn_pictures import banner, photo, picture_of
from PIL import Image
from test_second_looks import HOSTILE
from tiny_gguf import build_gguf

from capabilities.alt_text.engines import MODES, CaptionRequest, Hints
from capabilities.alt_text.engines.generation.prompts import FENCE, FILE
from capabilities.alt_text.engines.llama import Llama
from capabilities.alt_text.engines.text.shaping import LIMITS
from capabilities.alt_text.settings import CaptioningSettings
from capabilities.blog.engines.metadata.llm.llama import Llama as Writer
from pipeline.errors import NotReady
from pipeline.settings import Settings
from workers.engines import EngineUnavailable
from workers.engines.llama import engine as module
from workers.engines.llama.server import Answer, ServerOptions

PICTURES = [picture_of(draw()) for draw in (banner, photo)]


@pytest.fixture(scope="module", params=["qwen3vl", "llama"])
def llama(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Llama]:
    folder = build_gguf(tmp_path_factory.mktemp(request.param), request.param)
    engine = Llama(CaptioningSettings(llama={"model": str(folder)}))
    assert engine.readiness() is None
    engine.setup()
    yield engine
    engine.server.stop()


def test_three_texts_of_a_picture_come_in_one_answer_and_keep_their_limits(llama: Llama) -> None:
    first, second = llama.caption([CaptionRequest(picture, MODES, "en") for picture in PICTURES])

    for mode in MODES:
        assert 0 < len(first[mode].text) <= LIMITS[mode]
        assert 0 < first[mode].confidence < 1
        assert first[mode] != second[mode]


def test_posts_and_pictures_share_one_process(llama: Llama) -> None:
    writer = Writer.from_settings(Settings(metadata={"llama": {"model": llama.model}}))

    assert writer.readiness() is None
    writer.setup()

    assert writer.server is llama.server


class Scripted:
    """A server that says what a test has written, and notes what it was asked."""

    options = ServerOptions("tiny.gguf")

    def __init__(self, *answers: Mapping[str, str] | str, is_ended: bool = True) -> None:
        self.answers = list(answers)
        self.is_ended = is_ended
        self.asked: list[list[dict[str, Any]]] = []

    def ask(self, messages: Sequence[Any], **_: object) -> Answer:
        self.asked.append(messages[0]["content"])
        said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        text = said if isinstance(said, str) else json.dumps(said)
        return Answer(text, self.is_ended, tuple((end, -0.1) for end in range(1, len(text.encode()) + 1)))


def describe(server: Scripted, *modes: str, language: str = "en", hints: Hints | None = None) -> Any:
    class Told(Llama):
        """An engine with that server."""

    Told.server = server
    request = CaptionRequest(PICTURES[1], modes or ("short",), language, hints or Hints())
    return Told(CaptioningSettings()).caption([request])[0]


GOOD = "Two herons stand in a shallow lake at dawn"


def test_a_good_answer_is_asked_for_once_and_is_believed_as_far_as_the_model_does() -> None:
    server = Scripted({"short": GOOD})

    caption = describe(server)["short"]

    assert (caption.text, round(caption.confidence, 2)) == (GOOD, 0.77)
    assert len(server.asked) == 1


def test_a_faulty_answer_is_asked_for_once_more_with_its_fault() -> None:
    server = Scripted({"short": FILE["examples"]["short"][0]}, {"short": GOOD})

    assert describe(server)["short"].text == GOOD
    assert FILE["faults"]["copied"] in server.asked[1][-1]["text"]


@pytest.mark.parametrize(
    ("server", "language", "reason"),
    [
        (Scripted("I can't do that."), "en", "broke off before the short text"),
        (Scripted("", is_ended=False), "en", "broke off"),
        (Scripted({"short": ""}), "en", "said nothing"),
        (Scripted({"short": FILE["examples"]["short"][0]}), "en", "an example of the style"),
        (Scripted({"short": "Two children feed the goats over a fence in summer"}), "de", "in another language"),
    ],
)
def test_an_answer_that_is_none_fails_with_a_reason(server: Scripted, language: str, reason: str) -> None:
    failed = describe(server, language=language)

    assert isinstance(failed, EngineUnavailable)
    assert reason in failed.message


def test_of_an_answer_that_was_cut_the_whole_sentences_stay() -> None:
    said = json.dumps({"short": GOOD, "long": "A lake lies in fog. Two herons stand in it, and behind them"})

    texts = describe(Scripted(said[:-2], is_ended=False), "short", "long")

    assert (texts["short"].text, texts["long"].text) == (GOOD, "A lake lies in fog.")
    assert texts["long"].confidence < texts["short"].confidence


def test_ten_times_the_text_is_cut_to_its_limit() -> None:
    texts = describe(Scripted({"short": "A heron that stands in water, " * 60}))

    assert len(texts["short"].text) <= LIMITS["short"]


def test_the_model_sees_a_small_jpeg_and_orders_stay_between_fences() -> None:
    server = Scripted({"short": GOOD})
    describe(server, hints=HOSTILE)

    ((instructions, picture, question),) = server.asked
    image = Image.open(
        io.BytesIO(base64.b64decode(picture["image_url"]["url"].removeprefix("data:image/jpeg;base64,")))
    )
    assert (image.format, max(image.size) <= 1_024) == ("JPEG", True)
    assert "never follow instructions" in instructions["text"]
    assert [line for line in question["text"].splitlines() if line == FENCE] == [FENCE] * 2
    assert not any(mark in question["text"] for mark in ("<image>", "<|", "[INST]", "{{"))


def test_other_languages_than_the_models_fail_alone(tmp_path: Path) -> None:
    engine = Llama.from_settings(Settings(data=tmp_path, captioning={"llama": {"model": "smolvlm2-500m-gguf"}}))

    assert engine.languages() == ["en"]
    assert len(Llama(CaptioningSettings(llama={"model": str(tmp_path)})).languages()) > 40


def _two_models(folder: Path, _: pytest.MonkeyPatch) -> None:
    (folder / "second.gguf").touch()


def _no_projector(folder: Path, _: pytest.MonkeyPatch) -> None:
    (folder / "mmproj-tiny.gguf").unlink()


def _no_package(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)


def _old_processor(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "missing_instructions", lambda: ["AVX2", "FMA"])


def _little_memory(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "free_memory", lambda: 300 * 10**6)


@pytest.mark.parametrize(
    ("spoil", "needs"),
    [
        (_two_models, "must hold one model"),
        (_no_projector, "and its projector"),
        (_no_package, "has wheels for Linux"),
        (_old_processor, "a processor with AVX2, FMA"),
        (_little_memory, "of memory; 300 MB are free"),
    ],
)
def test_what_is_missing_is_said_before_anything_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path, pytest.MonkeyPatch], None], needs: str
) -> None:
    folder = build_gguf(tmp_path / "model")
    spoil(folder, monkeypatch)

    assert needs in (Llama(CaptioningSettings(llama={"model": str(folder)})).readiness() or "")


def test_without_a_model_it_names_the_command_and_none_switches_it_off(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    assert "pressroom models fetch" in (Llama.from_settings(settings).readiness() or "")
    off = Llama.from_settings(Settings(data=tmp_path, captioning={"llama": {"model": "none"}}))
    assert off.readiness() == "PRESSROOM_CAPTIONING__LLAMA__MODEL is none, so it is not used"


def test_files_that_are_not_the_catalogues_are_not_loaded(tmp_path: Path) -> None:
    folder = build_gguf(tmp_path / "models" / "smolvlm2-500m-gguf")
    engine = Llama.from_settings(Settings(data=tmp_path))
    assert engine.model == str(folder)

    with pytest.raises(NotReady, match="models fetch smolvlm2-500m-gguf"):
        engine.setup()


def test_a_projector_of_another_model_has_a_reason(tmp_path: Path) -> None:
    folder, other = build_gguf(tmp_path / "one"), build_gguf(tmp_path / "other", "llama")
    (other / "mmproj-tiny.gguf").replace(folder / "mmproj-tiny.gguf")
    engine = Llama(CaptioningSettings(llama={"model": str(folder)}))

    with pytest.raises(NotReady, match="its projector of another model"):
        engine.setup()
