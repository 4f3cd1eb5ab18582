"""Site: what was found out about it, its runs, and buttons that begin one or forget the site."""

from typing import Any

import falcon.asgi

from api.dashboard.forms import read_form
from api.dashboard.rendering import redirect, render
from api.services.resource import Resource
from capabilities.sites import runs, sites
from capabilities.sites.changes import count_changes
from capabilities.sites.pages.sites import ROOT, find_own

#: Names of runs for people.
TASKS = {"alt_text": "Alt texts", "posts": "Posts"}


class SitePage(Resource):
    """GET and POST /dashboard/sites/{id}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, site_id: str) -> None:
        """Answer with the page."""
        session = await self._services.sessions.require(req, resp)
        site, run = await find_own(self._services, session.account_id, site_id), self._services.database.run
        found = await run(runs.list_runs(site.id))
        counted = [(one, await run(count_changes(one.id))) for one in found]
        await render(req, resp, "publishing_site.html", site=site, runs=counted, tasks=TASKS, root=ROOT)

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, site_id: str) -> None:
        """Begin a run, or forget the site."""
        session = await self._services.sessions.require(req, resp)
        form = await read_form(req, session)
        site, run = await find_own(self._services, session.account_id, site_id), self._services.database.run
        if form.text("action") == "remove":
            await run(sites.remove_site(site.id, session.account_id))
            redirect(req, resp, ROOT, f"{site.name} is forgotten, with its password.")
            return
        options: dict[str, Any] = {"language": language} if (language := form.text("language")) else {}
        begun, _ = await run(runs.start_run(site.id, "alt_text", options))
        redirect(req, resp, f"{ROOT}/{site.id}/runs/{begun.id}")
