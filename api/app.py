"""App: the HTTP service, built from what it is given; tests give their own."""

from collections.abc import Callable
from typing import Any

import falcon
import falcon.asgi
import redis.asyncio
from falcon.routing import map_http_methods

from api.capabilities import load_routes, load_try_pages
from api.dashboard import Dashboard, load_navigation
from api.http.address import Network, client_address
from api.http.answer_middleware import Compression, CrossOrigin
from api.http.middleware import RequestMiddleware
from api.http.request_context import context_of
from api.mcp.endpoint import PATH as MCP_PATH
from api.mcp.endpoint import McpEndpoint, McpGate
from api.openapi.document import describe_service, operations
from api.openapi.pages import Docs, OpenApi
from api.openapi.reference.calls import methods_of
from api.routes import RESOURCES
from api.services.errors import add_handlers
from api.services.key_routes import limitable_routes
from api.services.services import Services
from api.work.streamed_work import StreamedWork
from api.work.work import Work
from pipeline.accounts.audit import ADDRESS
from pipeline.database import AsyncDatabase
from pipeline.registry import Kinds, own_kinds
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts


class RoutingMiddleware:
    """Notes the path template of each request, and its address; refuses methods that HTTP does not have."""

    def __init__(self, proxies: list[Network]) -> None:
        self._proxies = proxies

    async def process_resource(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, resource: object, params: dict[str, str]
    ) -> None:
        """Note the request, and the path's template, which is what metrics count by.

        Raises HTTPMethodNotAllowed, where Falcon would answer 400."""
        resp.context.request = req  # links in the answer lead to where it was sent
        context_of(req).route = req.uri_template or "unmatched"
        ADDRESS.set(client_address(req, self._proxies))
        if req.method not in falcon.COMBINED_METHODS:
            raise falcon.HTTPMethodNotAllowed([*sorted(map_http_methods(resource)), "OPTIONS"])


def import_parts() -> None:
    """Import all families, kinds and pages of this project, as `create_app` does."""
    own_kinds()
    load_routes()
    load_navigation()


def create_app(
    settings: Settings,
    *,
    database: AsyncDatabase,
    client: "redis.asyncio.Redis",
    artifacts: Artifacts,
    kinds: Kinds,
) -> RequestMiddleware:
    services = Services(settings, database=database, client=client, artifacts=artifacts, kinds=kinds)
    dashboard = Dashboard(services)
    compression = Compression(from_bytes=settings.api.compress_from_bytes)
    middleware: list[Any] = [services, RoutingMiddleware(services.proxies), dashboard.guard, compression]
    if settings.api.cors_origins:
        middleware.append(CrossOrigin(settings.api.cors_origins))
    app: falcon.asgi.App[Any, Any] = falcon.asgi.App(middleware=middleware)
    add_handlers(app, services, pages=dashboard.renderer)
    families = load_routes()
    work = {route: resource for family in families for route, resource in getattr(family, "WORK", {}).items()}
    for kind in kinds.values():
        for route in kind.routes:
            resource = work.get(route, StreamedWork if kind.streams else Work)
            app.add_route(route, resource(services, kind, route))
    resources: dict[str, Callable[[Services], object]] = dict(RESOURCES)
    for family in families:
        services.error_forms |= getattr(family, "ERROR_FORMS", {})
        resources |= family.RESOURCES
    for path, build in resources.items():
        app.add_route(path, build(services))
    for path, page in dashboard.resources.items():
        app.add_route(path, page)
    document = describe_service(kinds, families)
    services.key_routes = limitable_routes(operations(document))
    app.add_route("/openapi.json", OpenApi(document))
    app.add_route("/docs", Docs(document, methods_of(document, kinds, load_try_pages()), dashboard.renderer))
    app.add_route(MCP_PATH, McpGate(services))
    endpoint = McpEndpoint(app, services)
    service = RequestMiddleware(endpoint, services.metrics, services.tracer, drain=services.waiting.drain)
    endpoint.service = service
    return service
