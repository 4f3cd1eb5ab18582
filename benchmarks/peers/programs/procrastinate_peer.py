"""procrastinate: it keeps no results, so the task writes its own."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from asgi_front import PATIENCE_SECONDS, front
from pg_results import CHANNEL, KEEP, STORED, TABLE, Waiting
from procrastinate import App, JobContext, PsycopgConnector
from starlette.applications import Starlette
from work import DEAD_AFTER, RECOVERS, carry_out_async

URL = os.environ["DATABASE_URL"]
keep = KEEP.format(job_id="%(job_id)s", value="%(value)s")
look = STORED.format(ids="%(ids)s")
waiting = Waiting()
queue = App(
    connector=PsycopgConnector(conninfo=URL, min_size=4, max_size=10),
    worker_defaults={"update_heartbeat_interval": 1, "stalled_worker_timeout": DEAD_AFTER},
)


@queue.task(name="finish", pass_context=True)
async def finish(context: JobContext, name: str, seconds: float) -> None:
    value = await carry_out_async(name, seconds)
    await queue.connector.execute_query_async(keep, job_id=context.job.id, value=json.dumps(value))


if RECOVERS:

    @queue.periodic(cron="* * * * * */2")
    @queue.task(name="retry_stalled", queueing_lock="retry_stalled", pass_context=True)
    async def retry_stalled(context: JobContext, timestamp: int) -> None:
        for job in await queue.job_manager.get_stalled_jobs(seconds_since_heartbeat=DEAD_AFTER):
            await queue.job_manager.retry_job(job)


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    async with queue.open_async():
        listening = asyncio.create_task(_listen())
        yield
        listening.cancel()


async def _listen() -> None:
    async with await psycopg.AsyncConnection.connect(URL, autocommit=True) as connection:
        await connection.execute(f"LISTEN {CHANNEL}")
        async for notice in connection.notifies():
            waiting.told(notice.payload)


async def submit(name: str, seconds: float) -> int:
    return await finish.defer_async(name=name, seconds=seconds)


async def wait(job_id: int) -> Any:
    event = waiting.begin(job_id)
    try:
        # The notice may have come before anybody waited.
        if not await _stored([job_id]):
            await asyncio.wait_for(event.wait(), PATIENCE_SECONDS)
    finally:
        waiting.end(job_id)
    return "done"


async def _stored(ids: list[int]) -> list[int]:
    rows = await queue.connector.execute_query_all_async(look, ids=ids)
    return [row["job_id"] for row in rows]


async def stored(ids: list[str]) -> list[str]:
    return [str(job_id) for job_id in await _stored([int(job_id) for job_id in ids])]


async def create() -> None:
    """Make the tables."""
    async with queue.open_async():
        await queue.schema_manager.apply_schema_async()
        await queue.connector.execute_query_async(TABLE)


app = front(lifespan, submit, str, wait, stored)

if __name__ == "__main__":
    asyncio.run(create())
