"""vlm: real engine code on models with random weights."""

import json
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from drawn_pictures import banner, bar_chart, illustration, photo, picture_of, plain
from PIL import Image
from tiny_models import build_qwen3_vl

from capabilities.alt_text.engines import MODES, Caption, CaptionRequest, Mode
from capabilities.alt_text.engines.generation.decoding import Decoded, decode_row
from capabilities.alt_text.engines.text.shaping import LIMITS
from capabilities.alt_text.engines.vlm import Vlm
from capabilities.alt_text.settings import CaptioningSettings
from pipeline.errors import NotReady
from pipeline.settings import Settings
from pipeline.settings.fields import ModelSettings
from scripts.system.programs import environment
from workers.engines import EngineUnavailable, Stopped, models
from workers.models.catalogue import File, find_model
from workers.models.files import sha256_of
from workers.models.store import ModelStore

PICTURES = [picture_of(draw()) for draw in (banner, photo, plain, bar_chart, illustration)]


def requests(modes: tuple[Mode, ...] = ("short",), language: str = "en") -> list[CaptionRequest]:
    return [CaptionRequest(picture, modes, language) for picture in PICTURES]


def engine(folder: Path | str, kind: type[Vlm] = Vlm, **model: str) -> Vlm:
    """Return an engine, set up, with one thread: two wait for each other where others work."""
    made = kind(CaptioningSettings(threads=1, batch=4), ModelSettings(model=str(folder), **{"device": "cpu"} | model))
    made.setup()
    return made


@pytest.fixture(scope="module")
def vlm(vlm_folder: Path) -> Vlm:
    return engine(vlm_folder)


@pytest.fixture(scope="module")
def llava(llava_folder: Path) -> Vlm:
    return engine(llava_folder)


@pytest.fixture(scope="module", params=["vlm", "llava"])
def captioner(request: pytest.FixtureRequest) -> Vlm:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def all_modes(captioner: Vlm) -> tuple[Sequence[dict[Mode, Caption]], int]:
    """Three texts of each of four pictures, and how often the vision tower was passed for them."""
    towers = [
        module for name, module in captioner._model.named_modules() if name.endswith(("vision_model", "vision_tower"))
    ]
    passes: list[int] = []
    hook = towers[0].register_forward_hook(lambda *_: passes.append(1))
    # Random weights never end a text; their second looks are not counted.
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr("capabilities.alt_text.engines.generation.judging.faults_of", lambda *_: [])
    captions = captioner.caption(requests(MODES)[:4])
    monkeypatch.undo()
    hook.remove()
    return captions, len(passes)


def test_different_pictures_have_different_texts_that_keep_their_limits(all_modes) -> None:
    captions, _ = all_modes

    for mode in MODES:
        texts = [caption[mode].text for caption in captions]
        assert len(set(texts)) == 4
        assert all(0 < len(text) <= LIMITS[mode] for text in texts)
        assert all(0 < caption[mode].confidence < 1 for caption in captions)


def test_three_texts_cost_one_pass_over_the_image_encoder(all_modes, captioner: Vlm) -> None:
    captions, passes = all_modes

    assert passes == 1
    # What was seen last is not taken for what is shown next.
    (other,) = captioner.caption(requests()[4:])
    assert other["short"] not in [caption["short"] for caption in captions]


def test_pictures_of_one_batch_may_want_different_texts_in_their_order(captioner: Vlm) -> None:
    batches: list[int] = []
    say = captioner._generate
    captioner._generate = lambda wanted, stop: batches.append(len(wanted)) or say(wanted, stop)
    try:
        first, second, third = captioner.caption(
            [
                CaptionRequest(PICTURES[0], ("short",), "en"),
                CaptionRequest(PICTURES[1], ("long",), "en"),
                CaptionRequest(PICTURES[2], ("seo",), "en"),
            ]
        )
    finally:
        del captioner._generate

    assert (list(first), list(second), list(third)) == (["short"], ["long"], ["seo"])
    assert batches == [3]
    for picture, said in zip(PICTURES, (first, second, third), strict=False):
        ((mode, caption),) = said.items()
        alone = captioner.caption([CaptionRequest(picture, (mode,), "en")])[0][mode]
        assert (alone.text, alone.confidence) == (caption.text, pytest.approx(caption.confidence, abs=1e-3))


def test_who_stops_waits_for_a_token_at_most(captioner: Vlm) -> None:
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 3

    with pytest.raises(Stopped):
        captioner.caption(requests(), stop=stop)

    assert len(asked) == 4


