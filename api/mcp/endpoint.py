"""Endpoint: /mcp, streamable HTTP beside Falcon in the same process, for keys as everywhere."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import falcon.asgi

from api.http.request_context import context_of
from api.services.auth import header_key
from api.services.resource import Resource
from api.services.services import Services
from pipeline.errors import Unauthorized

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from api.mcp.calls import Calls

PATH = "/mcp"
#: Headers of the assistant's request that a tool's requests have, too: who asks, and through which proxies.
PASSED_ON = frozenset(
    (b"authorization", b"x-api-key", b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host", b"traceparent")
)

Asgi = Callable[[Any, Any, Any], Awaitable[None]]


class McpGate(Resource):
    """POST /mcp without a valid key: refused in the form of the API's other errors."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Refuse the request. Raises Unauthorized, AccountSuspended, RateLimitExceeded."""
        await self._services.authenticate(req, header_key(req))
        raise Unauthorized


class McpEndpoint:
    """An ASGI application that serves POST /mcp and passes everything else on.

    `service` answers the requests of tools: the whole application, with its log and metrics. The library is imported
    at the first request: it takes 33 MB, which most processes never need."""

    def __init__(self, application: Asgi, services: Services) -> None:
        self._application = application
        self._services = services
        self.service: Asgi = application
        self._manager: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Serve one request, or the lifespan."""
        if await self._is_ours(scope, receive):
            if self._manager is None:
                self._manager = asyncio.get_running_loop().create_future()
                self._running = asyncio.create_task(self._run(self._manager))
                self._running.add_done_callback(self._forget)
            await (await asyncio.shield(self._manager)).handle_request(scope, receive, send)
            return
        await self._application(scope, receive, send)
        if scope["type"] == "lifespan" and self._running is not None:
            self._running.cancel()

    async def _is_ours(self, scope: dict[str, Any], receive: Any) -> bool:
        """Return whether a request is for assistants, and has a key; Falcon refuses the others."""
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            return False
        req = falcon.asgi.Request(scope, receive)
        caller = await self._services.authenticator.find(header_key(req))
        if caller is None or caller.is_suspended:
            return False
        context = context_of(req)
        context.route, context.caller = PATH, caller
        return True

    async def _run(self, started: "asyncio.Future[StreamableHTTPSessionManager]") -> None:
        manager = await asyncio.to_thread(self._load)
        async with manager.run():
            started.set_result(manager)
            await asyncio.Event().wait()

    def _forget(self, running: "asyncio.Task[None]") -> None:
        """Fail the requests that wait for a library that could not be loaded; the next one tries again."""
        waited, self._manager = self._manager, None
        if waited is not None and not waited.done() and not running.cancelled() and (error := running.exception()):
            waited.set_exception(error)

    def _load(self) -> "StreamableHTTPSessionManager":
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from api.mcp.server import Assistance

        return StreamableHTTPSessionManager(Assistance(self._calls).server(), stateless=True)

    def _calls(self, context: "ServerRequestContext[Any, Any]") -> "Calls":
        import httpx2

        from api.mcp.calls import Calls

        scope: dict[str, Any] = context.request.scope  # type: ignore[union-attr]  # it has one over HTTP
        headers = [(name, value) for name, value in scope["headers"] if name in PASSED_ON]
        host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "localhost")
        transport = httpx2.ASGITransport(self.service, client=tuple(scope["client"] or ("", 0)))
        client = httpx2.AsyncClient(
            transport=transport, base_url=f"{scope['scheme']}://{host}", headers=headers, timeout=None
        )
        return Calls(client)
