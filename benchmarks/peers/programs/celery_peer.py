"""Celery: Redis as broker and as result backend, messages acknowledged after the task."""

import os

from celery import Celery
from celery.result import AsyncResult
from work import DEAD_AFTER, RECOVERS, carry_out
from wsgi_front import PATIENCE_SECONDS, front

#: Celery writes unix:///path?db=1 in a way of its own.
URL = os.environ["REDIS_URL"].replace("unix://", "redis+socket://").replace("?db=", "?virtual_host=")

celery = Celery("peer", broker=URL, backend=URL)
celery.conf.update(task_serializer="json", worker_prefetch_multiplier=4, worker_hijack_root_logger=False)
if RECOVERS:
    celery.conf.update(
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        broker_transport_options={
            "visibility_timeout": DEAD_AFTER,
            "unacked_restore_interval": 1,
            "unacked_restore_throttle": 1,
        },
    )


@celery.task(name="finish")
def finish(name: str, seconds: float) -> str:
    return carry_out(name, seconds)


def stored(ids: list[str]) -> list[str]:
    return [job_id for job_id in ids if AsyncResult(job_id, app=celery).state == "SUCCESS"]


app = front(finish.delay, lambda job: job.id, lambda job: job.get(timeout=PATIENCE_SECONDS), stored)
