"""PgQueuer: it keeps no results, so the entrypoint writes its own."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import asyncpg
import uvloop
from asgi_front import PATIENCE_SECONDS, front
from pg_results import CHANNEL, KEEP, STORED, TABLE, Waiting
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver, AsyncpgPoolDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries
from starlette.applications import Starlette
from work import DEAD_AFTER, carry_out_async

URL = os.environ["DATABASE_URL"]
keep = KEEP.format(job_id="$1::bigint", value="$2::jsonb")
look = STORED.format(ids="$1::bigint[]")
waiting = Waiting()
queries: Queries
pool: Any


async def work() -> None:
    """Run a worker, as `pgq run` does."""
    async with asyncpg.create_pool(URL, min_size=4, max_size=10) as results:
        queue = PgQueuer(AsyncpgDriver(await asyncpg.connect(URL)))

        @queue.entrypoint("finish")
        async def finish(job: Job) -> None:
            assert job.payload is not None
            value = await carry_out_async(**json.loads(job.payload))
            await results.execute(keep, job.id, json.dumps(value))

        await queue.run(heartbeat_timeout=timedelta(seconds=DEAD_AFTER))


async def create() -> None:
    """Make the tables."""
    connection = await asyncpg.connect(URL)
    await Queries(AsyncpgDriver(connection)).install()
    await connection.execute(TABLE)
    await connection.close()


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    global pool, queries
    async with asyncpg.create_pool(URL, min_size=4, max_size=10) as pool:
        queries = Queries(AsyncpgPoolDriver(pool))
        listener = await asyncpg.connect(URL)
        await listener.add_listener(CHANNEL, lambda *notice: waiting.told(notice[-1]))
        yield
        await listener.close()


async def submit(name: str, seconds: float) -> int:
    (job_id,) = await queries.enqueue("finish", json.dumps({"name": name, "seconds": seconds}).encode())
    return int(job_id)


async def wait(job_id: int) -> Any:
    event = waiting.begin(job_id)
    try:
        # The notice may have come before anybody waited.
        if not await pool.fetch(look, [job_id]):
            await asyncio.wait_for(event.wait(), PATIENCE_SECONDS)
    finally:
        waiting.end(job_id)
    return "done"


async def stored(ids: list[str]) -> list[str]:
    rows = await pool.fetch(look, [int(job_id) for job_id in ids])
    return [str(row["job_id"]) for row in rows]


app = front(lifespan, submit, str, wait, stored)

if __name__ == "__main__":
    uvloop.run(work() if "worker" in sys.argv else create())
