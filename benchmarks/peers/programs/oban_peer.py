"""Oban for Python: it keeps no results that may be waited for, so the worker writes its own."""

import asyncio
import importlib.machinery
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import uvloop
from asgi_front import PATIENCE_SECONDS, front
from pg_results import CHANNEL, KEEP, STORED, TABLE, Waiting
from starlette.applications import Starlette
from work import carry_out_async


class _Older(importlib.machinery.SourceFileLoader):
    """Reads a module of Oban as Python 3.11 writes it: Oban asks for 3.12, for one line alone."""

    def get_data(self, path: str) -> bytes:
        return super().get_data(path).replace(b"type Result[T] = ", b"Result = ")


if sys.version_info < (3, 12):
    spec = importlib.machinery.PathFinder.find_spec("oban")
    assert spec is not None
    (folder,) = spec.submodule_search_locations or ()
    sys.path_importer_cache[folder] = importlib.machinery.FileFinder(folder, (_Older, [".py"]))

from oban import Oban, worker  # noqa: E402
from oban.schema import install  # noqa: E402

URL = os.environ["DATABASE_URL"]
keep = KEEP.format(job_id="%(job_id)s", value="%(value)s")
look = STORED.format(ids="%(ids)s")
waiting = Waiting()
pool: Any


@worker(queue="default")
class Finish:
    async def process(self, job: Any) -> None:
        value = await carry_out_async(**job.args)
        async with pool.connection() as connection:
            await connection.execute(keep, {"job_id": job.id, "value": json.dumps(value)})


async def work() -> None:
    """Run a worker, as `oban start` does."""
    global pool
    pool = await Oban.create_pool(URL, min_size=4, max_size=10)
    async with Oban(pool=pool, queues={"default": 10}):
        await asyncio.Event().wait()


async def create() -> None:
    """Make the tables."""
    pool = await Oban.create_pool(URL)
    await install(pool)
    async with pool.connection() as connection:
        await connection.execute(TABLE)
    await pool.close()


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    global pool
    pool = await Oban.create_pool(URL, min_size=4, max_size=10)
    async with Oban(pool=pool):
        listening = asyncio.create_task(_listen())
        yield
        listening.cancel()


async def _listen() -> None:
    async with await psycopg.AsyncConnection.connect(URL, autocommit=True) as connection:
        await connection.execute(f"LISTEN {CHANNEL}")
        async for notice in connection.notifies():
            waiting.told(notice.payload)


async def submit(name: str, seconds: float) -> int:
    job = await Finish.enqueue({"name": name, "seconds": seconds})
    return int(job.id)


async def wait(job_id: int) -> Any:
    event = waiting.begin(job_id)
    try:
        # The notice may have come before anybody waited.
        if not await stored([str(job_id)]):
            await asyncio.wait_for(event.wait(), PATIENCE_SECONDS)
    finally:
        waiting.end(job_id)
    return "done"


async def stored(ids: list[str]) -> list[str]:
    async with pool.connection() as connection:
        rows = await (await connection.execute(look, {"ids": [int(job_id) for job_id in ids]})).fetchall()
    return [str(job_id) for (job_id,) in rows]


app = front(lifespan, submit, str, wait, stored)

if __name__ == "__main__":
    import oban_peer  # jobs know their worker by this module's name

    uvloop.run(oban_peer.work() if "worker" in sys.argv else create())
