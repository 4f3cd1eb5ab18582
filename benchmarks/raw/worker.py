"""The raw worker: a stock RedisBroker and one actor that writes the row and tells whoever waits."""

import os
from uuid import UUID

import dramatiq
import redis
from dramatiq.brokers.redis import RedisBroker
from psycopg.types.json import Jsonb
from psycopg_pool import ConnectionPool

from benchmarks.raw.names import ACTOR, CHANNEL, FINISH, QUEUE

client = redis.Redis.from_url(os.environ["REDIS_URL"])
pool = ConnectionPool(
    os.environ["DATABASE_URL"], kwargs={"autocommit": True, "prepare_threshold": 2}, min_size=1, max_size=8, open=False
)
dramatiq.set_broker(RedisBroker(url=os.environ["REDIS_URL"]))


@dramatiq.actor(actor_name=ACTOR, queue_name=QUEUE)
def finish(job_id: str) -> None:
    pool.open()
    job = UUID(job_id)
    with pool.connection() as connection:
        connection.execute(FINISH, (Jsonb({"pid": os.getpid()}), job))
    client.publish(CHANNEL, job.bytes)
