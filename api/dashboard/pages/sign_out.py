"""Sign out: the session ends here and at the server."""

import falcon.asgi

from api.dashboard.forms import read_form
from api.dashboard.rendering import redirect
from api.services.resource import Resource
from api.services.sessions import SIGN_IN


class SignOut(Resource):
    """POST /dashboard/sign-out."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """End the session."""
        sessions = self._services.sessions
        await read_form(req, await sessions.require(req, resp))
        await sessions.end(req, resp)
        redirect(req, resp, SIGN_IN, "You are signed out.")


RESOURCES = {"/dashboard/sign-out": SignOut}
