"""Family: the engines of one family in a process, each set up once, whatever handlers use them."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.errors import NotReady
from pipeline.log import get_logger
from pipeline.offers import Offer
from pipeline.settings import Settings
from workers.engines.registry import load_engines

log = get_logger(__name__)


class Family:
    """Engines in the operator's order of preference; those that lack something say so in their offer."""

    def __init__(self, settings: Settings, name: str) -> None:
        self._settings = settings
        self.name = name
        self._lock = threading.Lock()
        self._is_set_up = False
        self._names: list[str] = []
        self._needs: dict[str, str] = {}
        self._ready: dict[str, Any] = {}

    @classmethod
    def shared(cls, settings: Settings, name: str) -> "Family":
        """Return the family of this process."""
        # It keeps its settings, so no others ever get their id.
        return _shared.setdefault((id(settings), name), cls(settings, name))

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

    def offers(self) -> Sequence[Offer]:
        """Return what each engine can do, and what those lack that can do nothing."""
        return [self._offer(place, name) for place, name in enumerate(self._names)]

    def _offer(self, place: int, name: str) -> Offer:
        if name in self._needs:
            return Offer(self.name, name, ready=False, needs=self._needs[name], place=place)
        return Offer(self.name, name, ready=True, content=_content(self._ready[name]), place=place)

    def _set_up_engines(self) -> None:
        for engine in load_engines(self._settings, self.name):
            self._names.append(engine.name)
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


def _content(engine: Any) -> Mapping[str, Any]:
    """Return what an engine tells the API of itself: its `offer()`, if it has one."""
    return engine.offer() if hasattr(engine, "offer") else {}


_shared: dict[tuple[int, str], Family] = {}
