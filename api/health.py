"""Health: whether this process is alive and ready, and its metrics."""

import asyncio
from typing import Any

import falcon.asgi
from pydantic import BaseModel
from redis.exceptions import RedisError

from api.exposition import render
from api.http.operations import Operation, Reply
from api.services.resource import Resource
from api.work.answers import show_json
from pipeline import lifecycle
from pipeline.database import Statement
from pipeline.errors import ServiceUnavailable
from pipeline.operations.load import read_load
from pipeline.operations.metrics import HASH, Sum, read_sums
from pipeline.operations.pauses import read_pauses
from pipeline.operations.processes import HASH as PROCESSES
from pipeline.operations.processes import Process, read_processes
from pipeline.wakes.redis_away import REDIS_AWAY

TAG = "service"
#: A probe is answered within this time, whatever hangs.
PROBE_SECONDS = 2.0
PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8"


class Health(BaseModel):
    """The state of the process."""

    status: str


class Alive(Resource):
    """GET /healthz."""

    @Operation(
        id="get_healthz",
        tag=TAG,
        summary="Tell whether the process is alive.",
        replies={200: Reply("It is alive.", Health)},
        is_open=True,
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        show_json(resp, Health(status="alive"))


class Ready(Resource):
    """GET /readyz."""

    @Operation(
        id="get_readyz",
        tag=TAG,
        summary="Tell whether database, queue and migrations are ready.",
        replies={200: Reply("They are ready.", Health)},
        errors=(503,),
        is_open=True,
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        schema, queue = await asyncio.gather(self._schema(), self._queue())
        missing = [*schema, *queue]
        if self._services.waiting.is_draining:
            missing.append("the process is stopping")
        if missing:
            raise ServiceUnavailable(f"Missing: {', '.join(missing)}.", code="not_ready", missing=missing)
        show_json(resp, Health(status="ready"))

    async def _schema(self) -> list[str]:
        known = Statement(
            "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = %(schema)s) AS known",
            {"schema": lifecycle.SCHEMA},
            lambda rows: bool(rows[0]["known"]),
        )
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                return [] if await self._services.database.run(known) else ["migrations"]
        except (ServiceUnavailable, TimeoutError):
            return ["database"]

    async def _queue(self) -> list[str]:
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await self._services.client.ping()
        except (RedisError, OSError, TimeoutError):
            return ["queue"]
        return []


class Exposition(Resource):
    """GET /metrics."""

    @Operation(
        id="get_metrics",
        tag=TAG,
        summary="Return the metrics of all processes, for Prometheus.",
        replies={200: Reply("The metrics.", content=("text/plain",))},
        is_open=True,
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        kinds = self._services.kinds
        sums, load, processes, pauses = await asyncio.gather(
            self._sums(), self._read(read_load(kinds)), self._processes(), self._read(read_pauses())
        )
        resp.content_type = PROMETHEUS_TEXT
        resp.data = render(sums, load, processes, pauses or ())

    async def _sums(self) -> list[Sum]:
        try:
            await self._services.metrics.flush_async(self._services.client)
            return list(read_sums(await self._services.client.hgetall(HASH)))
        except REDIS_AWAY:
            return []

    async def _processes(self) -> list[Process]:
        try:
            return read_processes(await self._services.client.hgetall(PROCESSES))
        except REDIS_AWAY:
            return []

    async def _read(self, statement: Statement[Any]) -> Any:
        """Return the rows; None: the database is away."""
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                return await self._services.database.run(statement)
        except (ServiceUnavailable, TimeoutError):
            return None
