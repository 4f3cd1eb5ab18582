"""Whisper: OpenAI's speech recognition, by the best model that is here."""

import importlib.util
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Self

from capabilities.transcription.engines import Recognition, Transcriber
from capabilities.transcription.engines.whisper.listener import Listener
from capabilities.transcription.engines.whisper.weights import ENGINE, find_weights, missing
from capabilities.transcription.settings import TranscriptionSettings
from pipeline.errors import NotReady
from pipeline.log import get_logger
from pipeline.settings import Settings
from workers.engines import never
from workers.media.audio.track import Samples
from workers.models.machine import Machine, this_machine
from workers.models.store import ModelStore

log = get_logger(__name__)


class Whisper(Transcriber):
    """One model a process. A better one that arrives takes over; what was begun ends with the model it began with."""

    name = ENGINE

    def __init__(self, settings: Settings, *, store: ModelStore | None = None, machine: Machine | None = None) -> None:
        self._settings = settings
        self._store = store or ModelStore(settings)
        self._machine = machine or this_machine()
        if (settings.of(TranscriptionSettings).whisper.device or "").startswith("cpu"):
            self._machine = replace(self._machine, gpu_bytes=0)

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the engine with the model of the settings, or the best of the catalogue that is here."""
        return cls(settings)

    def readiness(self) -> str | None:
        """Return what is missing before a model can be loaded."""
        if importlib.util.find_spec("faster_whisper") is None:
            return "faster-whisper is not installed; pip install faster-whisper"
        return missing(self._settings, self._store)

    def setup(self) -> None:
        """Load a model and use it once. Raises NotReady."""
        self._listener = self._load(None)

    def refresh(self) -> bool:
        """Look for a better model that has arrived, or one in place of a model that has left; return whether it came.

        The model so far is in memory as long as a recording is heard by it. Raises NotReady."""
        before = self._listener
        self._listener = self._load(before)
        return self._listener is not before

    @property
    def model(self) -> str:  # type: ignore[override]  # which changes
        """The model's name."""
        return self._listener.model

    @property
    def translates(self) -> bool:  # type: ignore[override]  # which changes with the model
        """Whether the model can translate."""
        return self._listener.translates

    def languages(self) -> Sequence[str]:
        """Return the languages of the model: about a hundred, or English alone."""
        return self._listener.languages()

    def as_it_is(self) -> Transcriber:
        """Return the listener with the model that is the best now."""
        return self._listener

    def listen(
        self,
        samples: Samples,
        *,
        language: str | None,
        timed: bool,
        prompt: str | None = None,
        translate: bool = False,
        stop: Callable[[], bool] = never,
    ) -> AbstractContextManager[Recognition]:
        """Listen to a sound by the model that is the best now."""
        return self._listener.listen(
            samples, language=language, timed=timed, prompt=prompt, translate=translate, stop=stop
        )

    def _load(self, loaded: Listener | None) -> Listener:
        """Return the best model that can be loaded; the one that is loaded, if there is no better. Raises NotReady."""
        fault: NotReady | None = None
        for weights in find_weights(self._settings, self._store, self._machine):
            if loaded is not None and weights.name == loaded.model:
                return loaded
            listener = Listener(weights, self._settings.of(TranscriptionSettings).whisper)
            try:
                listener.load()
            except NotReady as error:
                log.warning("model not used", engine=self.name, model=weights.name, needs=error.message)
                fault = error
            else:
                return listener
        raise fault or NotReady(self.readiness() or "no model is here")
