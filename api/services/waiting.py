"""Waiting: requests that wait for their jobs. A notice ends the wait, or a query each second if it was lost."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from uuid import UUID

from pipeline.database import AsyncDatabase
from pipeline.errors import ServiceUnavailable
from pipeline.lifecycle.jobs import find_ended
from pipeline.log import get_logger

log = get_logger(__name__)

#: How often all waiting jobs are read; the longest delay after a lost notice.
LOOK_EVERY_SECONDS = 1.0


class Restarting(ServiceUnavailable):
    """This process is stopping; the job goes on."""

    code = "restarting"
    message = "The service is restarting. The job goes on: read it at Location, or send the same Idempotency-Key again."
    retry_after = timedelta(seconds=1)


class Waiter:
    """One request that waits for its job. Without a place it is never told."""

    def __init__(self, job_id: UUID, *, has_place: bool) -> None:
        self.job_id = job_id
        self.has_place = has_place
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def wait(self, *, within: timedelta | None = None) -> bool:
        """Return whether the job ended within that time, according to a notice. Raises Restarting."""
        done, _ = await asyncio.wait({self._ended}, timeout=None if within is None else within.total_seconds())
        if not done:
            return False
        self._ended.result()
        self._ended = asyncio.get_running_loop().create_future()  # for another wait, if the job is still open
        return True

    def tell(self, error: Exception | None = None) -> None:
        if self._ended.done():
            return
        if error is None:
            self._ended.set_result(None)
        else:
            self._ended.set_exception(error)
            self._ended.exception()  # asyncio logs errors that nobody retrieves, such as that of a leaving waiter


class WaitingRequests:
    """All waiting requests of a process, by their jobs."""

    def __init__(self, database: AsyncDatabase, *, capacity: int) -> None:
        self._database = database
        self._capacity = capacity
        self._waiters: dict[UUID, set[Waiter]] = {}
        self._count = 0
        self.is_draining = False

    @contextmanager
    def enter(self, job_id: UUID, *, waits: bool = True) -> Iterator[Waiter]:
        """Take a place; a request that does not wait needs none. Raises ServiceUnavailable."""
        if not waits:
            yield Waiter(job_id, has_place=False)
            return
        if self.is_draining:
            message = "The service is restarting. No job was made and nothing was charged; send the request again."
            raise ServiceUnavailable(message, code="restarting", retry_after=timedelta(seconds=1))
        if self._count >= self._capacity:
            raise ServiceUnavailable(
                f"{self._capacity:,} requests are waiting already. Nothing was charged; use Prefer: respond-async, or"
                " try again.",
                code="too_many_waiting",
                retry_after=timedelta(seconds=2),
            )
        waiter = Waiter(job_id, has_place=True)
        self._waiters.setdefault(job_id, set()).add(waiter)
        self._count += 1
        try:
            yield waiter
        finally:
            self._leave(waiter)

    def move(self, waiter: Waiter, job_id: UUID) -> None:
        """Make a waiter wait for another job: the first with its Idempotency-Key."""
        if not waiter.has_place:
            waiter.job_id = job_id
            return
        self._forget(waiter)
        waiter.job_id = job_id
        self._waiters.setdefault(job_id, set()).add(waiter)

    def drain(self) -> None:
        """End all waits with Restarting: this process is stopping."""
        self.is_draining = True
        for waiters in list(self._waiters.values()):
            for waiter in waiters:
                waiter.tell(Restarting())

    def tell(self, job_ids: list[UUID]) -> None:
        for job_id in job_ids:
            for waiter in self._waiters.get(job_id, ()):
                waiter.tell()

    async def look(self) -> None:
        """Read all waiting jobs once a second in one statement. Never returns."""
        while True:
            await asyncio.sleep(LOOK_EVERY_SECONDS)
            if not self._waiters:
                continue
            try:
                self.tell(await self._database.run(find_ended(list(self._waiters))))
            except ServiceUnavailable as error:
                log.warning("waiting jobs not read", error=error.message)

    def _leave(self, waiter: Waiter) -> None:
        self._forget(waiter)
        self._count -= 1

    def _forget(self, waiter: Waiter) -> None:
        waiters = self._waiters[waiter.job_id]
        waiters.discard(waiter)
        if not waiters:
            del self._waiters[waiter.job_id]
