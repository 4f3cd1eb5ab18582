"""Guard: nobody reaches a page who may not, whatever the page itself forgets."""

from collections.abc import Mapping
from enum import Enum, auto

import falcon.asgi

from api.dashboard.rendering import Renderer
from api.services.permissions import require_role
from api.services.services import Services


class Access(Enum):
    """The readers allowed at a path."""

    PUBLIC = auto()
    SIGNED_IN = auto()
    OPERATORS = auto()


class Guard:
    """A Falcon middleware that looks who is signed in, and in which role, before a page's resource is called."""

    def __init__(self, services: Services, access: Mapping[str, Access], renderer: Renderer) -> None:
        self._services = services
        self._access = access
        self._renderer = renderer

    async def process_resource(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, resource: object, params: dict[str, str]
    ) -> None:
        """Let a request pass, or raise HTTPSeeOther to the page for signing in, or Forbidden."""
        access = self._access.get(req.uri_template or "")
        if access is None:
            return
        req.context.renderer = self._renderer
        sessions = self._services.sessions
        if access is Access.PUBLIC:
            return
        asked = sessions.require_operator if access is Access.OPERATORS else sessions.require
        require_role(await asked(req, resp), req.method, req.uri_template or "")
