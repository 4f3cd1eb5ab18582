"""Gates: a pace or a circuit breaker before the claim of some lanes. While one is closed, their items stay ready."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from workers.handler import Gated, Handler


class Gates:
    """The handlers of a process that have a gate: asked before each claim, and told its result."""

    def __init__(self, lanes: Mapping[str, Handler[Any, Any]]) -> None:
        self._gated: list[Gated] = []
        self._lanes: dict[int, list[str]] = {}
        for lane, handler in lanes.items():
            if not isinstance(handler, Gated):
                continue
            if id(handler) not in self._lanes:
                self._gated.append(handler)
            self._lanes.setdefault(id(handler), []).append(lane)

    def admit(self, room: Mapping[str, int]) -> dict[str, int]:
        """Return how many runs of each lane may be claimed now; `room` has the free slots of each lane.

        A lane without a gate takes one run at a time, and leaves the rest to other processes. One with a gate takes as
        many as the gate admits: it waits on the network, and a claim for each run would take longer than the work."""
        admitted = dict.fromkeys(room, 1)
        for handler in self._gated:
            its_own = [lane for lane in self._lanes[id(handler)] if lane in room]
            runs = handler.admit(its_own, min(room[lane] for lane in its_own)) if its_own else {}
            for lane in its_own:
                del admitted[lane]
            admitted |= runs
        return admitted

    def claimed(self, lane: str | None, *, runs: int) -> None:
        """Tell how many runs of which lane were claimed."""
        for handler in self._gated:
            is_its_own = lane in self._lanes[id(handler)]
            handler.claimed(lane if is_its_own else None, runs if is_its_own else 0)

    def pause(self, *, most: timedelta) -> timedelta | None:
        """Return how long it will be until something may be claimed, None when that is longer than `most`."""
        pauses = [pause for handler in self._gated if (pause := handler.pause()) is not None and pause <= most]
        return min(pauses, default=None)
