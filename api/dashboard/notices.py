"""Notices: what operators should know on every page: pauses, and machines that run out of memory or disk."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from api.dashboard.filters import size
from api.services.services import Services
from pipeline.errors import PressroomError
from pipeline.operations import supervision
from pipeline.operations.pauses import Pause, read_pauses
from pipeline.operations.processes import HASH, Process, read_processes
from pipeline.operations.supervision import Pool
from pipeline.wakes.redis_away import REDIS_AWAY

#: How old a process's copy may be.
LASTS_SECONDS = 5.0
#: How long a page waits for the supervisor, or for another source.
PATIENCE_SECONDS = 1.0
#: PostgreSQL, downloads and artifacts fail on a full disk; this much is soon used.
LITTLE_DISK = 2**30
QUEUES, PROCESSES = "/dashboard/operators/queues", "/dashboard/operators/processes"


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence, and the page that says more."""

    text: str
    path: str


class Notices:
    """This process's copy of the notices."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._found: Sequence[Notice] = ()
        self._until = 0.0

    async def read(self) -> Sequence[Notice]:
        """Return the notices for operators. A source that does not answer has none."""
        if time.monotonic() >= self._until:
            self._until = time.monotonic() + LASTS_SECONDS
            pauses, processes, pools = await asyncio.gather(self._pauses(), self._processes(), self._pools())
            self._found = [*_paused(pauses), *_short_of_memory(pools), *_short_of_disk(processes)]
        return self._found

    def forget(self) -> None:
        """Read anew for the next page: something was changed."""
        self._until = 0.0

    async def _pauses(self) -> list[Pause]:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await self._services.database.run(read_pauses())
        except (PressroomError, TimeoutError):
            return []

    async def _processes(self) -> list[Process]:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return read_processes(await self._services.client.hgetall(HASH))
        except (*REDIS_AWAY, TimeoutError):
            return []

    async def _pools(self) -> list[Pool]:
        if not supervision.is_supervised():
            return []
        data = self._services.settings.data
        try:
            return await asyncio.to_thread(supervision.pools, data, patience_seconds=PATIENCE_SECONDS)
        except PressroomError:
            return []


def _paused(pauses: Sequence[Pause]) -> Iterator[Notice]:
    for one in pauses:
        yield Notice(f"Paused: {one.scope} {one.title}{f' ({one.reason})' if one.reason else ''}.", QUEUES)


def _short_of_memory(pools: Sequence[Pool]) -> Iterator[Notice]:
    for one in pools:
        if one.out_of_memory:
            times = "once" if one.out_of_memory == 1 else f"{one.out_of_memory:,} times"
            advice = "Give the machine more memory, run fewer processes, or start `pressroom up --small`."
            yield Notice(f"Out of memory: the system has ended {one.name} {times}. {advice}", PROCESSES)


def _short_of_disk(processes: Sequence[Process]) -> Iterator[Notice]:
    least = {one.host: one.free_bytes for one in processes if one.free_bytes is not None}
    for host, free in least.items():
        if free < LITTLE_DISK:
            yield Notice(
                f"The disk of {host} is nearly full: {size(free)} are left. Work that stores fails.", PROCESSES
            )
