"""Whisper: OpenAI's speech recognition, by the best model that is here."""

import importlib.util
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Self

from capabilities.transcription.engines import Recognition, Transcriber
from capabilities.transcription.engines.whisper.listener import Listener
from capabilities.transcription.engines.whisper.weights import ENGINE, Weights, find_weights, missing
from capabilities.transcription.settings import TranscriptionSettings
from pipeline.errors import NotReady
from pipeline.log import get_logger
from pipeline.settings import Settings
from workers.media.audio.track import Samples
from workers.models.machine import Machine, this_machine
from workers.models.store import ModelStore

log = get_logger(__name__)


class Whisper(Transcriber):
    """One model per process. A better one takes over when it arrives.

    A recording ends with the model it began with."""

    name = ENGINE

    def __init__(self, settings: Settings, *, store: ModelStore | None = None, machine: Machine | None = None) -> None:
        self._settings = settings
        self._store = store or ModelStore(settings)
        self._machine = machine or this_machine()
        if (settings.of(TranscriptionSettings).whisper.device or "").startswith("cpu"):
            self._machine = replace(self._machine, gpu_bytes=0)

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(settings)

    def readiness(self) -> str | None:
        if importlib.util.find_spec("faster_whisper") is None:
            return "faster-whisper is not installed; pip install faster-whisper"
        return missing(self._settings, self._store)

    def setup(self) -> None:
        """Load a model and use it once. Raises NotReady."""
        self._listener = self._load(None)

    def refresh(self) -> bool:
        """Look for a better model, or for another one if this has gone; return whether the model changed.

        The previous one stays in memory while a recording uses it. Raises NotReady."""
        before = self._listener
        self._listener = self._load(before)
        return self._listener is not before

    @property
    def model(self) -> str:  # type: ignore[override]  # it changes
        return self._listener.model

    @property
    def translates(self) -> bool:  # type: ignore[override]  # it depends on the model
        return self._listener.translates

    def languages(self) -> Sequence[str]:
        """Return the languages of the model, about a hundred or English alone."""
        return self._listener.languages()

    def as_it_is(self) -> Transcriber:
        return self._listener

    def listen(self, samples: Samples, **how: Any) -> AbstractContextManager[Recognition]:
        return self._listener.listen(samples, **how)

    def _load(self, loaded: Listener | None) -> Listener:
        """Return the best model that can be loaded, which may be the one that is. Raises NotReady."""
        fault: NotReady | None = None
        for weights in find_weights(self._settings, self._store, self._machine):
            if loaded is not None and weights.name == loaded.model:
                return loaded
            try:
                return self._loaded(weights)
            except NotReady as error:
                log.warning("model not used", engine=self.name, model=weights.name, needs=error.message)
                fault = error
        raise fault or NotReady(self.readiness() or "no model is here")

    def _loaded(self, weights: Weights) -> Listener:
        """Return a loaded model. Raises NotReady."""
        listener = Listener(weights, self._settings.of(TranscriptionSettings).whisper)
        listener.load()
        return listener
