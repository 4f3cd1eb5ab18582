"""Safety: a classifier that sees every generated picture first."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from PIL import Image

from capabilities.blog.settings import PicturesSettings
from pipeline.errors import NotReady
from pipeline.settings import Settings
from pipeline.settings.fields import ModelSettings
from workers.engines import models
from workers.engines.model_choice import OFF, missing, settled

#: Labels of unsafe pictures; a classifier needs one of them.
UNSAFE = frozenset({"nsfw", "porn", "sexy", "hentai", "explicit", "unsafe"})

LEAST_SHARE = 0.5


class SafetyClassifier:
    """Any image classifier for transformers with one of the labels UNSAFE."""

    def __init__(self, settings: ModelSettings) -> None:
        self._settings = settings
        self._model: Any = None
        self._processor: Any = None
        self._unsafe: list[int] = []

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the classifier with the operator's model, or the catalogue's if fetched."""
        return cls(settled(settings, settings.of(PicturesSettings).safety, "pictures", "safety"))

    @property
    def is_off(self) -> bool:
        return self._settings.model == OFF

    @property
    def is_set_up(self) -> bool:
        return self._model is not None

    def readiness(self) -> str | None:
        return missing(self._settings, "torch", "transformers", extra="blog", family="pictures", engine="safety")

    def setup(self) -> None:
        """Load it. Raises NotReady."""
        if needs := self.readiness():
            raise NotReady(needs)
        with models.named(str(self._settings.model)):
            from transformers import AutoImageProcessor, AutoModelForImageClassification

            model = models.load(
                AutoModelForImageClassification.from_pretrained, self._settings, **models.weights(self._settings)
            )
            self._processor = models.load(AutoImageProcessor.from_pretrained, self._settings, backend="pil")
        labels = {index: str(label).lower() for index, label in model.config.id2label.items()}
        self._unsafe = [index for index, label in labels.items() if label in UNSAFE]
        if not self._unsafe:
            known = ", ".join(sorted(labels.values()))
            raise NotReady(f"{self._settings.model} has no label of {', '.join(sorted(UNSAFE))}; it has {known}.")
        self._model = models.place(model, self._settings)

    def flags(self, images: Sequence[Image.Image]) -> list[bool]:
        import torch

        pixels = self._processor(images=[image.convert("RGB") for image in images], return_tensors="pt")["pixel_values"]
        with torch.inference_mode():
            logits = self._model(pixels.to(self._model.device, self._model.dtype)).logits
        shares = logits.float().softmax(-1)[:, self._unsafe].sum(-1)
        return [bool(share >= LEAST_SHARE) for share in shares]


def has_own_checker(model: str | None) -> bool:
    """Return whether the pipeline in a folder has a safety checker, as Stable Diffusion's have."""
    index = Path(model or "").expanduser() / "model_index.json"
    try:
        entry = json.loads(index.read_text("utf-8")).get("safety_checker")
    except (OSError, ValueError, AttributeError):
        return False
    return isinstance(entry, list) and bool(entry) and all(entry)
