"""Batching: Redis commands that are asked for while others are on their way go out together, as one pipeline."""

import asyncio
from typing import Any

import redis.asyncio
from redis.exceptions import RedisError


class Batch:
    """Stands in for a Redis client where scripts are run; under load it saves most of what a round trip costs."""

    def __init__(self, client: "redis.asyncio.Redis") -> None:
        self._client = client
        self._due: list[tuple[tuple[Any, ...], asyncio.Future[Any]]] = []
        self._sender: asyncio.Task[None] | None = None

    def evalsha(self, sha: str, numkeys: int, *keys_and_args: Any) -> asyncio.Future[Any]:
        """Run a script that Redis knows by its hash."""
        return self._ask("EVALSHA", sha, numkeys, *keys_and_args)

    def script_load(self, script: Any) -> asyncio.Future[Any]:
        """Make a script known to Redis."""
        return self._ask("SCRIPT LOAD", script)

    def _ask(self, *command: Any) -> asyncio.Future[Any]:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._due.append((command, answer))
        if self._sender is None:
            self._sender = asyncio.create_task(self._send())
        return answer

    async def _send(self) -> None:
        try:
            while self._due:
                asked, self._due = self._due, []
                for (_, answer), reply in zip(
                    asked, await self._execute([command for command, _ in asked]), strict=True
                ):
                    _give(answer, reply)
        finally:
            self._sender = None

    async def _execute(self, commands: list[tuple[Any, ...]]) -> list[Any]:
        pipe = self._client.pipeline(transaction=False)
        for command in commands:
            pipe.execute_command(*command)
        try:
            return await pipe.execute(raise_on_error=False)
        except (RedisError, OSError) as error:
            return [error] * len(commands)


def _give(answer: asyncio.Future[Any], reply: Any) -> None:
    if answer.done():
        return  # whoever asked has left
    if isinstance(reply, Exception):
        answer.set_exception(reply)
    else:
        answer.set_result(reply)
