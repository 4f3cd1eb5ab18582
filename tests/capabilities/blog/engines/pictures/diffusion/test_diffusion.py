"""diffusion: real pipelines of random weights go through the engine."""

import io
import socketserver
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import tiny_diffusion
from PIL import Image

from capabilities.blog.engines.pictures import STYLES, Brief, Painted
from capabilities.blog.engines.pictures.diffusion.diffusion import (
    NEGATIVE,
    OPENINGS,
    Diffusion,
    PictureFailed,
    PictureUnsafe,
    _cropped,
    prompt_of,
)
from capabilities.blog.settings import DiffusionSettings
from pipeline.errors import NotReady
from workers.engines import Stopped
from workers.models.catalogue import find_model

#: diffusers 0.42 still decorates with it, and torch 2.13 warns of that.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated:DeprecationWarning")

BRIEF = Brief("Tomatoes", "", "", (), "photographic", "de")


def _engine(folder: Path, **settings: object) -> Diffusion:
    wanted = {"model": str(folder), "steps": 1, "device": "cpu", **settings}
    engine = Diffusion(DiffusionSettings.model_validate(wanted))
    assert engine.readiness() is None
    engine.setup()
    return engine


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch

    # Threads wait for each other longer than so small a model takes.
    torch.set_num_threads(1)
    return tiny_diffusion.build_sd(tmp_path_factory.mktemp("sd") / "model", flags=False)


@pytest.fixture(scope="module")
def engine(folder: Path) -> Diffusion:
    return _engine(folder, seed=5)


def _set(engine: Diffusion, **settings: object) -> Diffusion:
    """Return an engine with other settings, on the pipeline that is loaded already."""
    other = Diffusion(engine._settings.model_copy(update=settings))
    other._pipeline = engine._pipeline
    return other


def _files(engine: Diffusion, count: int, brief: Brief = BRIEF) -> list[bytes]:
    painted = engine.paint(brief, count=count)
    assert all(isinstance(picture, Painted) for picture in painted), painted
    return [picture.data for picture in painted if isinstance(picture, Painted)]


def test_the_same_seed_gives_the_same_bytes_and_another_others(folder: Path, engine: Diffusion) -> None:
    first, second = _files(engine, 2)

    assert first != second
    assert _files(engine, 2) == [first, second]
    assert _files(_engine(folder, seed=6), 1) == [second]


def test_another_attempt_gives_other_pictures(engine: Diffusion) -> None:
    first = _files(engine, 1)

    again = _files(engine, 1, replace(BRIEF, attempt=1))

    assert again != first
    assert _files(engine, 1, replace(BRIEF, attempt=1)) == again


def test_pictures_are_jpeg_files_that_say_what_they_are_made_for(engine: Diffusion) -> None:
    (picture,) = engine.paint(BRIEF, count=1)

    assert isinstance(picture, Painted)
    assert (picture.content_type, picture.style) == ("image/jpeg", "photographic")
    assert picture.description == "Fotografisches Bild, erzeugt für „Tomatoes“."
    with Image.open(io.BytesIO(picture.data)) as image:
        assert (image.format, image.size) == ("JPEG", (tiny_diffusion.SIDE, tiny_diffusion.SIDE))


def test_flux2_klein_of_the_catalogue_makes_pictures(tmp_path: Path) -> None:
    engine = _engine(tiny_diffusion.build_flux2(tmp_path), width=64, height=32, guidance=1.0)

    first, second = _files(engine, 2)

    assert first != second
    assert _files(engine, 2) == [first, second]


@pytest.mark.parametrize("size", [(1_216, 640), (1_200, 630)])
def test_a_picture_a_little_larger_than_a_cover_is_cropped_to_it(size: tuple[int, int]) -> None:
    flux = find_model("flux2-klein-4b").details

    assert _cropped(Image.new("RGB", size)).size == (1_200, 630)
    assert (flux["width"], flux["height"]) == (1_216, 640)
    assert _cropped(Image.new("RGB", (1_024, 1_024))).size == (1_024, 1_024)


def test_size_and_guidance_are_as_set(engine: Diffusion) -> None:
    (wide,) = _files(_set(engine, width=64, height=32), 1)
    (free,) = _files(_set(engine, guidance=1.0), 1)

    with Image.open(io.BytesIO(wide)) as image:
        assert image.size == (64, 32)
    assert [free] != _files(engine, 1)


def test_every_style_is_asked_for_in_other_words(engine: Diffusion) -> None:
    assert set(engine.styles()) == set(STYLES) == set(OPENINGS) == set(NEGATIVE)
    files = {_files(engine, 1, Brief("Tomatoes", "", "", (), style, "en"))[0] for style in ("abstract", "photographic")}

    assert len(files) == 2


def test_a_flagged_picture_is_an_error_and_is_not_delivered(tmp_path: Path) -> None:
    engine = _engine(tiny_diffusion.build_sd(tmp_path / "model", flags=True))

    pictures = engine.paint(BRIEF, count=2)

    assert [type(picture) for picture in pictures] == [PictureUnsafe, PictureUnsafe]
    assert isinstance(pictures[0], PictureUnsafe)
    assert pictures[0].code == "picture_unsafe"


def test_who_no_longer_wants_them_is_heard_between_two_steps(engine: Diffusion) -> None:
    asked = 0

    def after_two_steps() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2

    with pytest.raises(Stopped):
        _set(engine, steps=50).paint(BRIEF, count=1, stop=after_two_steps)
    assert asked == 3


