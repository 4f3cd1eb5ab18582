"""Generating: what captioning by a torch model has in common: where it computes, batches, and what fails."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from PIL import Image

from pipeline.engine_settings import CaptioningSettings, ModelSettings
from pipeline.errors import NotReady, PressroomError
from pipeline.kinds.alt_text.fields import require_language
from pipeline.log import get_logger
from workers.engines import EngineUnavailable, models, never
from workers.engines.captioning import Caption, Captions, Mode, Wish
from workers.engines.captioning.basic.shaping import NothingSaid, shape
from workers.engines.captioning.saying import Said
from workers.engines.own_thread import OwnThread
from workers.media.images.picture import Picture

log = get_logger(__name__)

#: Pictures that go through a model together, unless told.
BATCH = 8


class ModelFailed(EngineUnavailable):
    """A model can't cope with a picture: a processor refuses its shape, say."""

    code = "engine_failed"


class Generator(ABC):
    """A captioning engine with a model; a subclass loads it, and says what it sees in one batch."""

    name: str
    #: BATCH on a GPU, where a token of many pictures takes little longer than one of one.
    gpu_batch: int

    def __init__(self, settings: CaptioningSettings, model: ModelSettings) -> None:
        self.batch = settings.batch or BATCH
        self._captioning = settings
        #: Whether pictures are made ready on the model's GPU, and not on the processor.
        self._takes_tensors = False
        self._settings = model
        self._thread = OwnThread(self.name)
        self._model: Any = None
        self._processor: Any = None

    def readiness(self) -> str | None:
        """Return what is missing before the model can be loaded; None: nothing."""
        return models.missing(
            self._settings, "torch", "transformers", extra="vision", family="captioning", engine=self.name
        )

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

    @abstractmethod
    def languages(self) -> Sequence[str]:
        """Return the languages it writes."""

    def offer(self) -> dict[str, Any]:
        """Return what the API should know of it."""
        return {"languages": list(self.languages()), "model": self._settings.model}

    def caption(
        self, wishes: Sequence[Wish], *, stop: Callable[[], bool] = never
    ) -> Sequence[Captions | PressroomError]:
        """Return the texts of each picture, or why it has none, in order. Raises Stopped, within a token."""
        return self._thread.run(lambda: self._caption(wishes, stop))

    def _caption(self, wishes: Sequence[Wish], stop: Callable[[], bool]) -> Sequence[Captions | PressroomError]:
        results: dict[int, Captions | PressroomError] = {}
        groups: dict[int, list[int]] = {}
        for index, wish in enumerate(wishes):
            try:
                require_language(wish.language, self.languages())
            except PressroomError as error:
                results[index] = error
            else:
                # Together, whichever texts they are: each picture is asked for its first, then for its second.
                groups.setdefault(len(wish.modes), []).append(index)
        for group in groups.values():
            seen = self._see([wishes[index] for index in group], stop)
            results.update(zip(group, seen, strict=True))
        return [results[index] for index in range(len(wishes))]

    def _see(self, wishes: Sequence[Wish], stop: Callable[[], bool]) -> list[Captions | PressroomError]:
        """Return the texts of pictures that want as many texts each."""
        results: list[Captions | PressroomError] = []

        def run(batch: Sequence[Wish]) -> Sequence[Captions | PressroomError]:
            return self._seen(batch, stop)

        for size, seen in models.in_batches(wishes, self.batch, run):
            # A batch that was too large once is so again.
            self.batch = min(self.batch, size)
            results += [seen] if isinstance(seen, PressroomError) else seen
        return results

    def _seen(self, wishes: Sequence[Wish], stop: Callable[[], bool]) -> Sequence[Captions | PressroomError]:
        """Return the texts of one batch; of one that the model chokes on, each picture is tried by itself."""
        import torch

        try:
            return [_shaped(said) for said in self._say(wishes, stop)]
        except torch.OutOfMemoryError:
            raise
        except (ValueError, RuntimeError, IndexError, TypeError, ArithmeticError) as error:
            if len(wishes) > 1:
                return [self._seen([wish], stop)[0] for wish in wishes]
            return [ModelFailed(f"The engine {self.name} can't describe this picture: {models.first_line(error)}")]

    def _warm_up(self) -> None:
        blank = Picture(Image.new("RGB", (64, 64)), "PNG", b"")
        try:
            with models.first_use(self._settings):
                self._say([Wish(blank, ("short",), self.languages()[0])], never)
        except NotReady as error:
            if not self._takes_tensors:
                raise
            log.warning("pictures prepared on the processor", engine=self.name, reason=error.message)
            self._takes_tensors = False
            self._warm_up()

    def _given(self, images: Iterable[Image.Image]) -> list[Any]:
        """Return pictures as the model's processor takes them: one of torchvision works where its tensors are."""
        import torch

        if not self._takes_tensors:
            return list(images)
        tensors = [torch.from_numpy(np.array(image)).to(self._model.device) for image in images]
        return [tensor.permute(2, 0, 1) for tensor in tensors]

    @abstractmethod
    def _load(self) -> None:
        """Load model and processor."""

    @abstractmethod
    def _say(self, wishes: Sequence[Wish], stop: Callable[[], bool]) -> Sequence[dict[Mode, Said]]:
        """Return what the model says of a batch of pictures that want as many texts each."""


def _shaped(said: dict[Mode, Said]) -> Captions | PressroomError:
    try:
        return {
            mode: Caption(shape(one.text, mode, is_ended=one.is_ended), round(one.confidence, 4))
            for mode, one in said.items()
        }
    except NothingSaid as error:
        return error
