"""Wake-ups over a connection that Redis does not answer on."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import redis.asyncio
from redis.asyncio.connection import AbstractConnection as Connection

from api.services.waking import Waker
from pipeline.wakes.broker import wake_list


@pytest.fixture
def with_waker(redis_url: str) -> Callable[..., Any]:
    """Run something with a waker, and a client that looks at what it did."""

    def run(work: Callable[[Waker, Any], Awaitable[Any]]) -> Any:
        async def with_clients() -> Any:
            client = redis.asyncio.Redis.from_url(redis_url, socket_timeout=60)
            waker = Waker(client)
            try:
                return await work(waker, client)
            finally:
                await waker.close()
                await client.aclose()

        return asyncio.run(with_clients())

    return run


async def woken(client: Any, queue: str) -> None:
    """Return once a queue has its wake-up, and take it."""
    assert await client.blpop(wake_list(queue), timeout=60) is not None


def test_however_many_wake_ups_one_stays(with_waker: Callable[..., Any]) -> None:
    async def work(waker: Waker, client: Any) -> None:
        for queue in ("a", "b", "a", "a"):
            waker.wake(queue)
        waker.wake("last")
        await woken(client, "last")
        assert [await client.llen(wake_list(queue)) for queue in ("a", "b")] == [1, 1]

    with_waker(work)


def test_redis_answers_no_wake_up(with_waker: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[Any] = []
    read = Connection.read_response

    async def work(waker: Waker, client: Any) -> None:
        async def counted(connection: Any, *arguments: Any, **options: Any) -> Any:
            answer = await read(connection, *arguments, **options)
            if connection is waker._line._connection:
                answers.append(answer)
            return answer

        monkeypatch.setattr(Connection, "read_response", counted)
        waker.wake("a")
        await woken(client, "a")
        connecting = len(answers)
        for _ in range(5):
            waker.wake("a")
            await woken(client, "a")
        assert answers[connecting:] == []

    with_waker(work)


def test_a_connection_that_was_closed_is_made_anew(with_waker: Callable[..., Any]) -> None:
    async def work(waker: Waker, client: Any) -> None:
        for _ in range(3):
            waker.wake("a")
            await woken(client, "a")
            await client.client_kill_filter(_type="normal", skipme=True)
            await asyncio.wait({waker._line._reader}, timeout=60)

    with_waker(work)
