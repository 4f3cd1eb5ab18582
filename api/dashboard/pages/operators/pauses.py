"""Pauses: forms of several pages that pause a queue, a kind, a provider or an account, and resume it."""

import falcon.asgi

from api.dashboard.forms import Form, read_form
from api.dashboard.rendering import is_page, redirect
from api.services.resource import Resource
from pipeline.errors import InvalidRequest, PressroomError
from pipeline.log import get_logger
from pipeline.operations.pauses import check_pause, list_providers, pause, resume

log = get_logger(__name__)

PATH = "/dashboard/operators/pauses"


class Pauses(Resource):
    """POST /dashboard/operators/pauses."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Pause or resume, and lead back to the page of the form."""
        session = await self._services.sessions.require_operator(req, resp)
        form = await read_form(req, session)
        back = form.text("back")
        path = back if is_page(back) else "/dashboard/operators/queues"
        scope, name = form.text("scope"), form.text("name")
        try:
            text = await self._change(form, scope, name)
        except PressroomError as error:
            redirect(req, resp, path, error.message, "bad")
            return
        req.context.renderer.notices.forget()
        log.info("pause changed", change=form.text("change"), scope=scope, name=name, by=str(session.account_id))
        redirect(req, resp, path, text)

    async def _change(self, form: Form, scope: str, name: str) -> str:
        """Return what was done. Raises InvalidRequest."""
        services = self._services
        match form.text("change"):
            case "pause":
                providers = await services.database.run(list_providers(services.settings))
                check_pause(services.kinds, providers, scope, name, reason := form.text("reason"))
                await services.database.run(pause(scope, name, reason))
                return f"The {scope} is paused. Items that run finish; jobs still end at their deadlines."
            case "resume":
                await services.database.run(resume(scope, name))
                return f"The {scope} goes on."
            case other:
                raise InvalidRequest(f"There is no change {other[:20]!r}.")


RESOURCES = {PATH: Pauses}
