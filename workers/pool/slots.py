"""Slots: how many more runs of each lane a process can take."""

from collections.abc import Mapping, Sequence
from typing import Any

from workers.handler import Apart, Handler
from workers.pool.heartbeat import Run


class Slots:
    """The slots of a process's handlers. A handler that runs apart has slots of its own; all others share theirs."""

    def __init__(self, lanes: Mapping[str, Handler[Any, Any]]) -> None:
        self._lanes = lanes
        # Found out once: isinstance with a protocol is slow, and a busy process asks hundreds of times a second.
        self._apart = {id(handler) for handler in lanes.values() if isinstance(handler, Apart)}
        self.is_single = not self._apart and all(handler.slots == 1 for handler in lanes.values())

    def room(self, held: Sequence[Run]) -> dict[str, int]:
        """Return the free slots of each lane, given the runs that are held. A lane without a free slot is left out."""
        holders = [self._lanes[run.tasks[0].item.lane] for run in held]
        shared = sum(id(holder) not in self._apart for holder in holders)
        room = {}
        for lane, handler in self._lanes.items():
            taken = holders.count(handler) if id(handler) in self._apart else shared
            if handler.slots > taken:
                room[lane] = handler.slots - taken
        return room