def test_confidence_is_the_mean_of_real_tokens_and_not_of_padding() -> None:
    import torch

    probabilities = torch.tensor([0.5, 0.125, 0.9, 0.0001]).log()

    said = decode_row(torch.tensor([7, 8, 2, 0]), probabilities, lambda tokens: str(tokens.tolist()), {2})

    assert said == Decoded("[7, 8]", pytest.approx(0.25), True)


class Cramped(Vlm):
    """One on a GPU that has room for two pictures."""

    def _generate(self, requests: Sequence[CaptionRequest], stop):
        self.tried.append(len(requests))
        if len(requests) > self.room:
            from torch import OutOfMemoryError

            raise OutOfMemoryError("CUDA out of memory.")
        return super()._generate(requests, stop)


def test_a_batch_that_is_too_large_for_the_gpu_is_halved_and_stays_so(vlm_folder: Path, vlm: Vlm) -> None:
    cramped = engine(vlm_folder, Cramped)
    cramped.tried, cramped.room = [], 2

    captions = cramped.caption(requests())

    assert captions == vlm.caption(requests())
    assert cramped.tried == [4, 2, 2, 1]
    assert cramped.batch == 2


class Picky(Vlm):
    """One whose processor chokes on some pictures."""

    def _generate(self, requests: Sequence[CaptionRequest], stop):
        if any(request.picture.image.width < 10 for request in requests):
            raise ValueError("mean must have 1 elements if it is an iterable, got 3")
        return super()._generate(requests, stop)


def test_a_picture_that_a_model_chokes_on_fails_alone(vlm_folder: Path, vlm: Vlm) -> None:
    picky = engine(vlm_folder, Picky)
    odd = CaptionRequest(picture_of(Image.new("RGB", (1, 1))), ("short",), "en")

    first, failed, last = picky.caption([requests()[0], odd, requests()[1]])

    assert [first, last] == vlm.caption(requests()[:2])
    assert isinstance(failed, EngineUnavailable)
    assert "mean must have 1 elements" in failed.message


def test_pictures_of_extreme_shapes_have_texts(captioner: Vlm) -> None:
    odd = [Image.new("RGB", size, "navy") for size in ((1, 1), (3000, 20))]

    captions = captioner.caption([CaptionRequest(picture_of(image), ("short",), "en") for image in odd])

    assert all(caption["short"].text for caption in captions)


def has_gpu() -> bool:
    import torch

    return bool(torch.cuda.is_available())


def test_pictures_that_can_not_be_made_ready_on_the_gpu_are_on_the_processor(
    vlm_folder: Path, vlm: Vlm, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = engine(vlm_folder)
    given = Vlm._prepared

    def odd(self: Vlm, images: Iterable[Image.Image]) -> list[object]:
        if self._takes_tensors:
            raise AttributeError("'Tensor' object has no attribute 'convert'")
        return given(self, images)

    monkeypatch.setattr(Vlm, "_prepared", odd)
    made._takes_tensors = True

    made._warm_up()

    assert not made._takes_tensors
    assert made.caption(requests()) == vlm.caption(requests())


def test_pictures_go_to_a_processor_of_tensors_as_they_were_decoded(vlm: Vlm, monkeypatch: pytest.MonkeyPatch) -> None:
    tall = Image.new("RGB", (3, 5), (250, 100, 0))
    assert vlm._prepared([tall]) == [tall]
    monkeypatch.setattr(vlm, "_takes_tensors", True)

    (tensor,) = vlm._prepared([tall])

    assert (str(tensor.dtype), tuple(tensor.shape)) == ("torch.uint8", (3, 5, 3))
    assert tensor[:, 0, 0].tolist() == [250, 100, 0]


def test_a_device_that_can_not_run_the_model_is_found_before_anybody_waits(vlm_folder: Path) -> None:
    # It has tensors without numbers, so all goes well until a text is read.
    with pytest.raises(NotReady, match="can't be used on the device meta"):
        engine(vlm_folder, device="meta")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="memory is kept by glibc's means")
def test_a_process_with_a_model_keeps_its_memory() -> None:
    program = """if True:
        import sys
        from workers.engines import malloc
        def resident():
            with open("/proc/self/status") as status:
                return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) // 1024
        if sys.argv[1] == "keep":
            malloc.keep_freed()
        before = resident()
        taken = bytearray(b"x") * (200 * 2**20)
        del taken
        print(resident() - before)
    """

    def grown(how: str) -> int:
        command = [sys.executable, "-c", program, how]
        return int(subprocess.run(command, check=True, capture_output=True, text=True, env=environment()).stdout)

    assert grown("keep") > 150
    assert grown("do not") < 50


