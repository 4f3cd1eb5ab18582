"""Model requests: an operator asks in the dashboard, and a process of a pool fetches or removes the model."""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, get_args

import redis
from redis.exceptions import RedisError

from pipeline.settings import Settings

PREFIX = "pressroom:models:changes:"
#: A request that no process takes is forgotten.
KEPT_FOR = timedelta(hours=1)

ModelAction = Literal["fetch", "remove"]
MODEL_ACTIONS: tuple[ModelAction, ...] = get_args(ModelAction)


def request_key(family: str) -> str:
    """Return the Redis list of the requests for a family's models."""
    return PREFIX + family


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A model of the catalogue, and what is to become of it."""

    action: ModelAction
    model: str

    def written(self) -> str:
        """Return it as it stands in Redis."""
        return json.dumps([self.action, self.model])


@dataclass(frozen=True, slots=True)
class ModelRequests:
    """The requests of one Redis; without one, nobody asks."""

    client: "redis.Redis | None"

    @classmethod
    def from_settings(cls, settings: Settings) -> "ModelRequests":
        """Return the requests of the system's Redis. Connects when it is first asked."""
        url = settings.redis_url
        return cls(None if url is None else redis.Redis.from_url(url, socket_timeout=1.0, socket_connect_timeout=1.0))

    def take(self, family: str) -> ModelRequest | None:
        """Take the oldest request for a family; of all processes that look, one gets it."""
        try:
            found = self.client.lpop(request_key(family)) if self.client is not None else None
        except RedisError:
            return None
        return ModelRequest(*json.loads(found)) if isinstance(found, bytes | str) else None
