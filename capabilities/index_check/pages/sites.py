"""Sites: an account's access to Search Console and Bing Webmaster Tools, connected and disconnected."""

import asyncio
from typing import Any
from uuid import UUID

import falcon
import falcon.asgi

from api.dashboard.forms import Form, read_form
from api.dashboard.rendering import redirect, render
from api.services.resource import Resource
from capabilities.index_check.connecting import (
    TITLES,
    connected_sites,
    connecting,
    find_sites,
    read_service_account,
)
from capabilities.index_check.sites import connections, site_quota
from capabilities.index_check.sites.connections import SEARCH_CONSOLE, list_connections
from pipeline.errors import InvalidRequest, PressroomError

PATH = "/dashboard/indexing/sites"


class SitesPage(Resource):
    """GET and POST /dashboard/indexing/sites."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        await self._show(req, resp)

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Connect the sites that a key gives access to, or disconnect those of a connection."""
        session = await self._services.sessions.require(req, resp)
        form = await read_form(req, session)
        if form.text("action") == "disconnect":
            await self._disconnect(req, resp, session.account_id, form)
            return
        service = form.text("service")
        try:
            sites = await self._connect(session.account_id, service, form.text("key"))
        except PressroomError as error:
            resp.status = error.status
            await self._show(req, resp, failed=service, error=error.message)
            return
        word = "site" if len(sites) == 1 else "sites"
        redirect(req, resp, PATH, f"{len(sites)} {word} connected: {TITLES[service]} is asked about them first.")

    async def _connect(self, account_id: UUID, service: str, key: str) -> list[str]:
        """Try a key at its service, and keep it. Returns the sites. Raises PressroomError."""
        if service not in TITLES or not key:
            raise InvalidRequest("Paste the key that the steps above give you.")
        settings = self._services.settings
        credentials = read_service_account(key) if service == SEARCH_CONSOLE else {"api_key": key}
        owner, sites = await asyncio.to_thread(find_sites, settings, service, credentials)
        await self._services.database.run(connecting(settings, account_id, service, owner, credentials, sites))
        return sites

    async def _disconnect(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, account_id: UUID, form: Form
    ) -> None:
        run = self._services.database.run
        own = await run(list_connections(account_id=account_id))
        found = next((one for one in own if str(one.id) == form.text("connection")), None)
        if found is None:
            raise falcon.HTTPNotFound(description="There is no such connection.")
        await run(connections.disconnect(found.id, found.service))
        redirect(req, resp, PATH, f"{found.name} is disconnected, and its key deleted.")

    async def _show(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, **values: Any) -> None:
        session = await self._services.sessions.require(req, resp)
        run = self._services.database.run
        own = await run(list_connections(account_id=session.account_id))
        statuses = await run(site_quota.list_site_statuses())
        sites = connected_sites(own, statuses, self._services.settings)
        await render(
            req, resp, "sites.html", connections=own, sites=sites, titles=TITLES, **{"failed": "", "error": ""} | values
        )