class OnGpu(Vlm):
    """One that thinks that the processor is a GPU."""

    gpu = "cuda:0"


@pytest.mark.parametrize("error", [AttributeError("no attribute 'convert'"), ImportError("nvrtc"), ZeroDivisionError()])
def test_whatever_goes_wrong_at_the_start_is_one_engines_affair(
    vlm_folder: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(Vlm, "_generate", fail)

    with pytest.raises(NotReady, match="can't be used on the device cpu"):
        engine(vlm_folder, OnGpu)


def test_where_none_is_set_the_model_of_the_catalogue_is_run(vlm_folder: Path, tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    needs = Vlm.from_settings(settings).readiness() or ""
    assert "PRESSROOM_CAPTIONING__VLM__MODEL names no model; qwen3-vl-2b, the smallest of the catalogue" in needs

    shutil.copytree(vlm_folder, tmp_path / "models" / "qwen3-vl-2b")

    found = Vlm.from_settings(settings)
    assert found.readiness() is None
    found.setup()
    assert found.model == str(tmp_path / "models" / "qwen3-vl-2b")


def test_weights_that_were_altered_since_their_download_are_not_run(vlm_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "models" / "qwen3-vl-2b"
    shutil.copytree(vlm_folder, folder)
    files = [File(path.name, sha256_of(path), path.stat().st_size) for path in folder.iterdir() if path.is_file()]
    ModelStore(Settings(data=tmp_path)).lock.write(find_model("qwen3-vl-2b"), commit="c0ffee" * 6 + "c0ff", files=files)
    engine = Vlm.from_settings(Settings(data=tmp_path))
    with (folder / "model.safetensors").open("r+b") as opened:
        opened.seek(-8, 2)
        opened.write(b"altered!")

    with pytest.raises(NotReady, match="qwen3-vl-2b is damaged or altered"):
        engine.setup()


@pytest.mark.parametrize(
    ("model", "says"),
    [({"device": "cuda:7"}, "device cuda:7"), ({"device": "nowhere"}, "device nowhere"), ({"dtype": "int3"}, "int3")],
)
def test_a_device_or_type_that_is_not_there_is_named(vlm_folder: Path, model: dict[str, str], says: str) -> None:
    if has_gpu():
        pytest.skip("there is a CUDA device here")
    with pytest.raises(NotReady, match=says):
        engine(vlm_folder, **model)


def test_a_folder_that_is_not_there_is_named() -> None:
    with pytest.raises(NotReady, match="no folder /nowhere/model"):
        engine("/nowhere/model")


def test_weights_that_can_hold_programs_are_not_read(vlm_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(vlm_folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "model.safetensors").unlink()
    (tmp_path / "pytorch_model.bin").write_bytes(b"")

    with pytest.raises(NotReady, match=r"no \*\.safetensors"):
        engine(tmp_path)


def test_code_that_comes_with_a_model_is_not_run(vlm_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(vlm_folder, tmp_path, dirs_exist_ok=True)
    config = json.loads((tmp_path / "config.json").read_text())
    config |= {
        "model_type": "evil",
        "auto_map": {"AutoConfig": "evil.Config", "AutoModelForImageTextToText": "evil.Model"},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Config: ...\nclass Model: ...\n")

    with pytest.raises(NotReady, match="code of its own, which is never run"):
        engine(tmp_path)

    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("raised", "says"),
    [
        (RuntimeError("operator torchvision::nms does not exist"), "built for another torch"),
        (ImportError("SmolVLMVideoProcessor requires the Torchvision library"), "it needs torchvision"),
        (OSError("We couldn't connect to 'https://huggingface.co' to load the files"), "Download it where there is"),
    ],
)
def test_what_libraries_raise_is_told_with_a_remedy(raised: Exception, says: str) -> None:
    with pytest.raises(NotReady, match=says), models.named("some/model"):
        raise raised


def test_qwen3_vl_of_the_catalogue_describes_a_batch_and_looks_again(tmp_path: Path) -> None:
    processor = build_qwen3_vl(tmp_path)

    class Qwen(Vlm):
        def _load_processor(self) -> Any:
            processor.tokenizer.padding_side = "left"
            return processor

    together = engine(tmp_path, Qwen).caption(requests(MODES)[:2])

    assert together[0]["short"].text != together[1]["short"].text
    assert all(0 < len(texts[mode].text) <= LIMITS[mode] for texts in together for mode in MODES)