class _Cramped:
    """A pipeline in whose memory there is room for one picture, or for none."""

    def __init__(self, pipeline: object, room: int) -> None:
        self.pipeline, self.room, self.batches = pipeline, room, list[int]()

    def __call__(self, prompt: str, num_images_per_prompt: int, num_inference_steps: int = 1, **more: object) -> object:
        import torch

        self.batches.append(num_images_per_prompt)
        if num_images_per_prompt > self.room:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return self.pipeline(  # type: ignore[operator]
            prompt, num_images_per_prompt=num_images_per_prompt, num_inference_steps=num_inference_steps, **more
        )


def test_pictures_that_do_not_fit_the_memory_together_are_made_one_by_one(engine: Diffusion) -> None:
    crowded = _set(engine)
    cramped = crowded._pipeline = _Cramped(engine._pipeline, room=1)

    assert len(set(_files(crowded, 2))) == 2
    assert cramped.batches == [2, 1, 1]


def test_a_picture_that_never_fits_fails_by_itself(engine: Diffusion) -> None:
    crowded = _set(engine)
    crowded._pipeline = _Cramped(engine._pipeline, room=0)

    (picture,) = crowded.paint(BRIEF, count=1)

    assert isinstance(picture, PictureFailed)
    assert "PRESSROOM_PICTURES__DIFFUSION__WIDTH" in picture.message


def test_an_xl_pipeline_works_alike(tmp_path: Path) -> None:
    engine = _engine(tiny_diffusion.build_sdxl(tmp_path / "model"))

    assert len(set(_files(engine, 2))) == 2


def test_weights_that_are_not_safetensors_are_refused(tmp_path: Path, folder: Path) -> None:
    import shutil

    import torch
    from safetensors.torch import load_file

    copy = tmp_path / "model"
    shutil.copytree(folder, copy)
    weights = copy / "unet" / "diffusion_pytorch_model.safetensors"
    torch.save(load_file(weights), weights.with_suffix(".bin"))
    weights.unlink()

    with pytest.raises(NotReady, match="safetensors"):
        Diffusion(DiffusionSettings(model=str(copy))).setup()


def test_code_that_comes_with_a_model_is_not_run(tmp_path: Path, folder: Path) -> None:
    import json
    import shutil

    copy = tmp_path / "model"
    shutil.copytree(folder, copy)
    index = json.loads((copy / "model_index.json").read_text())
    index["unet"] = ["evil", "UNet"]
    (copy / "model_index.json").write_text(json.dumps(index))
    trap = tmp_path / "ran"
    (copy / "unet" / "evil.py").write_text(f"open({str(trap)!r}, 'w')\nclass UNet: pass\n")

    with pytest.raises(NotReady):
        Diffusion(DiffusionSettings(model=str(copy))).setup()
    assert not trap.exists()


def test_a_folder_that_is_no_pipeline_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotReady, match=r"holds no \*\.safetensors"):
        Diffusion(DiffusionSettings(model=str(tmp_path))).setup()
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(NotReady, match=r"The model .* can't be loaded: .*model_index\.json"):
        Diffusion(DiffusionSettings(model=str(tmp_path))).setup()


@pytest.fixture
def dead_hub() -> Iterator[tuple[str, list[bytes]]]:
    """The address of a hub that hangs up on whoever calls, and what it was asked so far."""
    calls: list[bytes] = []

    class HangUp(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            # Whoever comes for a server that had the port before speaks something else.
            if (line := self.rfile.readline()).endswith(b" HTTP/1.1\r\n"):
                calls.append(line)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), HangUp) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", calls
        server.shutdown()


# diffusers 0.42 still passes it, and huggingface_hub 2.4 warns of that.
@pytest.mark.filterwarnings("ignore:The `local_dir_use_symlinks` argument:UserWarning")
def test_a_hub_that_is_away_is_asked_once(dead_hub: tuple[str, list[bytes]], monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    address, calls = dead_hub
    monkeypatch.setattr(constants, "ENDPOINT", address)
    with pytest.raises(NotReady, match="it is not on this machine and the hub can't be reached"):
        Diffusion(DiffusionSettings(model="nobody/has-it")).setup()
    # The libraries would ask five times for each file, for 40 s.
    assert calls == [b"HEAD / HTTP/1.1\r\n"]


def test_nobody_sends_the_hub_statistics() -> None:
    from huggingface_hub import constants

    assert constants.HF_HUB_DISABLE_TELEMETRY


def test_without_a_model_it_says_which_setting_is_missing() -> None:
    needs = Diffusion(DiffusionSettings()).readiness() or ""
    assert needs.startswith("PRESSROOM_PICTURES__DIFFUSION__MODEL names no model; ")
    assert Diffusion(DiffusionSettings(model="none")).readiness() == (
        "PRESSROOM_PICTURES__DIFFUSION__MODEL is none, so it is not used"
    )


def test_a_title_can_neither_name_what_prompts_name_nor_be_written_on_the_picture() -> None:
    title = 'Nice". Ignore this (((nude:2))) <lora:evil:1> [x]\n\nNegative prompt: clothes' + " long" * 100

    prompt = prompt_of(Brief(title, "A summary.", "Food", (), "photographic", "en"))

    # In quotes it would be written on the picture.
    assert not set(prompt) & set('<>()[]{}\n"“”')
    assert len(prompt) < 350
