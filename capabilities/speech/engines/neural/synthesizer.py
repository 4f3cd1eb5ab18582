"""Neural synthesizer: the base of the engines whose voices are networks of the catalogue."""

import importlib.util
import os
import threading
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from babel import Locale

from capabilities.speech.engines import Synthesizer
from capabilities.speech.engines.espeak.sonic import load_sonic
from capabilities.speech.engines.neural.speaking import NeuralVoice, speak
from capabilities.speech.engines.neural.voiced import LOUDNESS
from capabilities.speech.engines.utterance import Utterance
from capabilities.speech.voices.voices import Voice
from pipeline.errors import NotReady
from pipeline.log import get_logger
from pipeline.settings import Settings
from workers.engines import EngineUnavailable
from workers.engines.circuit_breaker import ignore
from workers.engines.locks import FairLock
from workers.models.catalogue import CatalogueModel
from workers.models.store import ModelStore

log = get_logger(__name__)

#: The most recently used voices that stay loaded; each takes up to 150 MB.
MOST_LOADED = 4
FAMILY = "synthesis"
#: The rate of most networks.
SAMPLE_RATE = 24_000


@dataclass(frozen=True, slots=True)
class CatalogueVoice:
    """A voice, its model, and its entry in the catalogue (`details.voices`)."""

    voice: Voice
    model: CatalogueModel
    details: Mapping[str, Any]


def catalogue_voice(
    model: CatalogueModel, details: Mapping[str, Any], *, sample_rate: int, languages: Sequence[str], is_slow: bool
) -> CatalogueVoice:
    """Return a voice as the catalogue describes it."""
    name = details["name"]
    language = Locale.parse(languages[0], sep="-").get_display_name("en")
    gender = "" if details["gender"] == "NEUTRAL" else f"{details['gender'].lower()}, "
    voice = Voice(
        id=details["id"],
        name=name,
        language_codes=tuple(languages),
        ssml_gender=details["gender"],
        natural_sample_rate_hertz=sample_rate,
        display_name=f"{name}, {language}, {gender}natural",
        engine=model.engine,
        is_slow=is_slow,
    )
    return CatalogueVoice(voice, model, details)


