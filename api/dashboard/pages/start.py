"""Start: the first page of a service: what it is, and where to go. Programs that ask for JSON get that."""

from importlib.metadata import version

import falcon
import falcon.asgi

from api.dashboard.rendering import render
from api.http.address import base_url
from api.services.resource import Resource
from api.work.answers import show_json

IS_PUBLIC = True


class Start(Resource):
    """GET /."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        resp.append_header("Vary", "Accept")
        if _wants_page(req):
            await render(req, resp, "start.html", address=base_url(req, self._services.proxies))
            return
        show_json(
            resp,
            {
                "service": "Pressroom",
                "version": version("pressroom"),
                "docs": "/docs",
                "openapi": "/openapi.json",
                "dashboard": "/dashboard",
                "health": "/healthz",
                "ready": "/readyz",
            },
        )


RESOURCES = {"/": Start}


def _wants_page(req: falcon.asgi.Request) -> bool:
    """Return whether HTML is asked for by name: curl and clients ask for anything, and can't read pages."""
    return "text/html" in (req.accept or "") and req.client_prefers(("text/html", "application/json")) == "text/html"
