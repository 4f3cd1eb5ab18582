"""Run: its proposals in a table, to be edited and accepted, and what became of each."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import falcon
import falcon.asgi

from api.dashboard.forms import Form, read_form
from api.dashboard.rendering import redirect, render
from api.http.parameters import OFFSET
from api.services.resource import Resource
from capabilities.sites import runs
from capabilities.sites.changes import PAGE, Change, count_changes, list_changes, review
from capabilities.sites.pages.site import TASKS
from capabilities.sites.pages.sites import ROOT, find_own
from capabilities.sites.parts import edited, shown
from capabilities.sites.runs import Run
from capabilities.sites.sites import Site
from models.sites import WORKING


class RunPage(Resource):
    """GET and POST /dashboard/sites/{id}/runs/{id}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, site_id: str, run_id: str) -> None:
        """Answer with the page."""
        site, run = await self._find(req, resp, site_id, run_id)
        read, offset = self._services.database.run, OFFSET.read(req)
        counts = await read(count_changes(run.id))
        here = f"{ROOT}/{site.id}/runs/{run.id}"
        await render(
            req,
            resp,
            "publishing_run.html",
            site=site,
            run=run,
            title=TASKS[run.task],
            counts=counts,
            changes=await read(list_changes(run.id, offset=offset)),
            shown=shown,
            is_working=run.state in WORKING and run.fault is None,
            here=here,
            offset=offset,
            previous=f"{here}?offset={max(0, offset - PAGE)}" if offset else None,
            next=f"{here}?offset={offset + PAGE}" if offset + PAGE < sum(counts.values()) else None,
        )

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, site_id: str, run_id: str) -> None:
        """Write the changes accepted on this page, skip the rest, go on after a fault, or undo."""
        session = await self._services.sessions.require(req, resp)
        form = await read_form(req, session)
        site, run = await self._find(req, resp, site_id, run_id)
        do = self._services.database.run
        match form.text("action"):
            case "write":
                known = {one.id: one for one in await do(list_changes(run.id, offset=OFFSET.read(req)))}
                await do(review(run.id, _decisions(form, known)))
                await do(runs.move(run.id, of=["review"], to="writing"))
            case "skip":
                await do(runs.skip_rest(run.id))
            case "undo":
                await do(runs.begin_undo(site.id, run.id))
            case "go_on" if run.fault:  # without one a sweep may be at work on it
                await do(runs.move(run.id, of=[run.state], to=run.state))
        redirect(req, resp, f"{ROOT}/{site.id}/runs/{run.id}")

    async def _find(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, site_id: str, run_id: str
    ) -> tuple[Site, Run]:
        session = await self._services.sessions.require(req, resp)
        site = await find_own(self._services, session.account_id, site_id)
        try:
            run = await self._services.database.run(runs.read_run(UUID(run_id)))
        except ValueError:
            run = None
        if run is None or run.site_id != site.id:
            raise falcon.HTTPNotFound(description="There is no such run.")
        return site, run


def _decisions(form: Form, known: Mapping[int, Change]) -> dict[int, Any]:
    """Return the ticked changes of a page, as edited there."""
    ticked = [int(number) for number in form.texts("accept") if number.isdecimal() and int(number) in known]
    return {
        number: edited(form.text(f"text-{number}"), known[number].proposed, known[number].field) for number in ticked
    }
