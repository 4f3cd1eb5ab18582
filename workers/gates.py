"""Gates: what stands before the claim of some kinds, a pace or a breaker, so that their items wait untouched."""

from collections.abc import Mapping
from datetime import timedelta

from pipeline.kind import Gated, Handler


class Gates:
    """The gated handlers among a process's, asked before each claim and told after it."""

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
        """Return how many runs of each kind may be claimed now; `room` says for how many there are slots.

        What has no gate takes a run at a time: the rest is left for other processes. What has one takes as many as the
        gate lets through: it waits on the network, and would spend more time on claims than on the work."""
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
