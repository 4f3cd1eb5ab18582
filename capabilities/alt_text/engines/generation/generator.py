"""Generator: the base class of the engines with a torch model: loading, device, batches and errors."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from capabilities.alt_text.engines import Caption, CaptionRequest, Captions, Mode
from capabilities.alt_text.engines.generation.decoding import Decoded
from capabilities.alt_text.engines.generation.looking import Fault, confidence_of, faults_of, quotations
from capabilities.alt_text.engines.generation.prompts import is_decorative
from capabilities.alt_text.engines.text.cleaning import clean
from capabilities.alt_text.engines.text.shaping import NothingSaid, shape
from capabilities.alt_text.kinds.fields import require_language
from capabilities.alt_text.settings import CaptioningSettings
from pipeline.errors import NotReady, PressroomError
from pipeline.log import get_logger
from pipeline.settings.fields import ModelSettings
from workers.engines import EngineUnavailable, models, never
from workers.engines.model_choice import missing
from workers.engines.ocr import Reader
from workers.engines.own_thread import OwnThread
from workers.media.images.picture import Picture

log = get_logger(__name__)

#: Pictures in one batch on a processor, where the settings name no size.
BATCH = 8


@dataclass(frozen=True, slots=True)
class SecondLook:
    """A text to be written again: what was wrong with it, and the lines that OCR read; None: it did not look."""

    wish: CaptionRequest
    mode: Mode
    faults: Sequence[Fault]
    read: Sequence[str] | None


class ModelFailed(EngineUnavailable):
    """The model can't describe a picture, for instance because its processor refuses the shape."""

    code = "engine_failed"


