"""Pages: the OpenAPI document as JSON, and as a page to read and try routes."""

from collections.abc import Mapping
from typing import Any

import falcon
import falcon.asgi
from pydantic_core import to_json

from api.dashboard.rendering import HEADERS, Renderer
from api.openapi.reference.calls import Method
from api.openapi.reference.views import make_sections, shared_answers

CACHE_CONTROL = "public, max-age=300"


class OpenApi:
    """GET /openapi.json."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._body = to_json(document)

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with the OpenAPI document."""
        resp.content_type = falcon.MEDIA_JSON
        resp.cache_control = [CACHE_CONTROL]
        resp.data = self._body

    on_head = on_get


class Docs:
    """GET /docs: the same for everybody, so it is rendered once, cached and compressed."""

    def __init__(self, document: Mapping[str, Any], methods: Mapping[str, Method], renderer: Renderer) -> None:
        page = renderer.render_public(
            "docs.html",
            path="/docs",
            info=document["info"],
            sections=make_sections(document, methods),
            answers=shared_answers(document),
        )
        self._body = page.encode()

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with a page made of the OpenAPI document."""
        resp.content_type = falcon.MEDIA_HTML
        resp.set_headers(HEADERS)
        resp.cache_control = [CACHE_CONTROL]
        resp.data = self._body
        resp.context.is_public = True

    on_head = on_get
