"""vlm: captions in many languages by a vision-language chat model that transformers can load, for GPUs."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from PIL import Image

from capabilities.alt_text.engines import CaptionRequest, Captions, Mode
from capabilities.alt_text.engines.generation.decoding import Decoded, ImageFeatureCache, generate
from capabilities.alt_text.engines.generation.judging import Judge, ModelFailed, SecondLook
from capabilities.alt_text.engines.generation.prompts import languages_of, most_tokens, prompt_of
from capabilities.alt_text.settings import CaptioningSettings
from pipeline.errors import NotReady, PressroomError
from pipeline.log import get_logger
from pipeline.settings import Settings
from pipeline.settings.fields import ModelSettings
from workers.engines import models, never
from workers.engines.model_choice import missing, settled
from workers.engines.ocr import Reader
from workers.engines.thread_pool import OwnThread
from workers.media.images.picture import Picture

log = get_logger(__name__)

#: Pictures in one batch on a processor and on a GPU, where the settings name no size.
BATCH, GPU_BATCH = 8, 16


class Vlm:
    """A chat model with a vision tower."""

    name = "vlm"

    def __init__(self, settings: CaptioningSettings, model: ModelSettings) -> None:
        self.batch = settings.batch or BATCH
        self._captioning = settings
        self._settings = model
        #: True if pictures are scaled and cropped on the GPU, not on the processor.
        self._takes_tensors = False
        self._thread = OwnThread(self.name)
        self._judge = Judge(Reader(settings.threads))
        self._model: Any = None
        self._processor: Any = None

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        own = settings.of(CaptioningSettings)
        return cls(own, settled(settings, own.vlm, "captioning", cls.name))

    def readiness(self) -> str | None:
        """Return the model's missing needs; None: it can be loaded."""
        return missing(self._settings, "torch", "transformers", extra="vision", family="captioning", engine=self.name)

    def setup(self) -> None:
        """Load the model, once a process. Raises NotReady."""
        self._thread.run(self._set_up)

    @property
    def gpu(self) -> str | None:
        """Return the GPU whose lock its caller holds; None: it runs on the processor."""
        return models.gpu_of(self._settings)

    @property
    def model(self) -> str | None:
        return self._settings.model

    def languages(self) -> Sequence[str]:
        return languages_of(Path(self._settings.model or "").name)

    def offer(self) -> dict[str, Any]:
        return {"languages": list(self.languages()), "model": self._settings.model}

    def caption(
        self, requests: Sequence[CaptionRequest], *, stop: Callable[[], bool] = never
    ) -> Sequence[Captions | PressroomError]:
        """Return the texts of each picture, or why it has none, in order. Raises Stopped, within a token."""
        return self._thread.run(lambda: self._caption(requests, stop))

    def _caption(
        self, requests: Sequence[CaptionRequest], stop: Callable[[], bool]
    ) -> Sequence[Captions | PressroomError]:
        def run(batch: Sequence[CaptionRequest]) -> Sequence[Captions | PressroomError]:
            return self._batch_captions(batch, stop)

        results: dict[int, Captions | PressroomError] = {}
        groups: dict[int, list[int]] = {}
        for index, request in enumerate(requests):
            # A batch asks each picture for its first text, then for its second, so the modes may differ.
            groups.setdefault(len(request.modes), []).append(index)
        for group in groups.values():
            captions: list[Captions | PressroomError] = []
            for size, part in models.in_batches([requests[index] for index in group], self.batch, run):
                # A batch that was too large for the memory once is too large again.
                self.batch = min(self.batch, size)
                captions += [part] if isinstance(part, PressroomError) else part
            results.update(zip(group, captions, strict=True))
        return [results[index] for index in range(len(requests))]

    def _batch_captions(
        self, requests: Sequence[CaptionRequest], stop: Callable[[], bool]
    ) -> Sequence[Captions | PressroomError]:
        """Return the texts of one batch; where the model fails on it, each picture is tried alone."""
        import torch

        try:
            said = self._generate(requests, stop)
            return self._judge.judge(requests, said, lambda looks: self._look_again(looks, stop))
        except torch.OutOfMemoryError:
            raise
        except (ValueError, RuntimeError, IndexError, TypeError, ArithmeticError) as error:
            if len(requests) > 1:
                return [self._batch_captions([request], stop)[0] for request in requests]
            return [ModelFailed(f"The engine {self.name} can't describe this picture: {models.first_line(error)}")]

    def _set_up(self) -> None:
        import torch

        if self._captioning.threads is not None:
            torch.set_num_threads(self._captioning.threads)
        self._processor = self._load_processor()
        self._model = models.place(self._load_model(), self._settings)
        self._features = ImageFeatureCache(getattr(self._model, "model", None))
        if self.gpu is not None:
            self.batch = self._captioning.batch or GPU_BATCH
            images = getattr(self._processor, "image_processor", None)
            self._takes_tensors = getattr(images, "backend", None) == "torchvision"
            self._warm_up()

    def _load_processor(self) -> Any:
        """Return the processor, before the weights are loaded. Raises NotReady for one of another kind of model."""
        with models.named(str(self._settings.model)):
            from transformers import AutoProcessor
        processor = models.load(AutoProcessor.from_pretrained, self._settings)
        tokenizer = getattr(processor, "tokenizer", None)
        if tokenizer is None or not (processor.chat_template or tokenizer.chat_template):
            raise NotReady(
                f"{self._settings.model} has no chat template, so it can't be told what to write; take a chat "
                "(instruct) model."
            )
        # New tokens follow the last token of a row, so the padding stands before its first.
        tokenizer.padding_side = "left"
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        return processor

    def _load_model(self) -> Any:
        """Return the model, before it takes a GPU's memory. Raises NotReady for one of another kind."""
        with models.named(str(self._settings.model)):
            from transformers import AutoModelForImageTextToText
        weights = models.weights(self._settings)
        return models.load(AutoModelForImageTextToText.from_pretrained, self._settings, **weights)

    def _warm_up(self) -> None:
        blank = Picture(Image.new("RGB", (64, 64)), "PNG")
        try:
            with models.first_use(self._settings):
                self._generate([CaptionRequest(blank, ("short",), self.languages()[0])], never)
        except NotReady as error:
            if not self._takes_tensors:
                raise
            log.warning("pictures prepared on the processor", engine=self.name, reason=error.message)
            self._takes_tensors = False
            self._warm_up()

    def _look_again(self, looks: Sequence[SecondLook], stop: Callable[[], bool]) -> Sequence[Decoded]:
        """Return a text for each second look: what was wrong with the first, and what OCR read, stand in the prompt."""
        import torch

        prompts = [
            self._chat(
                prompt_of(look.mode, look.request.language, look.request.hints, faults=look.faults, read=look.read)
            )
            for look in looks
        ]
        with torch.inference_mode(), self._features:
            return self._one_each([look.mode for look in looks], [look.request for look in looks], prompts, stop)

    def _generate(self, requests: Sequence[CaptionRequest], stop: Callable[[], bool]) -> Sequence[dict[Mode, Decoded]]:
        """Return the model's texts; each picture passes the vision tower once, for all its modes."""
        import torch

        with torch.inference_mode(), self._features:
            modes = [[request.modes[place] for request in requests] for place in range(len(requests[0].modes))]
            rounds = [
                self._one_each(
                    row,
                    requests,
                    [self._prompt(mode, request) for mode, request in zip(row, requests, strict=True)],
                    stop,
                )
                for row in modes
            ]
        rows = zip(*rounds, strict=True)
        return [dict(zip(request.modes, texts, strict=True)) for request, texts in zip(requests, rows, strict=True)]

    def _one_each(
        self,
        modes: Sequence[Mode],
        requests: Sequence[CaptionRequest],
        prompts: Sequence[str],
        stop: Callable[[], bool],
    ) -> list[Decoded]:
        """Return one text of each picture, of the mode and by the prompt in the same place."""
        inputs = self._processor(
            text=list(prompts),
            images=[[image] for image in self._prepared(request.picture.image for request in requests)],
            padding=True,
            return_tensors="pt",
        ).to(self._model.device, self._model.dtype)
        return generate(
            self._model,
            stop,
            decode=self._decode,
            ends=self._ends(),
            **inputs,
            pad_token_id=self._processor.tokenizer.pad_token_id,
            most=[most_tokens(mode, request.language) for mode, request in zip(modes, requests, strict=True)],
        )

    def _prepared(self, images: Iterable[Image.Image]) -> list[Any]:
        """Return pictures as the model's processor takes them; torchvision's works on the device of its tensors."""
        import torch

        if not self._takes_tensors:
            return list(images)
        tensors = [torch.from_numpy(np.array(image)).to(self._model.device) for image in images]
        return [tensor.permute(2, 0, 1) for tensor in tensors]

    def _prompt(self, mode: Mode, request: CaptionRequest) -> str:
        return self._chat(prompt_of(mode, request.language, request.hints))

    def _chat(self, prompt: str) -> str:
        messages = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": prompt}]}]
        return str(self._processor.apply_chat_template(messages, add_generation_prompt=True))

    def _decode(self, tokens: Any) -> str:
        return str(self._processor.tokenizer.decode(tokens, skip_special_tokens=True))

    def _ends(self) -> set[int]:
        configured = self._model.generation_config.eos_token_id
        ends = set(configured) if isinstance(configured, list) else {configured}
        return {end for end in (*ends, self._processor.tokenizer.eos_token_id) if end is not None}
