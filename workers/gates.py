"""Gates: what stands before the claim of some kinds, a pace or a breaker, so that their items wait untouched."""

from collections.abc import Mapping
from datetime import timedelta

from pipeline.database import Database
from pipeline.kind import Gated, Handler


class Gates:
    """The gated handlers among a process's, asked before each claim and told after it."""

    def __init__(self, handlers: Mapping[str, Handler], database: Database) -> None:
        self._gated: list[Gated] = []
        self._kinds: dict[int, list[str]] = {}
        for kind, handler in handlers.items():
            if not isinstance(handler, Gated):
                continue
            if id(handler) not in self._kinds:
                handler.use(database)
                self._gated.append(handler)
            self._kinds.setdefault(id(handler), []).append(kind)

    def admit(self, limits: Mapping[str, int]) -> dict[str, int]:
        """Return the limits of the kinds that may be claimed now."""
        admitted = dict(limits)
        for handler in self._gated:
            kinds = [kind for kind in self._kinds[id(handler)] if kind in limits]
            allowed = handler.admit(kinds) if kinds else ()
            for kind in kinds:
                if kind not in allowed:
                    del admitted[kind]
        return admitted

    def claimed(self, kind: str | None) -> None:
        """Tell which kind was claimed."""
        for handler in self._gated:
            handler.claimed(kind if kind in self._kinds[id(handler)] else None)

    def pause(self, *, most: timedelta) -> timedelta | None:
        """Return how long it will be until something may be claimed, None when that is longer than `most`."""
        pauses = [pause for handler in self._gated if (pause := handler.pause()) is not None and pause <= most]
        return min(pauses, default=None)
