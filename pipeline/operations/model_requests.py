"""Model requests: an operator asks in the dashboard, and a process of a pool downloads the model that suits it."""

import time
from dataclasses import dataclass
from datetime import timedelta

import redis
from redis.exceptions import RedisError

from pipeline.settings import Settings

PREFIX = "pressroom:models:requested:"
#: A request that no process takes is forgotten.
KEPT_FOR = timedelta(hours=1)
#: How often a process that could download a model looks whether it was asked for.
LOOK_SECONDS = 2.0


def request_key(family: str) -> str:
    """Return the Redis key whose value, whatever it is, asks for the model of a family."""
    return PREFIX + family


@dataclass(frozen=True, slots=True)
class ModelRequests:
    """The requests of one Redis; without one, nobody asks."""

    client: "redis.Redis | None"

    @classmethod
    def from_settings(cls, settings: Settings) -> "ModelRequests":
        """Return the requests of the system's Redis. Connects when it is first asked."""
        url = settings.redis_url
        return cls(None if url is None else redis.Redis.from_url(url, socket_timeout=1.0, socket_connect_timeout=1.0))

    def wait(self, family: str, *, seconds: float) -> bool:
        """Wait for so long, or until somebody asks for the model of a family; return whether somebody did."""
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            if self._take(family):
                return True
            time.sleep(min(left, LOOK_SECONDS))
        return False

    def _take(self, family: str) -> bool:
        try:
            # One process takes it, of all that look.
            return self.client is not None and self.client.getdel(request_key(family)) is not None
        except RedisError:
            return False
