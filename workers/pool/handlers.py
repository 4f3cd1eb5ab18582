"""Handlers: one for the kinds that name it; those whose engines lack something wait until they have it."""

import importlib
import threading
from collections.abc import Mapping
from typing import Any

from pipeline.errors import NotReady
from pipeline.registry import Kinds
from workers.engines.resources import Resources
from workers.handler import Handler

AnyHandler = Handler[Any, Any]


def load_handlers(kinds: Kinds, queue: str, resources: Resources) -> dict[str, AnyHandler]:
    """Return the handler of each kind of a queue; kinds that name the same class share one."""
    made: dict[str, AnyHandler] = {}
    handlers: dict[str, AnyHandler] = {}
    for kind in kinds.values():
        if kind.queue != queue:
            continue
        if kind.handler not in made:
            module, _, name = kind.handler.partition(":")
            made[kind.handler] = getattr(importlib.import_module(module), name)(resources)
        handlers[kind.name] = made[kind.handler]
    return handlers


class LateHandlers:
    """Handlers that are not ready yet, by kind. Any thread may ask; the one that claims takes them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, AnyHandler] = {}
        self._ready: dict[str, AnyHandler] = {}

    @property
    def is_empty(self) -> bool:
        """True if no handler is waited for."""
        return not self._waiting and not self._ready

    def set_aside(self, handler: AnyHandler, handlers: Mapping[str, AnyHandler]) -> dict[str, AnyHandler]:
        """Keep a handler that is not ready; return the others."""
        self._waiting |= {kind: other for kind, other in handlers.items() if other is handler}
        return {kind: other for kind, other in handlers.items() if other is not handler}

    def ask(self, handler: AnyHandler) -> None:
        """Set up a handler that was kept, if it is ready now."""
        with self._lock:
            kinds = [kind for kind, other in self._waiting.items() if other is handler]
            if not kinds:
                return
            try:
                handler.setup()
            except NotReady:
                return
            self._ready |= {kind: self._waiting.pop(kind) for kind in kinds}

    def take(self) -> dict[str, AnyHandler]:
        """Return the handlers that have become ready since the last call, by kind."""
        if not self._ready:
            return {}
        with self._lock:
            ready, self._ready = self._ready, {}
        return ready
