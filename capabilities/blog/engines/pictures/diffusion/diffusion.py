"""diffusion: pictures from any text-to-image pipeline for diffusers."""

import gc
import inspect
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from PIL import Image

from capabilities.blog.engines.pictures import STYLES, Brief, Painted
from capabilities.blog.engines.pictures.diffusion.safety import SafetyClassifier, has_own_checker
from capabilities.blog.engines.pictures.encoding import CONTENT_TYPE, encoded
from capabilities.blog.engines.pictures.wording import generated
from capabilities.blog.settings import DiffusionSettings, PicturesSettings
from pipeline.errors import NotReady, PressroomError
from pipeline.log import get_logger
from pipeline.settings import Settings
from pipeline.settings.fields import ModelSettings
from workers.engines import Stopped, models, never
from workers.engines.model_choice import OFF, missing, settled
from workers.engines.thread_pool import OwnThread

log = get_logger(__name__)

MAX_BYTES = 600_000

#: The size of a cover for social networks, and the step in which models make sizes.
COVER, STEP = (1_200, 630), 16

_PROMPTS: Mapping[str, Mapping[str, str]] = tomllib.loads(Path(__file__).with_name("prompts.toml").read_text("utf-8"))
OPENINGS, NEGATIVE = _PROMPTS["openings"], _PROMPTS["negative"]

#: Most characters of title and summary in a prompt, as most models read 77 tokens.
TITLE, SUMMARY = 120, 100

#: Distance between the seeds of two attempts.
SEEDS_APART = 100


class PictureUnsafe(PressroomError):
    """A safety check rejected a picture."""

    code = "picture_unsafe"


class PictureFailed(PressroomError):
    """The pipeline could not make a picture."""

    code = "picture_failed"


class Diffusion:
    """A diffusion pipeline for every style; a process serves one request at a time."""

    name = "diffusion"

    def __init__(self, settings: DiffusionSettings, safety: SafetyClassifier | None = None) -> None:
        self._settings = settings
        self._safety = safety or SafetyClassifier(ModelSettings(model=OFF))
        self._pipeline: Any = None
        self._thread = OwnThread(self.name)

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        own = settled(settings, settings.of(PicturesSettings).diffusion, "pictures", cls.name)
        return cls(own, SafetyClassifier.from_settings(settings))

    def readiness(self) -> str | None:
        needed = ("torch", "transformers", "accelerate", "diffusers")
        lacks = missing(self._settings, *needed, extra="blog", family="pictures", engine=self.name)
        return lacks or (self._unchecked() if self._needs_classifier() else None)

    def setup(self) -> None:
        """Load the pipeline from safetensors alone, without its code. Raises NotReady."""
        self._pipeline = self._thread.run(lambda: _loaded(self._settings))
        if not self._safety.is_off and self._safety.readiness() is None:
            self._thread.run(self._safety.setup)

    def _needs_classifier(self) -> bool:
        return not self._safety.is_off and not has_own_checker(self._settings.model)

    def _unchecked(self) -> str | None:
        needs = self._safety.readiness()
        return needs and f"no picture is delivered that no safety check has seen: {needs}"

    @property
    def gpu(self) -> str | None:
        return models.gpu_of(self._settings)

    def styles(self) -> Sequence[str]:
        return STYLES

    def paint(
        self, brief: Brief, *, count: int, stop: Callable[[], bool] = never
    ) -> Sequence[Painted | PressroomError]:
        """Return pictures of `count` seeds from the configured one on. Raises Stopped between steps."""
        first = self._settings.seed + brief.attempt * SEEDS_APART
        seeds = [first + index for index in range(count)]
        return self._thread.run(lambda: self._paint(brief, seeds, stop))

    def _paint(
        self, brief: Brief, seeds: Sequence[int], stop: Callable[[], bool]
    ) -> Sequence[Painted | PressroomError]:
        import torch

        try:
            return self._generate(brief, seeds, stop)
        except torch.OutOfMemoryError:
            log.warning("pictures made one at a time", count=len(seeds), reason="out of memory")
        results: list[Painted | PressroomError] = []
        for seed in seeds:
            gc.collect()
            torch.cuda.empty_cache()
            results.append(self._alone(brief, seed, stop))
        return results

    def _alone(self, brief: Brief, seed: int, stop: Callable[[], bool]) -> Painted | PressroomError:
        import torch

        try:
            return self._generate(brief, [seed], stop)[0]
        except torch.OutOfMemoryError as error:
            return PictureFailed(
                f"The device has too little memory for a picture: {error}. "
                "Set a smaller PRESSROOM_PICTURES__DIFFUSION__WIDTH and __HEIGHT, or run another model."
            )

    def _generate(self, brief: Brief, seeds: Sequence[int], stop: Callable[[], bool]) -> list[Painted | PressroomError]:
        import torch

        def look(pipeline: Any, step: int, timestep: Any, kept: dict[str, Any]) -> dict[str, Any]:
            if stop():
                raise Stopped
            return kept

        if stop():
            raise Stopped
        # Seeded on the processor: a seed gives the same picture on every device.
        generators = [torch.Generator("cpu").manual_seed(seed) for seed in seeds]
        try:
            answer = self._pipeline(
                **self._arguments(brief),
                num_images_per_prompt=len(seeds),
                generator=generators,
                callback_on_step_end=look,
            )
        except (RuntimeError, ValueError) as error:
            if isinstance(error, torch.OutOfMemoryError):
                raise
            return [PictureFailed(f"The diffusion model could not make a picture: {error}") for _ in seeds]
        flags = self._flags(answer)
        return [_painted(image, brief, flagged) for image, flagged in zip(answer.images, flags, strict=True)]

    def _flags(self, answer: Any) -> list[bool]:
        own = getattr(answer, "nsfw_content_detected", None) or [False] * len(answer.images)
        if not self._safety.is_set_up:
            return list(own)
        return [one or other for one, other in zip(own, self._safety.flags(answer.images), strict=True)]

    def _arguments(self, brief: Brief) -> dict[str, Any]:
        settings, known = self._settings, inspect.signature(self._pipeline.__call__).parameters
        wanted = {
            "prompt": prompt_of(brief),
            "negative_prompt": NEGATIVE[brief.style],
            "num_inference_steps": settings.steps,
            "guidance_scale": settings.guidance,
            "width": settings.width,
            "height": settings.height,
        }
        return {name: value for name, value in wanted.items() if value is not None and name in known}


