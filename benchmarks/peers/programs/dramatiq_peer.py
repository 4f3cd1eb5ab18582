"""Dramatiq: its Redis broker and its Results middleware, whose reader blocks until the result is there."""

import os

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.results import ResultMissing, Results
from dramatiq.results.backends.redis import RedisBackend
from redis import Redis
from work import DEAD_AFTER, carry_out
from wsgi_front import PATIENCE_SECONDS, front

# Otherwise a wait for a result of more than 5 s ends with redis-py's time-out.
client = Redis.from_url(os.environ["REDIS_URL"], max_connections=1_000, socket_timeout=PATIENCE_SECONDS + 10)
backend = RedisBackend(client=client)
# Maintenance, which puts back what dead workers had, otherwise runs at a thousandth of all commands.
broker = RedisBroker(client=client, heartbeat_timeout=DEAD_AFTER * 1_000, maintenance_chance=1_000_000)
broker.add_middleware(Results(backend=backend, result_ttl=3_600_000))
dramatiq.set_broker(broker)


@dramatiq.actor(store_results=True)
def finish(name: str, seconds: float) -> str:
    return carry_out(name, seconds)


def is_stored(job_id: str) -> bool:
    message = dramatiq.Message(finish.queue_name, finish.actor_name, (), {}, {}, message_id=job_id)
    try:
        backend.get_result(message)
    except ResultMissing:
        return False
    return True


app = front(
    finish.send,
    lambda job: job.message_id,
    lambda job: job.get_result(backend=backend, block=True, timeout=PATIENCE_SECONDS * 1_000),
    lambda ids: [job_id for job_id in ids if is_stored(job_id)],
)
