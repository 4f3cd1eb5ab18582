"""Waking: wake the pools for new work, while the request goes on.

Wake-ups use a connection on which Redis does not reply: the reply was one of the six times that an idle request woke
the API."""

import asyncio
from typing import Any

import redis.asyncio
from redis.exceptions import ResponseError

from pipeline.database.coalescing import Coalescer
from pipeline.log import get_logger
from pipeline.wakes.broker import wake_commands
from pipeline.wakes.redis_away import REDIS_AWAY

log = get_logger(__name__)


class Waker:
    """Sends wake-ups one at a time; those of one queue that are due meanwhile become one."""

    def __init__(self, client: "redis.asyncio.Redis") -> None:
        self._line = SilentLine(client)
        self._queues: Coalescer[str, None] = Coalescer(self._send)

    def wake(self, queue: str) -> None:
        """Wake a queue's pool soon; call it after the commit."""
        self._queues.ask(queue)

    async def close(self) -> None:
        """Close the connection."""
        await self._line.close()

    async def _send(self, queues: list[str]) -> list[None]:
        for queue in dict.fromkeys(queues):
            try:
                await send_wake(self._line, queue)
            except REDIS_AWAY as error:
                # The pool looks by itself within a second.
                log.warning("wake-up not sent", queue=queue, error=str(error))
        return [None] * len(queues)


class SilentLine:
    """A connection without replies, reopened by the next commands if it was closed."""

    def __init__(self, client: "redis.asyncio.Redis") -> None:
        pool = client.connection_pool
        # Without a time limit, for which the client would make a task of each write.
        self._options = {**pool.connection_kwargs, "socket_timeout": None}
        self._class: Any = pool.connection_class
        self._connection: Any = None
        self._reader: asyncio.Task[None] | None = None

    async def send(self, commands: list[tuple[Any, ...]]) -> None:
        """Send commands. Raises what the client raises when Redis is away."""
        if self._reader is None or self._reader.done():
            await self._connect()
        await self._connection.send_packed_command(self._connection.pack_commands(commands), check_health=False)

    async def close(self) -> None:
        """Close the connection."""
        if self._reader is not None:
            self._reader.cancel()
        if self._connection is not None:
            await self._connection.disconnect(nowait=True)

    async def _connect(self) -> None:
        await self.close()
        self._connection = self._class(**self._options)
        await self._connection.connect()
        await self._connection.send_command("CLIENT", "REPLY", "OFF", check_health=False)
        self._reader = asyncio.create_task(self._read(self._connection))

    async def _read(self, connection: Any) -> None:
        """Read the replies of a Redis that does not allow turning them off, until the connection ends."""
        while True:
            try:
                await connection.read_response()
            except ResponseError:
                continue
            except REDIS_AWAY:
                return


async def send_wake(line: SilentLine, queue: str) -> None:
    """Wake a queue's pool."""
    await line.send(wake_commands(queue))