def _painted(image: Image.Image, brief: Brief, flagged: bool) -> Painted | PressroomError:
    if flagged:
        return PictureUnsafe("The safety check held a picture back; change the title, or try another style.")
    return photograph(_cropped(image.convert("RGB")), brief)


def photograph(image: Image.Image, brief: Brief) -> Painted:
    """Return an RGB picture that a model made, with a description that only repeats the request."""
    description = generated(brief.language, brief.style, brief.title)
    return Painted(encoded(image, MAX_BYTES), CONTENT_TYPE, brief.style, description, is_seen=False)


def _cropped(image: Image.Image) -> Image.Image:
    """Return a picture that is a few pixels larger than a cover as one; models make sides of 16 pixels times n."""
    beside, below = image.width - COVER[0], image.height - COVER[1]
    if not (0 <= beside <= STEP and 0 <= below <= STEP):
        return image
    left, top = beside // 2, below // 2
    return image.crop((left, top, left + COVER[0], top + COVER[1]))


def _loaded(settings: DiffusionSettings) -> Any:
    """Return the pipeline on its device. Raises NotReady."""
    with models.named(str(settings.model)):
        import diffusers

        diffusers.utils.logging.disable_progress_bar()
        auto: Any = diffusers.AutoPipelineForText2Image
        pipeline = models.load(auto.from_pretrained, settings, **models.weights(settings))
    device = models.pick_device(settings)
    try:
        pipeline.to(device)
    except (RuntimeError, AssertionError) as error:  # torch without CUDA raises the latter
        raise NotReady(f"{settings.model} can't be put on the device {device}: {models.first_line(error)}") from error
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def prompt_of(brief: Brief) -> str:
    """Return the prompt for a post's pictures: one line, without quotes, which newer models write on the picture."""
    prompt = f"{OPENINGS[brief.style]} {_plain(brief.title, TITLE)}"
    if brief.category:
        prompt += f", {_plain(brief.category, 40)}"
    if brief.summary:
        prompt += f". {_plain(brief.summary, SUMMARY)}"
    return prompt


def _plain(text: str, length: int) -> str:
    """Return a text without the signs that weigh words, name adapters or end quotes in prompts."""
    words = re.sub(r"[\x00-\x1f\x7f()\[\]{}<>|\\\"“”„«»:*_^~`#]+", " ", text)
    words = " ".join(words.split())
    return words if len(words) <= length else words[:length].rsplit(" ", 1)[0]