class NeuralSynthesizer(Synthesizer):
    """Speaks with the installed voices of the catalogue; each is loaded on first use."""

    #: Packages that it needs, by their import names.
    packages: Sequence[str] = ("onnxruntime",)
    #: True if a voice is loaded only on its first use.
    is_lazy = False
    #: True if it speaks no faster than people.
    is_slow = False
    loudness = LOUDNESS

    def __init__(self, store: ModelStore) -> None:
        self._store = store
        self.parallel = min(2, os.cpu_count() or 1)
        self._turns = FairLock(self.parallel)
        self._guard = threading.Lock()
        self._offered: Mapping[str, CatalogueVoice] = {}
        self._loaded: OrderedDict[str, NeuralVoice] = OrderedDict()
        self._damage: dict[str, str] = {}
        self._on_change: Callable[[], None] = ignore

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        made = cls(ModelStore(settings))
        made.is_lazy = settings.small
        return made

    def readiness(self) -> str | None:
        if lacking := [package for package in self.packages if importlib.util.find_spec(package) is None]:
            return f"the package {', '.join(lacking)} is missing"
        if not self._store.here(FAMILY, self.name):
            missing = next(iter(self._store.missing(FAMILY, self.name)), None)
            return "no voice is on this machine" + (f"; pressroom models fetch {missing.name}" if missing else "")
        return None

    def setup(self) -> None:
        """Verify the models that are here. Raises NotReady if none can be used."""
        if (needs := self.readiness()) is not None:
            raise NotReady(needs)
        load_sonic()
        self.refresh()
        if not self._offered:
            raise NotReady("; ".join(self._damage.values()) or "its models have no voice that can speak here")

    def warm_up(self) -> None:
        """Load the preferred voice before anyone waits for it. Raises NotReady."""
        if self.is_lazy:
            return
        self._voice(next(iter(self._offered)))

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change`, from any thread, whenever an offered voice turns out to be damaged."""
        self._on_change = on_change

    def refresh(self) -> bool:
        """Look for models that have come or gone; return whether the voices have changed."""
        damage: dict[str, str] = {}
        offered: dict[str, CatalogueVoice] = {}
        for model in self._store.here(FAMILY, self.name):
            try:
                folder = self._store.folder(model)
                if folder is not None:
                    for found in self.list_voices(model, folder):
                        offered.setdefault(found.voice.id, found)
            except NotReady as error:
                damage[model.name] = error.message
                log.warning("model left out", model=model.name, needs=error.message)
        with self._guard:
            has_changed = list(offered.values()) != list(self._offered.values())
            for voice in self._loaded.keys() - offered.keys():
                del self._loaded[voice]
            self._offered, self._damage = offered, damage
        return has_changed

    def list_voices(self, model: CatalogueModel, folder: Path) -> Sequence[CatalogueVoice]:
        """Return the voices of a model, whose files in the folder are verified. Raises NotReady."""
        rate = self.sample_rate_of(folder)
        return [
            catalogue_voice(
                model, details, sample_rate=rate, languages=self.languages_of(model, details), is_slow=self.is_slow
            )
            for details in model.details["voices"]
        ]

    def sample_rate_of(self, folder: Path) -> int:
        """Return the rate of a model's sound. Raises NotReady."""
        return SAMPLE_RATE

    def languages_of(self, model: CatalogueModel, details: Mapping[str, Any]) -> Sequence[str]:
        """Return the languages of one of a model's voices, the best first."""
        return model.languages

    @abstractmethod
    def load_voice(self, found: CatalogueVoice, folder: Path) -> NeuralVoice:
        """Load a voice, whose files in the folder are verified. Raises NotReady."""

    def voices(self) -> list[Voice]:
        return [found.voice for found in self._offered.values()]

    def model_of(self, voice: str) -> str | None:
        found = self._offered.get(voice)
        return found.model.name if found else None

    def has_voice(self, voice: str) -> bool:
        return voice in self._offered

    def render(self, text: str, *, voice: str, speed: float, pitch: float, stop: Callable[[], bool]) -> Utterance:
        """Return the text as sound. `stop` is called before each sentence.

        Raises EngineUnavailable, NothingToSpeak, Stopped."""
        try:
            loaded = self._voice(voice)
        except NotReady as error:
            raise EngineUnavailable(f"The voice {voice} can't be loaded; the service's log says why.") from error
        return speak(loaded, text, speed=speed, pitch=pitch, turns=self._turns, stop=stop)

    def _voice(self, voice: str) -> NeuralVoice:
        """Return a loaded voice. The others wait while one is loaded, which takes about a second. Raises NotReady."""
        try:
            with self._guard:
                if voice not in self._loaded:
                    self._loaded[voice] = self._load(voice)
                    if len(self._loaded) > MOST_LOADED:
                        self._loaded.popitem(last=False)
                self._loaded.move_to_end(voice)
                return self._loaded[voice]
        except NotReady:
            # Outside the lock: a watcher asks for the voices.
            self._on_change()
            raise

    def _load(self, voice: str) -> NeuralVoice:
        """Load a voice. After a failure it is not offered until the next refresh. Raises NotReady."""
        try:
            if (found := self._offered.get(voice)) is None:
                raise NotReady("its model is no longer on this machine")
            folder = self._store.folder(found.model)
            if folder is None:
                raise NotReady(f"{found.model.name} is no longer on this machine.")
            return self.load_voice(found, folder)
        except NotReady as error:
            self._damage[voice] = error.message
            self._offered = {name: known for name, known in self._offered.items() if name != voice}
            log.warning("voice left out", voice=voice, needs=error.message)
            raise
