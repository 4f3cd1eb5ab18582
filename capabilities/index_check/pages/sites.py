"""Sites: an account's access to Search Console, connected and disconnected."""

import asyncio
import hashlib
import hmac
from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

import falcon
import falcon.asgi

from api.dashboard.forms import Form, read_form
from api.dashboard.rendering import redirect, render
from api.http.address import base_url
from api.services.resource import Resource
from api.services.services import Services
from capabilities.index_check.connecting import (
    connected_sites,
    connecting,
    find_sites,
    read_service_account,
    service_errors,
)
from capabilities.index_check.settings import SearchSettings
from capabilities.index_check.sites import connections, site_quota
from capabilities.index_check.sites.connections import Connection, list_connections
from pipeline.accounts.audit import Action, Actor, note
from pipeline.accounts.sessions import make_token
from pipeline.errors import Forbidden, InvalidRequest, PressroomError
from pipeline.settings import Settings

if TYPE_CHECKING:
    from capabilities.index_check.engines.search.owners.google_access import BrowserConsent

PATH = "/dashboard/indexing/sites"
#: Where Google sends a person back; an OAuth client lists it.
RETURN = f"{PATH}/google/return"
#: Stands for a person who has consented, with a number from the second on: the scope has no address of theirs.
CONSENTED = "Google account"
#: Proves that whoever returns from Google is who went there, and is the verifier of PKCE.
VISIT_COOKIE = "pressroom_consent"
VISIT_LASTS = timedelta(minutes=15)


class SitesBase(Resource):
    """A page about the account's sites."""

    async def _connect(self, actor: Actor, credentials: dict[str, Any], *, is_consent: bool = False) -> str:
        """Try credentials at their service, keep them, and say so. Raises PressroomError."""
        settings = self._services.settings
        owner, sites = await asyncio.to_thread(find_sites, settings, credentials)
        if is_consent:
            own = await self._services.database.run(list_connections(account_id=actor.account_id))
            owner = consented_name(own, sites)
        kept = connecting(settings, actor.account_id, owner, credentials, sites)
        noting = note(actor, Action.SITE_CHANGED, owner, site="connected")
        await self._services.database.run_together([kept, noting])
        word = "site" if len(sites) == 1 else "sites"
        return f"{len(sites)} {word} connected: Google Search Console is asked about them first."

    async def _show(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, **values: Any) -> None:
        session = await self._services.sessions.require(req, resp)
        run = self._services.database.run
        own = await run(list_connections(account_id=session.account_id))
        statuses = await run(site_quota.list_site_statuses())
        settings = self._services.settings
        await render(
            req,
            resp,
            "sites.html",
            connections=own,
            sites=connected_sites(own, statuses, settings),
            may_consent=settings.of(SearchSettings).search_console.client_id is not None,
            **{"error": ""} | values,
        )


class SitesPage(SitesBase):
    """GET and POST /dashboard/indexing/sites."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        await self._show(req, resp)

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Connect the sites that a key gives access to, or disconnect those of a connection."""
        session = await self._services.sessions.require(req, resp)
        form = await read_form(req, session)
        if form.text("action") == "disconnect":
            await self._disconnect(req, resp, session.caller.actor, form)
            return
        key = form.text("key")
        try:
            if not key:
                raise InvalidRequest("Paste the key that the steps above give you.")
            said = await self._connect(session.caller.actor, read_service_account(key))
        except PressroomError as error:
            resp.status = error.status
            await self._show(req, resp, error=error.message)
            return
        redirect(req, resp, PATH, said)

    async def _disconnect(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, actor: Actor, form: Form) -> None:
        run = self._services.database.run
        own = await run(list_connections(account_id=actor.account_id))
        found = next((one for one in own if str(one.id) == form.text("connection")), None)
        if found is None:
            raise falcon.HTTPNotFound(description="There is no such connection.")
        noting = note(actor, Action.SITE_CHANGED, found.name, site="disconnected")
        await self._services.database.run_together([connections.disconnect(found.id), noting])
        redirect(req, resp, PATH, f"{found.name} is disconnected, and its key deleted.")


class Consent(SitesBase):
    """GET /dashboard/indexing/sites/google."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        visit = make_token()
        self._services.cookies.write(req, resp, VISIT_COOKIE, visit, lasts=VISIT_LASTS)
        address = return_address(self._services, req)
        consent = await asyncio.to_thread(_consent, self._services.settings, address, visit)
        redirect(req, resp, consent.url(state_of(visit)))


class ConsentReturn(SitesBase):
    """GET /dashboard/indexing/sites/google/return."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Connect the sites of who has consented at Google. Raises Forbidden for who did not go there from here."""
        session = await self._services.sessions.require(req, resp)
        visit, code = self._services.cookies.read(req, VISIT_COOKIE), req.get_param("code")
        if visit is None or not hmac.compare_digest(state_of(visit), req.get_param("state") or ""):
            raise Forbidden("This link was not made for this browser. Connect again.", code="consent_not_asked_for")
        self._services.cookies.delete(req, resp, VISIT_COOKIE)
        address = return_address(self._services, req)
        try:
            if not code:
                raise InvalidRequest("Google gave no access. Connect again, and allow it there.")
            consent = await asyncio.to_thread(_consent, self._services.settings, address, visit)
            with service_errors():
                credentials = await asyncio.to_thread(consent.credentials, code)
            said = await self._connect(session.caller.actor, credentials, is_consent=True)
        except PressroomError as error:
            resp.status = error.status
            await self._show(req, resp, error=error.message)
            return
        redirect(req, resp, PATH, said)


def _consent(settings: Settings, address: str, visit: str) -> "BrowserConsent":
    from capabilities.index_check.engines.search.owners.google_access import BrowserConsent

    return BrowserConsent(settings.of(SearchSettings), address, visit)


def consented_name(own: Sequence[Connection], sites: Sequence[str]) -> str:
    """Return the name of the person's connection, which shares a site, or a new one: others' connections stay."""
    known = {one.name: one.properties for one in own if one.name.startswith(CONSENTED)}
    free = next(one for n in count(1) if (one := CONSENTED if n == 1 else f"{CONSENTED} {n}") not in known)
    return next((name for name, properties in known.items() if not {*sites}.isdisjoint(properties)), free)


def state_of(visit: str) -> str:
    """Return the state that Google sends back with a visit; the visit itself stays here."""
    return hashlib.sha256(f"state {visit}".encode()).hexdigest()


def return_address(services: Services, req: falcon.asgi.Request) -> str:
    return (services.settings.api.public_url or base_url(req, services.proxies)).rstrip("/") + RETURN
