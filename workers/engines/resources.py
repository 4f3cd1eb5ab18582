"""Resources: the objects that the handlers of a process share, each made when it is first asked for."""

import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from pipeline.settings import Settings
from workers.engines.family import Family
from workers.engines.locks import FairLock

Made = TypeVar("Made")


class Resources:
    """Made once by the entry point, and given to every handler. Safe for many threads."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._made: dict[Hashable, Any] = {}
        # Reentrant: what is made may want another resource.
        self._guard = threading.RLock()

    def family(self, name: str) -> Family:
        """Return the engines of a family; whoever uses them calls `setup` first."""
        return self._once(name, lambda: Family(self.settings, name))

    def lock_of(self, engine: object) -> FairLock:
        """Return the lock to hold while an engine works that takes one batch at a time.

        Engines on one GPU (`gpu`, as models.gpu_of names it) share one: each has batches that fit the memory while no
        other engine works, would run out of it beside another, and make smaller batches from then on."""
        if (gpu := getattr(engine, "gpu", None)) is not None:
            return self._once((FairLock, gpu), FairLock)
        key = FairLock, id(engine)
        with self._guard:
            if key not in self._made:
                self._made[key] = FairLock(getattr(engine, "places", 1))
                try:
                    # An engine that operators exchange may go, with its models; its id may then be another's.
                    weakref.finalize(engine, self._made.pop, key, None).atexit = False
                except TypeError:  # a plug-in's, with slots
                    self._made[object, id(engine)] = engine
        lock: FairLock = self._made[key]
        return lock

    def shared(self, make: Callable[["Resources"], Made]) -> Made:
        """Return the object that a class or function makes of these resources; it is called once."""
        return self._once(make, lambda: make(self))

    def _once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        with self._guard:
            if key not in self._made:
                self._made[key] = make()
            made: Made = self._made[key]
            return made
