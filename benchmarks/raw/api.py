"""The raw API: insert a row, enqueue a message, and wait for a notice unless told not to."""

import asyncio
import os
from typing import Any
from uuid import UUID, uuid4

import falcon.asgi
import redis.asyncio
from dramatiq import Message
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool

from benchmarks.raw.names import ACTOR, CHANNEL, INSERT, QUEUE


class Jobs:
    """POST of a job."""

    def __init__(self, database_url: str, redis_url: str) -> None:
        self._pool = AsyncConnectionPool(
            database_url, kwargs={"autocommit": True, "prepare_threshold": 2}, min_size=8, max_size=8, open=False
        )
        self._redis = redis.asyncio.Redis.from_url(redis_url, max_connections=1_000)
        self._waiting: dict[UUID, asyncio.Future[None]] = {}

    async def process_startup(self, scope: dict[str, Any], event: dict[str, Any]) -> None:
        await self._pool.open()
        self._listener = asyncio.create_task(self._listen())

    async def process_shutdown(self, scope: dict[str, Any], event: dict[str, Any]) -> None:
        self._listener.cancel()
        await self._pool.close()

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        request = await req.get_media()
        job_id = uuid4()
        if req.get_header("Prefer") == "respond-async":
            await self._submit(job_id, request)
            resp.status = 202
            resp.media = {"id": str(job_id), "state": "queued"}
            return
        ended = self._waiting[job_id] = asyncio.get_running_loop().create_future()
        try:
            await self._submit(job_id, request)
            await ended
        finally:
            del self._waiting[job_id]
        resp.media = {"id": str(job_id), "state": "done"}

    async def _submit(self, job_id: UUID, request: Any) -> None:
        async with self._pool.connection() as connection:
            await connection.execute(INSERT, (job_id, Jsonb(request)))
        # Does as RedisBroker.enqueue, without its script: two commands in one round trip.
        message_id = str(uuid4())
        message = Message(QUEUE, ACTOR, (str(job_id),), {}, {"redis_message_id": message_id})
        pipe = self._redis.pipeline(transaction=False)
        pipe.hset(f"dramatiq:{QUEUE}.msgs", message_id, message.encode())
        pipe.rpush(f"dramatiq:{QUEUE}", message_id)
        await pipe.execute()

    async def _listen(self) -> None:
        async with self._redis.pubsub(ignore_subscribe_messages=True) as pubsub:
            await pubsub.subscribe(CHANNEL)
            async for message in pubsub.listen():
                ended = self._waiting.get(UUID(bytes=message["data"]))
                if ended is not None and not ended.done():
                    ended.set_result(None)


def __getattr__(name: str) -> falcon.asgi.App[Any, Any]:
    """Build `app` in the worker that asks for it."""
    if name != "app":
        raise AttributeError(name)
    jobs = Jobs(os.environ["DATABASE_URL"], os.environ["REDIS_URL"])
    app: falcon.asgi.App[Any, Any] = falcon.asgi.App(middleware=[jobs])
    app.add_route("/jobs", jobs)
    return app
