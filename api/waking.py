"""Waking: tells the pools of new work without keeping the request, one wake-up at a time."""

import asyncio

import redis.asyncio
from redis.exceptions import RedisError

from pipeline.broker import wake_async
from pipeline.log import get_logger

log = get_logger(__name__)


class Alarm:
    """Sends wake-ups. Those that fall due while one is on its way become one: the list holds no more anyway."""

    def __init__(self, client: "redis.asyncio.Redis") -> None:
        self._client = client
        self._due: set[str] = set()
        self._sender: asyncio.Task[None] | None = None

    def ring(self, queue: str) -> None:
        """Wake a queue's pool soon; call it after the commit."""
        self._due.add(queue)
        if self._sender is None:
            self._sender = asyncio.create_task(self._send())

    async def _send(self) -> None:
        while self._due:
            queue = self._due.pop()
            try:
                await wake_async(self._client, queue)
            except (RedisError, OSError) as error:
                # The pool looks by itself within a second.
                log.warning("wake-up not sent", queue=queue, error=str(error))
        self._sender = None
