"""Family: the engines of one family in a process. Each is set up once, however many handlers use it."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from pipeline.errors import NotReady
from pipeline.log import get_logger
from pipeline.offers import Offer
from pipeline.settings import Settings
from workers.engines.registry import load_engines

log = get_logger(__name__)

#: What an engine behind a network needs while it is unavailable.
AWAY = "it can't be reached at the moment"


class Family:
    """Engines in order of preference. The offer of an engine that can't be set up says what it needs."""

    def __init__(self, settings: Settings, name: str) -> None:
        self._settings = settings
        self.name = name
        self._lock = threading.Lock()
        self._is_set_up = False
        self._names: list[str] = []
        self._needs: dict[str, str] = {}
        self._ready: dict[str, Any] = {}
        self._watchers: list[Callable[[], None]] = []

    def setup(self) -> None:
        """Set up every engine that can be, once. Raises NotReady when none can."""
        with self._lock:
            if not self._is_set_up:
                self._set_up_engines()
                self._is_set_up = True
        if not self._ready:
            raise NotReady("; ".join(f"{name}: {needs}" for name, needs in self._needs.items()))

    @property
    def engines(self) -> Sequence[Any]:
        """Return the engines that are ready, the preferred one first."""
        return list(self._ready.values())

    def engine(self, name: str) -> Any:
        """Return the engine of that name, which is ready."""
        return self._ready[name]

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change`, from any thread, whenever the offer of an engine has changed."""
        self._watchers.append(on_change)

    def offers(self) -> Sequence[Offer]:
        """Return what each engine can do, or what it needs."""
        return [self._offer(name, place) for place, name in enumerate(self._names)]

    def _set_up_engines(self) -> None:
        engines = load_engines(self._settings, self.name)
        for engine in engines:
            try:
                needs = engine.readiness()
                if needs is not None:
                    raise NotReady(needs)
                engine.setup()
            except NotReady as error:
                log.info("engine not ready", family=self.name, engine=engine.name, needs=error.message)
                self._needs[engine.name] = error.message
                continue
            self._ready[engine.name] = engine
        self._names = [engine.name for engine in engines]
        # Not earlier: when an engine changes, the offers of all engines are read.
        for engine in self.engines:
            if hasattr(engine, "watch"):
                engine.watch(self._change)

    def _change(self) -> None:
        for on_change in list(self._watchers):
            on_change()

    def _offer(self, name: str, place: int) -> Offer:
        """Return an engine's offer, by its methods `offer` and `is_available`, which are optional."""
        if (engine := self._ready.get(name)) is None:
            return Offer(self.name, name, ready=False, needs=self._needs[name], place=place)
        content = engine.offer() if hasattr(engine, "offer") else {}
        is_available = not hasattr(engine, "is_available") or engine.is_available()
        return Offer(self.name, name, is_available, None if is_available else AWAY, content, place)
