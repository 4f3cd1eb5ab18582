"""Stop notices: the link in each mail. A mail program posts to it (RFC 8058); a person presses the button.

Neither signs in: the token is the choice's own, and all it can do is to end that choice."""

from uuid import UUID

import falcon
import falcon.asgi

from api.dashboard.rendering import render
from api.services.resource import Resource
from pipeline.errors import NotFound
from pipeline.notices.choices import end_choice, find_choice
from pipeline.notices.sources import sources

PATH = "/dashboard/notices/stop"


class StopNotices(Resource):
    """GET and POST /dashboard/notices/stop?token=…"""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        choice = await self._services.database.run(find_choice(_token(req)))
        label = choice and (source := sources().get(choice["event"])) and source.label
        await render(req, resp, "stop_notices.html", choice=choice, label=label, token=req.get_param("token"))

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        await self._services.database.run(end_choice(_token(req)))
        await render(req, resp, "stop_notices.html", choice=None, label=None, token=None)


def _token(req: falcon.asgi.Request) -> UUID:
    try:
        return UUID(req.get_param("token") or "")
    except ValueError as error:
        raise NotFound("This link is not complete. Use it as it is in the e-mail.", code="link_invalid") from error


RESOURCES = {PATH: StopNotices}
