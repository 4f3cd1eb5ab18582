"""Claiming: the items that a process may take next, by its free slots and its handlers' gates."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from itertools import count
from typing import Any

from pipeline import lifecycle
from pipeline.database import Database, Statement
from pipeline.lifecycle import ClaimedItem
from pipeline.settings import Settings
from workers.handler import Handler
from workers.pool.heartbeat import Run

#: An item that has crashed a worker goes only to a process that holds nothing else. A process with several slots is
#: never idle while there is work, so after this time, in seconds, it empties itself when such an item waits.
ALONE_EVERY_SECONDS = 30.0
ASK_SECONDS = 1.0
#: A process that claims repeatedly wakes another at most this often, in seconds.
WAKE_AGAIN_SECONDS = 0.05


class Claimer:
    """Decides what a process claims next, and learns what it got. Only one thread at a time claims."""

    def __init__(
        self,
        queue: str,
        lanes: Mapping[str, Handler[Any, Any]],
        *,
        owners: Mapping[str, str | None],
        database: Database,
        wake: Callable[[], None],
        settings: Settings,
    ) -> None:
        self._queue = queue
        self._lanes = lanes
        self._owners = owners
        self._handlers = list({id(handler): handler for handler in lanes.values()}.values())
        self._database = database
        self._wake = wake
        self._lease_for = timedelta(seconds=settings.work.lease_seconds)
        self._oldest_first_every = settings.work.oldest_first_every
        #: True if this process carries out one run at a time.
        self.is_single = all(handler.slots == 1 and not handler.runs_apart for handler in self._handlers)
        #: Lanes whose items never wait for a process that holds nothing.
        self._together = [lane for lane, handler in lanes.items() if handler.comes_back_together]
        self._limits: dict[str, int] = {}
        self._may_be_more = False
        self._claims = count(1)
        self._alone_at = time.monotonic()
        self._asked_at = 0.0
        self._awaited = False
        self._woke_at = 0.0
        self._found_in_a_row = 0

    @property
    def is_flowing(self) -> bool:
        """True if the last two claims found work, so that the next one probably does."""
        return self._found_in_a_row > 1

    def room(self, held: Sequence[Run]) -> dict[str, int]:
        """Return the free slots of each lane beside the runs held; a lane without one is left out."""
        if any(map(self._is_alone, held)) or (held and self._is_awaited()):
            return {}
        holders = [self._lanes[run.tasks[0].item.lane] for run in held]
        shared = sum(not holder.runs_apart for holder in holders)
        room = {}
        for lane, handler in self._lanes.items():
            taken = holders.count(handler) if handler.runs_apart else shared
            if handler.slots > taken:
                room[lane] = handler.slots - taken
        return room

    def next(self, held: Sequence[Run]) -> Statement[list[ClaimedItem]] | None:
        """Return the next claim beside the runs held, or None without a free slot or an open gate."""
        runs = self._admitted(self.room(held))
        self._limits = {lane: number * self._lanes[lane].batch for lane, number in runs.items()}
        self._may_be_more = False
        if not self._limits:
            return None
        if not held:
            self._alone_at = time.monotonic()
        oldest = next(self._claims) % self._oldest_first_every == 0
        return lifecycle.claim(
            self._limits,
            lease_for=self._lease_for,
            alone=not held,
            oldest=oldest,
            together=self._together,
            queue=self._queue,
            owners=self._owners,
        )

    def _admitted(self, room: Mapping[str, int]) -> dict[str, int]:
        admitted: dict[str, int] = {}
        for handler in self._handlers:
            lanes = [lane for lane in room if self._lanes[lane] is handler]
            if lanes:
                admitted |= handler.admit(lanes, min(room[lane] for lane in lanes))
        return admitted

    def claimed(self, lane: str | None, items: int) -> int:
        """Note a claim of so many items of a lane (None: it found nothing); returns how many make one run."""
        claimer = self._lanes[lane] if lane else None
        size = claimer.batch if claimer else 1
        for handler in self._handlers:
            is_its_own = handler is claimer
            handler.claimed(lane if is_its_own else None, -(-items // size) if is_its_own else 0)
        self._found_in_a_row = self._found_in_a_row + 1 if items else 0
        self._may_be_more = lane is not None and items == self._limits[lane]
        return size

    def pause(self, *, most: timedelta) -> timedelta | None:
        """Return the time until a gate opens, or None if that takes longer than `most`."""
        pauses = [pause for handler in self._handlers if (pause := handler.pause()) is not None and pause <= most]
        return min(pauses, default=None)

    def wake_again(self) -> None:
        """Allow the next full claim to wake another process, however soon."""
        self._woke_at = 0.0

    def wake_another(self) -> None:
        """Wake another process if there may be more: one wake-up ramps the pool, each process waking the next."""
        if self._may_be_more and time.monotonic() - self._woke_at > WAKE_AGAIN_SECONDS:
            self._woke_at = time.monotonic()
            self._wake()

    def _is_alone(self, run: Run) -> bool:
        """Return whether a run holds an item that has crashed a worker, so that nothing may run beside it."""
        return any(task.item.crashes and task.item.lane not in self._together for task in run.tasks)

    def _is_awaited(self) -> bool:
        """Return whether a crashed item waits for an empty process, and this one has long held something.

        Otherwise nothing is held back: a recording may take hours, and other work arrives meanwhile."""
        now = time.monotonic()
        if now - self._alone_at <= ALONE_EVERY_SECONDS:
            self._awaited = False
        elif now - self._asked_at > ASK_SECONDS:
            self._asked_at = now
            alone = [lane for lane in self._lanes if lane not in self._together]
            self._awaited = self._database.run(lifecycle.has_crashed_ready(alone))
        return self._awaited
