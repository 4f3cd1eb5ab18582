"""Telling: a process sends what it has logged about jobs, and how it is, to Redis, from a thread or an event loop."""

import threading
import time
from collections.abc import Callable
from typing import Any

import redis
from redis.exceptions import RedisError

from pipeline import job_log
from pipeline.log import get_logger
from pipeline.operations.processes import HASH, TELL_EVERY, Teller

log = get_logger(__name__)

#: How often lines are sent.
SEND_EVERY_SECONDS = 1.0


class ProcessReporter:
    """What one process tells. What can't be sent is lost: it is for looking, and nothing waits for it."""

    def __init__(self, program: Callable[[], str]) -> None:
        self._teller = Teller(program)
        self._told = -TELL_EVERY.total_seconds()

    def fill(self, pipe: Any) -> bool:
        """Add what there is to tell now to a Redis pipeline, sync or async; returns whether there was any."""
        added = job_log.add_pending(pipe)
        if time.monotonic() - self._told < TELL_EVERY.total_seconds():
            return bool(added)
        self._told = time.monotonic()
        pipe.hset(HASH, self._teller.field, self._teller.tell())
        return True

    async def send_async(self, client: Any) -> None:
        """Send what there is to tell. Raises RedisError."""
        pipe = client.pipeline(transaction=False)
        if self.fill(pipe):
            await pipe.execute()

    async def end_async(self, client: Any) -> None:
        """Say that this process ends. Raises RedisError."""
        await client.hdel(HASH, self._teller.field)

    def start(self, client: "redis.Redis") -> Callable[[], None]:
        """Send from a thread, for as long as the process lives; returns what says that it ends."""
        ended = threading.Event()

        def tell() -> None:
            while not ended.wait(SEND_EVERY_SECONDS):
                self._send(client)

        def end() -> None:
            ended.set()
            thread.join(timeout=SEND_EVERY_SECONDS)  # or what it sends now would come after the end
            self._send(client)
            try:
                client.hdel(HASH, self._teller.field)
            except RedisError as error:
                log.debug("end not told", error=str(error))

        thread = threading.Thread(target=tell, name="telling", daemon=True)
        thread.start()
        return end

    def _send(self, client: "redis.Redis") -> None:
        pipe = client.pipeline(transaction=False)
        try:
            if self.fill(pipe):
                pipe.execute()
        except RedisError as error:
            log.debug("not told", error=str(error))
