"""Autoscale: pools between their two bounds, by the age of their queue."""

import time
from pathlib import Path

from pipeline.database import Database
from pipeline.log import get_logger
from pipeline.operations.load import QueueLoad, read_load
from pipeline.operations.pauses import read_pauses
from pipeline.operations.supervision import pools, scale
from pipeline.registry import Kinds
from scripts.system.sizing.bounds import read_bounds

log = get_logger(__name__)

#: A pool grows when its oldest item has waited for so long, and shrinks when none has waited for as long as the other.
OLD_SECONDS = 5.0
IDLE_SECONDS = 60.0


def next_size(size: int, bounds: tuple[int, int], load: QueueLoad, *, idle_seconds: float) -> int:
    """Return how many processes a pool should have now."""
    low, high = bounds
    if load.ready and load.oldest_seconds >= OLD_SECONDS:
        size += 1
    # A process that works would be cut off after its drain, and its item begun again.
    elif idle_seconds >= IDLE_SECONDS and load.leased < size:
        size -= 1
    return min(max(size, low), high)


class Autoscaler:
    """Scales the pools of the supervisor on this machine, one process at a time."""

    def __init__(self, data: Path, database: Database, kinds: Kinds) -> None:
        self._data = data
        self._database = database
        self._kinds = kinds
        self._busy_at: dict[str, float] = {}

    def look(self) -> None:
        """Scale each pool with two bounds by what waits for it. Raises PressroomError."""
        bounds = {name: found for name, found in read_bounds(self._data).items() if found[0] < found[1]}
        if not bounds:
            return
        sizes = {pool.name: pool.wanted for pool in pools(self._data) if pool.scalable}
        paused = {one.name for one in self._database.run(read_pauses()) if one.scope == "queue"}
        for load in self._database.run(read_load(self._kinds)).queues:
            if load.queue in bounds.keys() - paused and load.queue in sizes:
                self._scale(load, sizes[load.queue], bounds[load.queue])

    def _scale(self, load: QueueLoad, size: int, bounds: tuple[int, int]) -> None:
        now = time.monotonic()
        if load.ready or load.queue not in self._busy_at:
            self._busy_at[load.queue] = now
        wanted = next_size(size, bounds, load, idle_seconds=now - self._busy_at[load.queue])
        if wanted == size:
            return
        scale(self._data, load.queue, wanted, keep=False)
        self._busy_at[load.queue] = now  # one process at a time
        log.info("pool scaled", queue=load.queue, processes=wanted, oldest_seconds=round(load.oldest_seconds, 1))
