"""Keeping: what a sweep writes down for operators each minute, and what it deletes of it."""

from typing import TYPE_CHECKING

from redis.exceptions import RedisError

from pipeline.database import Database
from pipeline.log import get_logger
from pipeline.operations.load import read_load
from pipeline.operations.metrics import HASH as METRICS
from pipeline.operations.metrics import Sum, read_sums
from pipeline.operations.processes import HASH as PROCESSES
from pipeline.operations.processes import gone_fields
from pipeline.operations.samples import keep_samples
from pipeline.registry import Kinds

if TYPE_CHECKING:
    import redis

log = get_logger(__name__)


def take_samples(database: Database, client: "redis.Redis", kinds: Kinds) -> int:
    """Write how each queue is, and forget the processes that are gone; returns how many rows that made."""
    return database.run(keep_samples(database.run(read_load(kinds)), _read_redis(client)))


def _read_redis(client: "redis.Redis") -> list[Sum] | None:
    """Return what was counted; None: Redis is away, and the sample goes without."""
    try:
        if gone := gone_fields(client.hgetall(PROCESSES)):
            client.hdel(PROCESSES, *gone)
        return list(read_sums(client.hgetall(METRICS)))
    except RedisError as error:
        log.warning("sample without counts", error=str(error))
        return None
