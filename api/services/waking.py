"""Waking: wake the pools for new work, while the request goes on."""

import redis.asyncio

from pipeline.database.coalescing import Coalescer
from pipeline.log import get_logger
from pipeline.wakes.broker import add_wake
from pipeline.wakes.redis_away import REDIS_AWAY

log = get_logger(__name__)


class Waker:
    """Sends wake-ups one at a time; those of one queue that are due meanwhile become one."""

    def __init__(self, client: "redis.asyncio.Redis") -> None:
        self._client = client
        self._queues: Coalescer[str, None] = Coalescer(self._send)

    def wake(self, queue: str) -> None:
        """Wake a queue's pool soon; call it after the commit."""
        self._queues.ask(queue)

    async def _send(self, queues: list[str]) -> list[None]:
        for queue in dict.fromkeys(queues):
            await self._send_one(queue)
        return [None] * len(queues)

    async def _send_one(self, queue: str) -> None:
        pipe = self._client.pipeline(transaction=False)
        add_wake(pipe, queue)
        try:
            await pipe.execute()
        except REDIS_AWAY as error:
            # The pool looks by itself within a second.
            log.warning("wake-up not sent", queue=queue, error=str(error))
