"""Late handlers: those whose engines lacked something when their process began, until they have it."""

import threading
from collections.abc import Mapping
from typing import Any

from pipeline.errors import NotReady
from workers.handler import Handler

AnyHandler = Handler[Any, Any]


class LateHandlers:
    """What is not claimed for yet, by the kind. Asked from any thread; taken by the one that claims."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, AnyHandler] = {}
        self._ready: dict[str, AnyHandler] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no handler is waited for."""
        return not self._waiting and not self._ready

    def set_aside(self, handler: AnyHandler, handlers: Mapping[str, AnyHandler]) -> dict[str, AnyHandler]:
        """Keep a handler that is not ready; return the others."""
        self._waiting |= {kind: other for kind, other in handlers.items() if other is handler}
        return {kind: other for kind, other in handlers.items() if other is not handler}

    def ask(self, handler: AnyHandler) -> None:
        """Set a handler up that was kept, if it is ready now."""
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
        """Return the handlers that have become ready since the last call, by the kind."""
        if not self._ready:
            return {}
        with self._lock:
            ready, self._ready = self._ready, {}
        return ready
