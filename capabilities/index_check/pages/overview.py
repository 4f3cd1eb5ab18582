"""Overview: an account's monitors with what changed since, its last checks, and its connected sites."""

from datetime import UTC, datetime

import falcon.asgi

from api.dashboard.rendering import render
from api.http.parameters import OFFSET
from api.services.resource import Resource
from capabilities.index_check.monitors.monitor import list_monitors
from capabilities.index_check.pages.history import by_monitor, plot, read_tracks
from capabilities.index_check.results.jobs import IndexJob, list_index_jobs
from capabilities.index_check.sites.connections import list_connections
from pipeline.offers.offers import preferred_engines

ROOT = "/dashboard/indexing"
MONITORS = 25
CHECKS = 5
#: Lines that a plot can tell apart.
LINES = 6


class Overview(Resource):
    """GET /dashboard/indexing."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require(req, resp)
        run, account = self._services.database.run, session.account_id
        offset = OFFSET.read(req)
        monitors, total = await run(list_monitors(account, limit=MONITORS, offset=offset))
        found = await run(read_tracks(account))
        tracks = by_monitor(found)
        checks, _ = await run(
            list_index_jobs(
                account, providers=preferred_engines(self._services.settings, "search"), limit=CHECKS, offset=0
            )
        )
        today = datetime.now(UTC).date()
        named = {name_of(one.name, one.sitemap_url): tracks[one.id][0] for one in monitors if one.id in tracks}
        await render(
            req,
            resp,
            "indexing.html",
            monitors=[(one, tracks[one.id][0] if one.id in tracks else None) for one in monitors],
            name_of=name_of,
            today=today,
            plot=plot("Listed pages over time", dict(list(named.items())[:LINES])),
            checks=[IndexJob.of(one) for one in checks],
            sites=await run(list_connections(account_id=account)),
            previous=f"{ROOT}?offset={max(0, offset - MONITORS)}" if offset else None,
            next=f"{ROOT}?offset={offset + MONITORS}" if offset + MONITORS < total else None,
        )


def name_of(name: str | None, sitemap_url: str | None) -> str:
    return name or sitemap_url or "Pages"
