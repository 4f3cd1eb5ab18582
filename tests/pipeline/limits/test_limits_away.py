"""Rate limits while Redis can't be asked: requests go on, and are counted in this process."""

import asyncio

import pytest
import redis.asyncio

from pipeline.errors import RateLimitExceeded
from pipeline.limits.rate_limits import RateLimits
from pipeline.settings import LimitSettings


def test_a_connection_that_closes_under_uvloop_fails_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_as_uvloop(*_: object, **__: object) -> None:
        raise RuntimeError("unable to perform operation on <TCPTransport closed=True>; the handler is closed")

    async def count() -> None:
        client = redis.asyncio.Redis()
        monkeypatch.setattr(client, "pipeline", raise_as_uvloop)
        limits = RateLimits(client, LimitSettings(invalid_keys_per_minute=2))
        for _ in range(2):
            await limits.count_invalid("192.0.2.1")
        with pytest.raises(RateLimitExceeded):
            await limits.count_invalid("192.0.2.1")
        await client.aclose()

    asyncio.run(count())
