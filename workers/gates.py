"""Gates: a pace or a circuit breaker before the claim of some kinds. While one is closed, their items stay ready."""

from collections.abc import Mapping
from datetime import timedelta

from pipeline.kind import Gated, Handler


class Gates:
    """The handlers of a process that have a gate: asked before each claim, and told its result."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._gated: list[Gated] = []
        self._kinds: dict[int, list[str]] = {}
        for kind, handler in handlers.items():
            if not isinstance(handler, Gated):
                continue
            if id(handler) not in self._kinds:
                self._gated.append(handler)
            self._kinds.setdefault(id(handler), []).append(kind)

    def admit(self, room: Mapping[str, int]) -> dict[str, int]:
        """Return how many runs of each kind may be claimed now; `room` has the free slots of each kind.

        A kind without a gate takes one run at a time, and leaves the rest to other processes. One with a gate takes as
        many as the gate admits: it waits on the network, and a claim for each run would take longer than the work."""
        admitted = dict.fromkeys(room, 1)
        for handler in self._gated:
            kinds = [kind for kind in self._kinds[id(handler)] if kind in room]
            runs = handler.admit(kinds, min(room[kind] for kind in kinds)) if kinds else {}
            for kind in kinds:
                del admitted[kind]
            admitted |= runs
        return admitted

    def claimed(self, kind: str | None, *, runs: int) -> None:
        """Tell how many runs of which kind were claimed."""
        for handler in self._gated:
            is_its_own = kind in self._kinds[id(handler)]
            handler.claimed(kind if is_its_own else None, runs if is_its_own else 0)

    def pause(self, *, most: timedelta) -> timedelta | None:
        """Return how long it will be until something may be claimed, None when that is longer than `most`."""
        pauses = [pause for handler in self._gated if (pause := handler.pause()) is not None and pause <= most]
        return min(pauses, default=None)
