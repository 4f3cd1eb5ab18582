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
from api.families.index_check.resources import IndexJobExport, IndexJobResource, IndexJobs, IndexJobUrls, IndexRetry
from api.families.speech import Voices
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

#: Routes of kinds that answer more than POST.
RESOURCES: dict[str, type[Work]] = {"/indexing/jobs": IndexJobs}


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
    for kind in kinds.values():
        for route in kind.routes:
            resource = RESOURCES.get(route, StreamedWork if kind.streams else Work)
            app.add_route(route, resource(services, kind, route))
    index_check = kinds["index_check"]
    app.add_route("/indexing/jobs/{job_id}", IndexJobResource(services))
    app.add_route("/indexing/jobs/{job_id}/urls", IndexJobUrls(services))
    app.add_route("/indexing/jobs/{job_id}/export", IndexJobExport(services))
    app.add_route("/indexing/jobs/{job_id}/retry", IndexRetry(services, index_check, "/indexing/jobs/{job_id}/retry"))
    app.add_route("/tts/voices", Voices(services))
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
    document = make_document(kinds, version=version("pressroom"))
    app.add_route("/openapi.json", OpenApi(document))
    app.add_route("/docs", Docs(document))
    return RequestMiddleware(app, services.metrics, drain=services.waiting.drain)
