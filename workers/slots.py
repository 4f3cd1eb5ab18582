"""Slots: for how many runs of each kind a process has room."""

from collections.abc import Mapping, Sequence

from pipeline.kind import Apart, Handler
from workers.heartbeat import Run


class Slots:
    """The slots of a process's handlers: one that runs apart has its own, all others share theirs."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._handlers = handlers
        # Told once: whether an object has what a protocol wants takes longer than a look into a dictionary, and a
        # busy process asks hundreds of times a second.
        self._apart = {id(handler) for handler in handlers.values() if isinstance(handler, Apart)}

    def room(self, held: Sequence[Run]) -> dict[str, int]:
        """Return the free slots of each kind beside the runs that are held; of kinds that are missing, none."""
        holders = [self._handlers[run.tasks[0].item.kind] for run in held]
        shared = sum(id(holder) not in self._apart for holder in holders)
        room = {}
        for kind, handler in self._handlers.items():
            taken = holders.count(handler) if id(handler) in self._apart else shared
            if handler.slots > taken:
                room[kind] = handler.slots - taken
        return room
