"""App: the HTTP service, built from what it is given; tests give their own."""

from importlib.metadata import version
from typing import Any

import falcon
import falcon.asgi
import redis.asyncio
from falcon.routing import map_http_methods

from api.account import KeyVerification, Usage
from api.errors import add_handlers
from api.events import JobEvents
from api.families import load_families
from api.files import Files
from api.health import Alive, Exposition, Ready
from api.job_resources import JobCancellation, JobList, JobResource, JobResult
from api.middleware import RequestMiddleware
from api.openapi.document import make_document
from api.pages import Docs, OpenApi
from api.request_context import context_of
from api.services import Services
from api.streamed_work import StreamedWork
from api.work import Work
from pipeline.artifacts import Artifacts
from pipeline.database import AsyncDatabase
from pipeline.kinds import Kinds
from pipeline.settings import Settings


class RoutingMiddleware:
    """Notes the path template of each request; refuses methods that HTTP does not have."""

    async def process_resource(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, resource: object, params: dict[str, str]
    ) -> None:
        """Note the request, and the path's template, which is what metrics count by.

        Raises HTTPMethodNotAllowed, where Falcon would answer 400."""
        resp.context.request = req  # links in the answer lead to where it was sent
        context_of(req).route = req.uri_template or "unmatched"
        if req.method not in falcon.COMBINED_METHODS:
            raise falcon.HTTPMethodNotAllowed([*sorted(map_http_methods(resource)), "OPTIONS"])


def create_app(
    settings: Settings,
    *,
    database: AsyncDatabase,
    client: "redis.asyncio.Redis",
    artifacts: Artifacts,
    kinds: Kinds,
) -> RequestMiddleware:
    """Return the ASGI application."""
    services = Services(settings, database=database, client=client, artifacts=artifacts, kinds=kinds)
    middleware: list[Any] = [services, RoutingMiddleware()]
    app: falcon.asgi.App[Any, Any] = falcon.asgi.App(middleware=middleware)
    add_handlers(app, services)
    families = load_families()
    work = {route: resource for family in families for route, resource in family.WORK.items()}
    for kind in kinds.values():
        for route in kind.routes:
            resource = work.get(route, StreamedWork if kind.streams else Work)
            app.add_route(route, resource(services, kind, route))
    for family in families:
        for path, extra in family.resources(services).items():
            app.add_route(path, extra)
    app.add_route("/jobs", JobList(services))
    app.add_route("/jobs/{job_id}", JobResource(services))
    app.add_route("/jobs/{job_id}/result", JobResult(services))
    app.add_route("/jobs/{job_id}/events", JobEvents(services))
    app.add_route("/jobs/{job_id}/cancel", JobCancellation(services))
    app.add_route("/files/{name}", Files(services))
    app.add_route("/verify-key", KeyVerification(services))
    app.add_route("/usage", Usage(services))
    app.add_route("/healthz", Alive())
    app.add_route("/readyz", Ready(services))
    app.add_route("/metrics", Exposition(services))
    more = {path: methods for family in families for path, methods in family.PATHS.items()}
    models = [model for family in families for model in family.MODELS]
    document = make_document(kinds, more, models, version=version("pressroom"))
    app.add_route("/openapi.json", OpenApi(document))
    app.add_route("/docs", Docs(document))
    return RequestMiddleware(app, services.metrics, drain=services.waiting.drain)
