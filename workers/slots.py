"""Slots: how many more runs of each kind a process can take."""

from collections.abc import Mapping, Sequence

from pipeline.kind import Apart, Handler
from workers.heartbeat import Run


class Slots:
    """The slots of a process's handlers. A handler that runs apart has slots of its own; all others share theirs."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._handlers = handlers
        # Found out once: isinstance with a protocol is slow, and a busy process asks hundreds of times a second.
        self._apart = {id(handler) for handler in handlers.values() if isinstance(handler, Apart)}

    def room(self, held: Sequence[Run]) -> dict[str, int]:
        """Return the free slots of each kind, given the runs that are held. A kind without a free slot is left out."""
        holders = [self._handlers[run.tasks[0].item.kind] for run in held]
        shared = sum(id(holder) not in self._apart for holder in holders)
        room = {}
        for kind, handler in self._handlers.items():
            taken = holders.count(handler) if id(handler) in self._apart else shared
            if handler.slots > taken:
                room[kind] = handler.slots - taken
        return room
