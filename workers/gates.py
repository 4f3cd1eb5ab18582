"""Gates: what stands before the claim of some lanes, a pace or a breaker, so that their items wait untouched."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from workers.handler import Gated, Handler


class Gates:
    """The gated handlers among a process's, asked before each claim and told after it."""

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
        """Return how many runs of each lane may be claimed now; `room` says for how many there are slots.

        What has no gate takes a run at a time: the rest is left for other processes. What has one takes as many as the
        gate lets through: it waits on the network, and would spend more time on claims than on the work."""
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
