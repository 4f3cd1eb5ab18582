"""arq: results are looked for, again and again."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from arq import create_pool
from arq.connections import ArqRedis, RedisSettings
from arq.jobs import Job, JobStatus
from asgi_front import PATIENCE_SECONDS, Polling, front
from starlette.applications import Starlette
from work import DEAD_AFTER, carry_out_async

SETTINGS = RedisSettings.from_dsn(os.environ["REDIS_URL"])
#: Two lines a job otherwise.
LOGS = {"version": 1, "disable_existing_loggers": False, "loggers": {"arq": {"level": "WARNING"}}}

polling = Polling()
pool: ArqRedis


async def finish(context: dict[str, Any], name: str, seconds: float) -> str:
    return await carry_out_async(name, seconds)


class Worker:
    """The settings that `arq` runs."""

    functions = (finish,)
    redis_settings = SETTINGS
    poll_delay = 0.002  # half a second by default
    job_timeout = DEAD_AFTER  # a job of a killed worker is taken up 10 s after this


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    global pool
    pool = await create_pool(SETTINGS)
    yield
    await pool.aclose()


async def submit(name: str, seconds: float) -> Job:
    job = await pool.enqueue_job("finish", name, seconds)
    assert job is not None
    return job


async def wait(job: Job) -> Any:
    with polling:
        return await job.result(timeout=PATIENCE_SECONDS, poll_delay=polling.interval)


async def stored(ids: list[str]) -> list[str]:
    return [job_id for job_id in ids if await Job(job_id, pool).status() == JobStatus.complete]


app = front(lifespan, submit, lambda job: job.job_id, wait, stored)
