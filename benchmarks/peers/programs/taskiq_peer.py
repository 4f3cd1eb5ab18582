"""taskiq: streams of Redis, as its page has it, with acknowledgements; results are looked for, again and again."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from asgi_front import PATIENCE_SECONDS, Polling, front
from starlette.applications import Starlette
from taskiq import AsyncTaskiqTask
from taskiq_redis import RedisAsyncResultBackend, RedisStreamBroker
from work import DEAD_AFTER, carry_out_async

URL = os.environ["REDIS_URL"]
polling = Polling()
#: A worker that was stopped for longer than redis-py's 5 s would otherwise end, and be started again.
SOCKET_SECONDS = 90
results: RedisAsyncResultBackend[str] = RedisAsyncResultBackend(URL, result_ex_time=3_600)
broker = RedisStreamBroker(
    URL,
    socket_timeout=SOCKET_SECONDS,
    consumer_id="0",
    idle_timeout=DEAD_AFTER * 1_000,
    unacknowledged_lock_timeout=DEAD_AFTER,  # without one, a worker that dies at that moment locks out all others
).with_result_backend(results)


@broker.task
async def finish(name: str, seconds: float) -> str:
    return await carry_out_async(name, seconds)


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    await broker.startup()
    yield
    await broker.shutdown()


async def wait(job: AsyncTaskiqTask[str]) -> Any:
    with polling:
        done = await job.wait_result(check_interval=polling.interval, timeout=PATIENCE_SECONDS)
    return done.return_value


async def stored(ids: list[str]) -> list[str]:
    return [job_id for job_id in ids if await results.is_result_ready(job_id)]


app = front(lifespan, finish.kiq, lambda job: job.task_id, wait, stored)
