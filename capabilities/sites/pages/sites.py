"""Sites: an account's sites, and the form that adds one."""

from uuid import UUID

import falcon
import falcon.asgi

from api.dashboard.forms import Form, read_form
from api.dashboard.rendering import redirect, render
from api.services.resource import Resource
from api.services.services import Services
from capabilities.sites import sites
from capabilities.sites.sites import Site
from pipeline.errors import InvalidRequest, PressroomError

ROOT = "/dashboard/sites"


class SitesPage(Resource):
    """GET and POST /dashboard/sites."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with the page."""
        await self._show(req, resp, Form())

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Look the site up, and store it."""
        session = await self._services.sessions.require(req, resp)
        form = await read_form(req, session)
        try:
            address = sites.read_address(form.text("url"))
            connector = form.text("connector")
            if connector not in sites.LOGINS:
                raise InvalidRequest("Choose WordPress, Ghost, or feed or sitemap.")
            login = {name: form.text(name) for name in sites.LOGINS[connector]}
            if not all(login.values()):
                raise InvalidRequest("Enter a user name and application password for WordPress, or a key for Ghost.")
            facts, sealed = await sites.look_up(self._services.settings, connector, address, login)
        except PressroomError as error:
            resp.status = error.status
            await self._show(req, resp, form, error.message)
            return
        given = (session.account_id, sites.name_of(address), connector, address, sealed, facts, session.caller.actor)
        site_id, _ = await self._services.database.run_together(sites.add_site(*given))
        redirect(req, resp, f"{ROOT}/{site_id}", f"{facts.title or sites.name_of(address)} was added.")

    async def _show(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, form: Form, error: str = "") -> None:
        session = await self._services.sessions.require(req, resp)
        own = await self._services.database.run(sites.list_sites(session.account_id))
        await render(req, resp, "publishing_sites.html", sites=own, form=form, error=error, root=ROOT)


async def find_own(services: Services, account_id: UUID, site_id: str) -> Site:
    """Return a site of an account. Raises HTTPNotFound."""
    own = await services.database.run(sites.list_sites(account_id))
    found = next((one for one in own if str(one.id) == site_id), None)
    if found is None:
        raise falcon.HTTPNotFound(description="There is no such site.")
    return found
