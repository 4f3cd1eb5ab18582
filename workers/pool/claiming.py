"""Claiming: what a process may take on next, for its free slots and through the gates of its handlers."""

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
from workers.pool.gates import Gates
from workers.pool.heartbeat import Run
from workers.pool.slots import Slots

#: A process with several slots is never idle while there is work; it gets so after this time, in seconds, when an item
#: that has crashed a worker is ready, which goes only to a process that holds nothing else. It asks so often.
ALONE_EVERY_SECONDS = 30.0
ASK_SECONDS = 1.0
#: A process that claims time and again wakes another this often at most, in seconds.
WAKE_AGAIN_SECONDS = 0.05


class Claimer:
    """Says what a process claims next, and is told what it got; only one thread at a time claims."""

    def __init__(
        self,
        queue: str,
        lanes: Mapping[str, Handler[Any, Any]],
        *,
        database: Database,
        wake: Callable[[], None],
        settings: Settings,
    ) -> None:
        self._queue = queue
        self._lanes = lanes
        self._database = database
        self._wake = wake
        self._lease_for = timedelta(seconds=settings.work.lease_seconds)
        self._oldest_first_every = settings.work.oldest_first_every
        self._gates = Gates(lanes)
        self._slots = Slots(lanes)
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
    def is_single(self) -> bool:
        """Whether this process carries out one run at a time, whatever comes."""
        return self._slots.is_single

    @property
    def is_flowing(self) -> bool:
        """Whether work came with each of the last two claims, and so is likely to come with the next."""
        return self._found_in_a_row > 1

    def room(self, held: Sequence[Run]) -> dict[str, int]:
        """Return for how many runs of each lane there are slots beside those held; of lanes that are missing, none."""
        is_kept_free = any(map(self._is_alone, held)) or (held and self._is_awaited())
        return {} if is_kept_free else self._slots.room(held)

    def next(self, held: Sequence[Run]) -> Statement[list[ClaimedItem]] | None:
        """Return the claim to make beside the runs held; None: there is no slot, or no gate is open."""
        runs = self._gates.admit(self.room(held))
        self._limits = {lane: number * self._lanes[lane].batch for lane, number in runs.items()}
        self._may_be_more = False
        if not self._limits:
            return None
        if not held:
            self._alone_at = time.monotonic()
        oldest = next(self._claims) % self._oldest_first_every == 0
        return lifecycle.claim(
            self._limits, lease_for=self._lease_for, alone=not held, oldest=oldest, together=self._together
        )

    def claimed(self, lane: str | None, items: int) -> int:
        """Note how many items of which lane were claimed (None: none was); returns how many of them make one run."""
        size = self._lanes[lane].batch if lane else 1
        self._gates.claimed(lane, runs=-(-items // size))
        self._found_in_a_row = self._found_in_a_row + 1 if items else 0
        self._may_be_more = lane is not None and items == self._limits[lane]
        return size

    def pause(self, *, most: timedelta) -> timedelta | None:
        """Return how long it will be until a gate opens, None when that is longer than `most`."""
        return self._gates.pause(most=most)

    def wake_again(self) -> None:
        """Wake another process after the next full claim, however soon that is."""
        self._woke_at = 0.0

    def wake_another(self) -> None:
        """Wake another process where there may be more: one wake-up ramps the whole pool, each waking the next."""
        if self._may_be_more and time.monotonic() - self._woke_at > WAKE_AGAIN_SECONDS:
            self._woke_at = time.monotonic()
            self._wake()

    def _is_alone(self, run: Run) -> bool:
        """Return whether a run holds an item that has crashed a worker, and may take no other with it."""
        return any(task.item.crashes and task.item.lane not in self._together for task in run.tasks)

    def _is_awaited(self) -> bool:
        """Return whether a crashed item waits for a process that holds nothing, and this has held something for long.

        Without one nothing is held back: a recording may take hours, and others come meanwhile."""
        now = time.monotonic()
        if now - self._alone_at <= ALONE_EVERY_SECONDS:
            self._awaited = False
        elif now - self._asked_at > ASK_SECONDS:
            self._asked_at = now
            alone = [lane for lane in self._lanes if lane not in self._together]
            self._awaited = self._database.run(lifecycle.has_crashed_ready(alone))
        return self._awaited
