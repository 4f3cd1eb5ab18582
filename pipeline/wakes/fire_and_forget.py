"""Fire and forget: commands to Redis that wait for no reply, nor for a server that takes nothing.

For hints such as notices and wake-ups: a lost one costs a second. A command with a reply costs its thread 22 us of a
processor and a wait; this way it costs 3 us.
"""

import threading
from collections.abc import Callable
from typing import Any

import redis
from redis.exceptions import RedisError, ResponseError

#: Seconds within which a server takes what fits its buffers, which hold thousands of notices.
SEND_SECONDS = 0.05


class FireAndForget:
    """A connection whose server is told not to reply. Safe for many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: Any = None
        self._pipe: Any = None
        self._is_refused = False

    def open(self, client: "redis.Redis") -> None:
        """Connect as a client does, unless it is connected; this waits. Raises RedisError when Redis is away.

        A server or proxy that does not know CLIENT REPLY is not asked again, and `send` always returns False."""
        if self._is_refused or self._connection is not None:
            return
        pool = client.connection_pool
        connection = pool.connection_class(**pool.connection_kwargs)
        try:
            connection.connect()
            connection.send_command("CLIENT", "REPLY", "OFF")
            connection.send_command("CLIENT", "REPLY", "ON")  # which is answered, so that a refusal is noticed
            connection.read_response()
            connection.send_command("CLIENT", "REPLY", "OFF")
            connection.update_current_socket_timeout(SEND_SECONDS)
        except ResponseError:
            connection.disconnect()
            self._is_refused = True
            return
        except RedisError:
            connection.disconnect()
            raise
        self._pipe = client.pipeline(transaction=False)
        self._connection = connection

    def send(self, fill: Callable[[Any], None]) -> bool:
        """Send what `fill` adds to a pipeline; returns whether it was sent. If not, `open` may help."""
        with self._lock:
            connection = self._connection
            if connection is None:
                return False
            fill(self._pipe)
            commands = [command for command, _ in self._pipe.command_stack]
            self._pipe.command_stack.clear()
            try:
                if connection.can_read(timeout=0):  # no reply comes, so the server has closed it
                    raise redis.ConnectionError("closed by the server")
                connection.send_packed_command(connection.pack_commands(commands), check_health=False)
            except RedisError:
                self._connection = None
                connection.disconnect()
                return False
            return True
