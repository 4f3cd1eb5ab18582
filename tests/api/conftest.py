"""All tests of the API come from one address."""

import pytest
import redis


@pytest.fixture(autouse=True)
def _no_wrong_keys_yet(redis_server: str) -> None:
    """All tests come from one address: what one has guessed is not held against the next."""
    with redis.Redis.from_url(redis_server) as connection:
        for kind in ("address", "sign-in"):
            for key in connection.scan_iter(f"pressroom:rate:minute:{kind}:*"):
                connection.delete(key)
