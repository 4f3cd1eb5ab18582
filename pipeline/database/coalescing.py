"""Coalescer: requests that are made while a batch is being sent are sent together, as the next batch.

Under load this saves most of what a round trip, a commit or a wake-up costs. A single request is sent at once; there is
no timer."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Generic, TypeVar

from pipeline.database import AsyncDatabase, Statement

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class Batches(Generic[Request]):
    """Requests that wait for a sender, of which there is one at a time. Safe for many threads."""

    def __init__(self, *, limit: int | None = None) -> None:
        self._limit = limit
        self._waiting: list[Request] = []
        self._has_sender = False
        self._lock = threading.Lock()

    def add(self, request: Request) -> bool:
        """Add a request. True: there is no sender, so the caller must be it, or start it."""
        with self._lock:
            self._waiting.append(request)
            is_first, self._has_sender = not self._has_sender, True
            return is_first

    def take(self) -> list[Request]:
        """Return the sender's next batch, oldest first. Empty: its work is done, and the next `add` needs a new one."""
        with self._lock:
            batch = self._waiting[: self._limit]
            del self._waiting[: self._limit]
            self._has_sender = bool(batch)
            return batch

    def abandon(self) -> None:
        """Note that the sender was ended; what still waits goes with the next request."""
        with self._lock:
            self._has_sender = False


class Coalescer(Generic[Request, Answer]):
    """Sends requests of one event loop in batches, one batch at a time.

    `send` returns an answer for each request, in order; an exception among them is raised to its own requester. When it
    raises, each request of the batch is repeated by itself with `send_alone`, so that one failure does not fail the
    others; without `send_alone` all of them fail. `key` sorts a batch, `limit` is the most requests in one."""

    def __init__(
        self,
        send: Callable[[list[Request]], Awaitable[Sequence[Answer | Exception]]],
        *,
        send_alone: Callable[[Request], Awaitable[Answer]] | None = None,
        key: Callable[[Request], Any] | None = None,
        limit: int | None = None,
    ) -> None:
        self._send = send
        self._send_alone = send_alone
        self._key = key
        self._batches: Batches[tuple[Request, asyncio.Future[Answer]]] = Batches(limit=limit)
        self._tasks: set[asyncio.Task[None]] = set()

    def ask(self, request: Request) -> "asyncio.Future[Answer]":
        """Send a request with the next batch; one whose future is cancelled before that is not sent."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        if self._batches.add((request, answer)):
            self._start(self._send_all())
        return answer

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)  # the loop itself keeps only a weak reference
        task.add_done_callback(self._tasks.discard)

    async def _send_all(self) -> None:
        try:
            while batch := self._batches.take():
                asked = [(request, answer) for request, answer in batch if not answer.done()]
                if asked:
                    await self._send_batch(asked)
        finally:
            self._batches.abandon()  # the task may have been cancelled

    async def _send_batch(self, asked: "list[tuple[Request, asyncio.Future[Answer]]]") -> None:
        if (key := self._key) is not None:
            asked.sort(key=lambda one: key(one[0]))
        try:
            found = await self._send([request for request, _ in asked])
        except Exception as error:  # noqa: BLE001  it is raised where the request was made
            if self._send_alone is not None:
                for request, answer in asked:
                    self._start(self._repeat(self._send_alone, request, answer))
                return
            found = [error] * len(asked)
        for (_, answer), one in zip(asked, found, strict=True):
            _resolve(answer, one)

    async def _repeat(
        self, send: Callable[[Request], Awaitable[Answer]], request: Request, answer: "asyncio.Future[Answer]"
    ) -> None:
        (found,) = await asyncio.gather(send(request), return_exceptions=True)
        if not isinstance(found, BaseException) or isinstance(found, Exception):
            _resolve(answer, found)


def _resolve(answer: "asyncio.Future[Answer]", found: Answer | Exception) -> None:
    if answer.done():
        return  # its requester has left
    if isinstance(found, Exception):
        answer.set_exception(found)
    else:
        answer.set_result(found)


Result = TypeVar("Result")

#: Statements in one transaction: none waits for long, and no lock is held for long.
MOST = 32


class StatementCoalescer:
    """Runs repeatable statements; in a transaction that fails, each is run again by itself."""

    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database
        self._coalescer: Coalescer[tuple[str, Statement[Any]], Any] = Coalescer(
            self._run_together, send_alone=self._run_alone, key=lambda asked: asked[0], limit=MOST
        )

    async def run(self, statement: Statement[Result], *, order: str = "") -> Result:
        """Run one statement. Raises what `AsyncDatabase.run` raises.

        Statements are sorted by `order`, so that all transactions lock rows in one order and none deadlock."""
        if not statement.repeatable:
            raise ValueError("A statement that may not be repeated must go alone.")
        result: Result = await self._coalescer.ask((order, statement))
        return result

    async def _run_together(self, asked: list[tuple[str, Statement[Any]]]) -> list[Any]:
        return await self._database.try_together([statement for _, statement in asked])

    async def _run_alone(self, asked: tuple[str, Statement[Any]]) -> Any:
        return await self._database.run(asked[1])
