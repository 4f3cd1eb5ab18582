"""The HTTP front of peers whose clients are loops: Starlette, under uvicorn with uvloop and httptools."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

#: Seconds that a request waits for its job.
PATIENCE_SECONDS = 60


class Polling:
    """How often those look who can only look: every 2 ms alone, and the more who wait the less often each.

    Fixed intervals are either late for one client or, for 256, take the processor from the worker."""

    def __init__(self) -> None:
        self.waiting = 0

    @property
    def interval(self) -> float:
        """Seconds between two looks of one request."""
        return max(0.002, self.waiting * 0.000_4)

    def __enter__(self) -> "Polling":
        self.waiting += 1
        return self

    def __exit__(self, *raised: object) -> None:
        self.waiting -= 1


def front(
    lifespan: Callable[[Starlette], AbstractAsyncContextManager[None]],
    submit: Callable[[str, float], Awaitable[Any]],
    id_of: Callable[[Any], str],
    wait: Callable[[Any], Awaitable[Any]],
    stored: Callable[[list[str]], Awaitable[list[str]]],
) -> Starlette:
    """Return the application, made of what a peer does in its own way."""

    async def post(request: Request) -> JSONResponse:
        asked = await request.json()
        job = await submit(asked.get("name", ""), asked.get("seconds", 0))
        if request.headers.get("Prefer") == "respond-async":
            return JSONResponse({"id": id_of(job)}, 202)
        return JSONResponse({"id": id_of(job), "result": await wait(job)})

    async def look(request: Request) -> JSONResponse:
        return JSONResponse({"stored": await stored(await request.json()), "failed": []})

    routes = [Route("/jobs", post, methods=["POST"]), Route("/stored", look, methods=["POST"])]
    return Starlette(routes=routes, lifespan=lifespan)
