"""RQ: its own results, read as they come from a stream."""

import os
from typing import Any

from redis import Redis
from rq import Queue, Retry
from rq.job import Job
from work import RECOVERS, carry_out
from wsgi_front import PATIENCE_SECONDS, front

# Otherwise a wait for a result of more than 5 s ends with redis-py's time-out.
connection = Redis.from_url(os.environ["REDIS_URL"], max_connections=1_000, socket_timeout=PATIENCE_SECONDS + 10)
queue = Queue("peer", connection=connection)
TTL_SECONDS = 3_600


def submit(name: str, seconds: float) -> Job:
    retry = Retry(max=5) if RECOVERS else None
    return queue.enqueue(carry_out, name, seconds, retry=retry, result_ttl=TTL_SECONDS)


def wait(job: Job) -> Any:
    result = job.latest_result(timeout=PATIENCE_SECONDS)
    assert result is not None
    return result.return_value


def stored(ids: list[str]) -> list[str]:
    found = Job.fetch_many(ids, connection=connection)
    return [job.id for job in found if job is not None and job.is_finished]


def failed(ids: list[str]) -> list[str]:
    found = Job.fetch_many(ids, connection=connection)
    return [job.id for job in found if job is not None and job.is_failed]


app = front(submit, lambda job: job.id, wait, stored, failed)
