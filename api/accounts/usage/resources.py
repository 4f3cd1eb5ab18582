"""Usage resources: GET /usage and GET /usage/ledger."""

from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import falcon.asgi

from api.accounts.usage.documents import LEDGER_COLUMNS, LedgerEntry, UsageReport, csv_lines, ledger_cells
from api.http.queries import DAY, ParameterInvalid, read_choice, read_whole
from api.services.resource import Resource
from api.work.answers import show_json
from pipeline.database import AsyncDatabase
from pipeline.usage.usage import DAYS, read_usage
from pipeline.usage.usage_report import COLUMNS, By, DaySpan, read_ledger, read_used

#: Most days of a report.
MAX_DAYS = 366
#: Longest page of the ledger, and the pages of a CSV: as much is in memory.
MAX_LINES = 1_000
FORMATS = ("json", "csv")
CSV = "text/csv; charset=utf-8"
#: PostgreSQL's largest id.
MAX_ID = 9_999_999_999


def read_span(req: falcon.asgi.Request) -> DaySpan:
    """Return the days that a request names: by default the last 30. Raises ParameterInvalid."""
    today = datetime.now(UTC).date()
    last = _date(req, "to") or today
    first = _date(req, "from") or last - timedelta(days=min(DAYS - 1, (last - date.min).days))
    if not 0 <= (last - first).days < MAX_DAYS:
        raise ParameterInvalid("from", first.isoformat(), f"send a day before `to`, at most {MAX_DAYS - 1} days.")
    return DaySpan(first, min(last, date.max - timedelta(days=1)))


def _date(req: falcon.asgi.Request, name: str) -> date | None:
    text = req.get_param(name)
    if text is None:
        return None
    if DAY.fullmatch(text):
        with suppress(ValueError):  # there is no 30 February
            return date.fromisoformat(text)
    raise ParameterInvalid(name, text, "send a day such as 2026-05-31.")


def read_by(req: falcon.asgi.Request) -> By:
    """Return what a report is told apart by. Raises ParameterInvalid."""
    chosen = read_choice(req, "by", list(COLUMNS))
    return next((by for by in COLUMNS if by == chosen), "day")


class UsageResource(Resource):
    """GET /usage."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer what the account has used, as its ledger has it; of a span of days where one is asked for."""
        caller = await self._services.authenticate_reader(req)
        if not req.params.keys() & {"from", "to", "by", "format"}:
            show_json(resp, await self._services.database.run(read_usage(caller.account_id)))
            return
        span, by = read_span(req), read_by(req)
        form = read_choice(req, "format", FORMATS)
        report = UsageReport.of(await self._services.database.run(read_used(caller.account_id, span)), span, by)
        if form == "csv":
            _name_file(resp, f"usage-by-{by}-{span.first}-{span.last}.csv")
            resp.data = report.csv()
        else:
            show_json(resp, report.model_dump(mode="json", by_alias=True, exclude_unset=True))

    on_head = on_get


class Ledger(Resource):
    """GET /usage/ledger."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with a page of the account's ledger, newest first, or with all of a span of days as CSV."""
        services = self._services
        caller = await services.authenticate_reader(req)
        span = read_span(req) if req.params.keys() & {"from", "to"} else None
        limit = read_whole(req, "limit", default=100, least=1, most=MAX_LINES)
        before = read_whole(req, "before", default=0, most=MAX_ID) or None
        if read_choice(req, "format", FORMATS) == "csv":
            _name_file(resp, f"ledger-{span.first}-{span.last}.csv" if span else "ledger.csv")
            resp.stream = _csv(services.database, caller.account_id, span)
            return
        lines = await services.database.run(read_ledger(caller.account_id, span, before=before, limit=limit))
        if len(lines) == limit:
            resp.append_link(_next_page(req, lines[-1].id), "next")
        show_json(resp, [LedgerEntry.of(line).model_dump(mode="json") for line in lines])

    on_head = on_get


def _next_page(req: falcon.asgi.Request, before: int) -> str:
    kept = {name: value for name, value in req.params.items() if name not in {"api_key", "before"}}
    return f"{req.path}{falcon.to_query_str({**kept, 'before': before})}"


def _name_file(resp: falcon.asgi.Response, name: str) -> None:
    resp.content_type = CSV
    resp.set_header("Content-Disposition", f"attachment; filename={name}")


async def _csv(database: AsyncDatabase, account_id: UUID, span: DaySpan | None) -> AsyncIterator[bytes]:
    """Yield the ledger, a page at a time, so that no transaction outlives one of them."""
    yield csv_lines([LEDGER_COLUMNS])
    before = None
    while lines := await database.run(read_ledger(account_id, span, before=before, limit=MAX_LINES)):
        yield csv_lines(map(ledger_cells, lines))
        before = lines[-1].id
        if len(lines) < MAX_LINES:
            return
