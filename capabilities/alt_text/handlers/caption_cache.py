"""Caption cache: the texts of pictures described lately, in Redis; without Redis every picture is described anew."""

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from importlib.metadata import version
from typing import Any

import redis
from pydantic import TypeAdapter, ValidationError
from redis.exceptions import RedisError

from capabilities.alt_text.engines import NO_HINTS, Caption, Hints
from capabilities.alt_text.settings import CaptioningSettings
from pipeline.log import get_logger
from pipeline.settings import Settings

log = get_logger(__name__)

PREFIX = "pressroom:caption:"
#: Longest text that is taken from Redis; engines write less.
MAX_CHARACTERS = 500
#: How long a Redis that did not answer is left alone, in seconds: no picture waits for it, and the log has one line.
PAUSE_SECONDS = 30.0
#: Longest wait for an answer of Redis; to describe a picture anew often takes no longer.
TIMEOUT_SECONDS = 1.0
_CAPTION = TypeAdapter(Caption)


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a text: an engine, its model, and the version of Pressroom."""

    engine: str
    model: str | None
    release: str = version("pressroom")

    def key(self, *, sha256: bytes, mode: str, language: str, hints: Hints = NO_HINTS) -> str:
        parts = [sha256.hex(), mode, language, self.engine, self.model, self.release]
        if hints != NO_HINTS:
            parts.append(json.dumps(asdict(hints)))
        return PREFIX + hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class CaptionCache:
    """Texts in Redis, each for some hours. Safe for many threads. `clock` gives seconds."""

    def __init__(
        self,
        client: "redis.Redis | None",
        *,
        keep_for: timedelta,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client if keep_for > timedelta() else None
        self._keep_for = keep_for
        self._clock = clock
        self._paused_until = -math.inf

    @classmethod
    def from_settings(cls, settings: Settings) -> "CaptionCache":
        """Return the cache that the operator wants; one that keeps nothing where there is no Redis."""
        keep_for = timedelta(hours=settings.of(CaptioningSettings).cache_hours)
        if settings.redis_url is None:
            return cls(None, keep_for=keep_for)
        client = redis.Redis.from_url(
            settings.redis_url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS
        )
        return cls(client, keep_for=keep_for)

    def find(self, keys: Sequence[str]) -> dict[str, Caption]:
        found = self._ask(lambda client: client.mget(list(keys))) if keys else None
        captions = {key: _read(value) for key, value in zip(keys, found or (), strict=False)}
        return {key: caption for key, caption in captions.items() if caption is not None}

    def keep(self, captions: Mapping[str, Caption]) -> None:

        def write(client: "redis.Redis") -> None:
            pipe = client.pipeline(transaction=False)
            for key, caption in captions.items():
                pipe.set(key, json.dumps(asdict(caption)), px=self._keep_for)
            pipe.execute()

        if captions:
            self._ask(write)

    def _ask(self, command: Callable[["redis.Redis"], Any]) -> Any:
        """Return the answer of Redis; None while it can't be reached."""
        if self._client is None or self._clock() < self._paused_until:
            return None
        try:
            return command(self._client)
        except (RedisError, OSError) as error:
            self._paused_until = self._clock() + PAUSE_SECONDS
            log.warning("captions not kept, Redis is away", error=str(error), again_in_seconds=PAUSE_SECONDS)
            return None


def _read(value: object) -> Caption | None:
    """Return a text as it was kept; None for a value of another form, whoever wrote it."""
    if not isinstance(value, bytes):
        return None
    try:
        kept = _CAPTION.validate_json(value, strict=True)
    except ValidationError:
        return None
    is_whole = bool(kept.text or kept.decorative) and len(kept.text) <= MAX_CHARACTERS and 0 <= kept.confidence <= 1
    return kept if is_whole else None
