"""Log: what people and keys have done in the account, with a filter, and as CSV."""

from collections.abc import AsyncIterator
from urllib.parse import parse_qsl, urlencode
from uuid import UUID

import falcon.asgi

from api.accounts.audit import BEFORE, read_wanted
from api.accounts.usage.documents import csv_lines
from api.dashboard.rendering import drop_blanks, render
from api.services.resource import Resource
from pipeline.accounts.audit import COLUMNS, Action, Wanted, cells, list_events, note
from pipeline.database import AsyncDatabase

PATH = "/dashboard/people/log"
LINES = 50
EXPORTED_AT_ONCE = 1_000
FIELDS = ("q", "action", "from", "to")


class Log(Resource):
    """GET /dashboard/people/log."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require(req, resp)
        drop_blanks(req)
        listing = list_events(session.account_id, read_wanted(req), before=BEFORE.read(req), limit=LINES)
        events = await self._services.database.run(listing)
        filters = urlencode([(name, value) for name, value in parse_qsl(req.query_string) if name != "before"])
        older = f"{PATH}?{filters}&before={events[-1].id}" if len(events) == LINES else None
        await render(
            req,
            resp,
            "people/log.html",
            events=events,
            sent={name: req.get_param(name) or "" for name in FIELDS},
            actions=[("", "Anything"), *((one.value, one.value) for one in Action)],
            export=f"{PATH}/export?{filters}".rstrip("?"),
            older=older,
        )


class LogExport(Resource):
    """GET /dashboard/people/log/export."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require(req, resp)
        wanted = read_wanted(req)
        await self._services.database.run(note(session.caller.actor, Action.EXPORTED, "log"))
        resp.content_type = "text/csv; charset=utf-8"
        resp.set_header("Content-Disposition", "attachment; filename=log.csv")
        resp.stream = _csv(self._services.database, session.account_id, wanted)


async def _csv(database: AsyncDatabase, account_id: UUID, wanted: Wanted) -> AsyncIterator[bytes]:
    """Yield the log page by page, newest first, so that no transaction outlives a page."""
    yield csv_lines([COLUMNS])
    before = None
    while events := await database.run(list_events(account_id, wanted, before=before, limit=EXPORTED_AT_ONCE)):
        yield csv_lines(cells(events))
        before = events[-1].id


RESOURCES = {PATH: Log, f"{PATH}/export": LogExport}
