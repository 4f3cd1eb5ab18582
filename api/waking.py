"""Waking: tells the pools of new work, while its request goes on."""

import redis.asyncio

from pipeline.broker import wake_async
from pipeline.coalescing import Coalescer
from pipeline.log import get_logger
from pipeline.redis_away import REDIS_AWAY

log = get_logger(__name__)


class Waker:
    """Sends wake-ups, one at a time; those of one queue that fall due meanwhile become one: its list holds no more."""

    def __init__(self, client: "redis.asyncio.Redis") -> None:
        self._client = client
        self._queues: Coalescer[str, None] = Coalescer(self._send)

    def wake(self, queue: str) -> None:
        """Wake a queue's pool soon; call it after the commit."""
        self._queues.ask(queue)

    async def _send(self, queues: list[str]) -> list[None]:
        for queue in dict.fromkeys(queues):
            try:
                await wake_async(self._client, queue)
            except REDIS_AWAY as error:
                # The pool looks by itself within a second.
                log.warning("wake-up not sent", queue=queue, error=str(error))
        return [None] * len(queues)