class Generator(ABC):
    """A captioning engine with a model; a subclass checks that the model is of its kind, and describes one batch."""

    name: str
    #: The same on a GPU, where a token for many pictures takes little longer than a token for one.
    gpu_batch: int
    #: Whether it can be told what was wrong with a text; one that takes no words can't.
    looks_again: bool = False

    def __init__(self, settings: CaptioningSettings, model: ModelSettings) -> None:
        self.batch = settings.batch or BATCH
        self._captioning = settings
        #: Whether pictures are scaled and cropped on the GPU, not on the processor.
        self._takes_tensors = False
        self._settings = model
        self._thread = OwnThread(self.name)
        self._reader = Reader(settings.threads)
        self._model: Any = None
        self._processor: Any = None

    def readiness(self) -> str | None:
        """Return what is missing before the model can be loaded; None: nothing."""
        return missing(self._settings, "torch", "transformers", extra="vision", family="captioning", engine=self.name)

    def setup(self) -> None:
        """Load the model, once a process. Raises NotReady."""
        self._thread.run(self._set_up)

    def _set_up(self) -> None:
        import torch

        if self._captioning.threads is not None:
            torch.set_num_threads(self._captioning.threads)
        self._load()
        if self.gpu is not None:
            self.batch = self._captioning.batch or self.gpu_batch
            self._takes_tensors = (
                getattr(getattr(self._processor, "image_processor", None), "backend", None) == "torchvision"
            )
            self._warm_up()

    @property
    def gpu(self) -> str | None:
        """Return the GPU whose lock its caller holds; None: it runs on the processor."""
        return models.gpu_of(self._settings)

    @property
    def model(self) -> str | None:
        """Return the folder of its model, or the model's name at the hub."""
        return self._settings.model

    @abstractmethod
    def languages(self) -> Sequence[str]:
        """Return the languages it writes."""

    def offer(self) -> dict[str, Any]:
        """Return what the API should know of it."""
        return {"languages": list(self.languages()), "model": self._settings.model}

    def caption(
        self, wishes: Sequence[CaptionRequest], *, stop: Callable[[], bool] = never
    ) -> Sequence[Captions | PressroomError]:
        """Return the texts of each picture, or why it has none, in order. Raises Stopped, within a token."""
        return self._thread.run(lambda: self._caption(wishes, stop))

    def _caption(
        self, wishes: Sequence[CaptionRequest], stop: Callable[[], bool]
    ) -> Sequence[Captions | PressroomError]:
        def run(batch: Sequence[CaptionRequest]) -> Sequence[Captions | PressroomError]:
            return self._batch_captions(batch, stop)

        results: dict[int, Captions | PressroomError] = {}
        groups: dict[int, list[int]] = {}
        for index, wish in enumerate(wishes):
            try:
                require_language(wish.language, self.languages())
            except PressroomError as error:
                results[index] = error
            else:
                # A batch asks each picture for its first text, then for its second, so the modes may differ.
                groups.setdefault(len(wish.modes), []).append(index)
        for group in groups.values():
            captions: list[Captions | PressroomError] = []
            batches = models.in_batches([wishes[index] for index in group], self.batch, run)
            for size, part in batches:
                # A batch that was too large for the memory once is too large again.
                self.batch = min(self.batch, size)
                captions += [part] if isinstance(part, PressroomError) else part
            results.update(zip(group, captions, strict=True))
        return [results[index] for index in range(len(wishes))]

    def _batch_captions(
        self, wishes: Sequence[CaptionRequest], stop: Callable[[], bool]
    ) -> Sequence[Captions | PressroomError]:
        """Return the texts of one batch; where the model fails on it, each picture is tried alone."""
        import torch

        try:
            return self._judged(wishes, self._generate(wishes, stop), stop)
        except torch.OutOfMemoryError:
            raise
        except (ValueError, RuntimeError, IndexError, TypeError, ArithmeticError) as error:
            if len(wishes) > 1:
                return [self._batch_captions([wish], stop)[0] for wish in wishes]
            return [ModelFailed(f"The engine {self.name} can't describe this picture: {models.first_line(error)}")]

    def _judged(
        self, wishes: Sequence[CaptionRequest], said: Sequence[dict[Mode, Decoded]], stop: Callable[[], bool]
    ) -> list[Captions | PressroomError]:
        """Return the texts with their confidence; faulty ones are written once more, and the better one is taken."""
        judged = [self._judge(wish, texts) for wish, texts in zip(wishes, said, strict=True)]
        faulty = [(row, mode) for row, texts in enumerate(judged) for mode, (_, look) in texts.items() if look.faults]
        if self.looks_again and faulty:
            again = self._look_again([judged[row][mode][1] for row, mode in faulty], stop)
            for (row, mode), second in zip(faulty, again, strict=True):
                first, look = judged[row][mode]
                after = self._faults(look.wish, mode, second, look.read)
                if _rank(second, after) <= _rank(first, look):
                    judged[row][mode] = second, after
        return [_shaped(texts) for texts in judged]

    def _judge(self, wish: CaptionRequest, texts: dict[Mode, Decoded]) -> dict[Mode, tuple[Decoded, SecondLook]]:
        return {mode: (said, self._faults(wish, mode, said, None)) for mode, said in texts.items()}

    def _faults(self, wish: CaptionRequest, mode: Mode, said: Decoded, read: Sequence[str] | None) -> SecondLook:
        """Return what is wrong with a text; a picture is only read where its text quotes something."""
        if wish.hints.allow_decorative and is_decorative(said.text):
            return SecondLook(wish, mode, (), read)
        if read is None and quotations(clean(said.text)):
            # A reader that fails, or is not there, is no reason to lose the text.
            with suppress(PressroomError):
                read = [line.text for line in self._reader.read(wish.picture.image)]
        return SecondLook(wish, mode, faults_of(said, mode, read), read)

    def _look_again(self, looks: Sequence[SecondLook], stop: Callable[[], bool]) -> Sequence[Decoded]:
        """Return a text for each second look."""
        raise NotImplementedError

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

    def _prepared(self, images: Iterable[Image.Image]) -> list[Any]:
        """Return pictures as the model's processor takes them; torchvision's works on the device of its tensors."""
        import torch

        if not self._takes_tensors:
            return list(images)
        tensors = [torch.from_numpy(np.array(image)).to(self._model.device) for image in images]
        return [tensor.permute(2, 0, 1) for tensor in tensors]

    def _load(self) -> None:
        self._processor = self._load_processor()
        self._model = models.place(self._load_model(), self._settings)

    def _load_processor(self) -> Any:
        """Return the processor, before the weights are loaded. Raises NotReady for one of another kind of model."""
        with models.named(str(self._settings.model)):
            from transformers import AutoProcessor
        return models.load(AutoProcessor.from_pretrained, self._settings)

    def _load_model(self) -> Any:
        """Return the model, before it takes a GPU's memory. Raises NotReady for one of another kind."""
        with models.named(str(self._settings.model)):
            from transformers import AutoModelForImageTextToText
        return models.load(
            AutoModelForImageTextToText.from_pretrained, self._settings, **models.weights(self._settings)
        )

    def _decode(self, tokens: Any) -> str:
        return str(self._processor.tokenizer.decode(tokens, skip_special_tokens=True))

    @abstractmethod
    def _generate(self, wishes: Sequence[CaptionRequest], stop: Callable[[], bool]) -> Sequence[dict[Mode, Decoded]]:
        """Return the model's texts for a batch of pictures that want the same number of texts."""


def _rank(said: Decoded, look: SecondLook) -> tuple[bool, int, float]:
    return "empty" in look.faults, len(look.faults), -said.confidence


def _shaped(texts: dict[Mode, tuple[Decoded, SecondLook]]) -> Captions | PressroomError:
    try:
        return {mode: _caption(mode, said, look) for mode, (said, look) in texts.items()}
    except NothingSaid as error:
        return error


def _caption(mode: Mode, said: Decoded, look: SecondLook) -> Caption:
    """Return a text as its mode promises, with its confidence. Raises NothingSaid."""
    confidence = round(confidence_of(said, look.faults, look.read), 4)
    if look.wish.hints.allow_decorative and is_decorative(said.text):
        return Caption("", confidence, decorative=True)
    return Caption(shape(said.text, mode, is_ended=said.is_ended), confidence)
