"""Usage resources: GET /usage and GET /usage/ledger."""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import falcon.asgi

from api.accounts.usage.documents import LEDGER_COLUMNS, Usage, UsageReport, csv_lines, ledger_cells
from api.http.operations import Operation, Reply
from api.http.parameters import ParameterInvalid, choice, day, limit, whole
from api.services.resource import Resource
from api.work.answers import show_json
from pipeline.database import AsyncDatabase
from pipeline.usage.usage_report import COLUMNS, DAYS, By, DaySpan, LedgerEntry, read_ledger, read_usage, read_used

TAG = "account"
#: Most days of a report.
MAX_DAYS = 366
#: Longest page of the ledger, and the pages of a CSV: as much is in memory.
MAX_LINES = 1_000
FORMATS = ("json", "csv")
CSV = "text/csv; charset=utf-8"
#: PostgreSQL's largest id.
MAX_ID = 9_999_999_999

FIRST_DAY = day("from", "First day (UTC). Default: 29 days before the last.")
LAST_DAY = day("to", f"Last day (UTC). Default: today. A report covers at most {MAX_DAYS} days.")
ROWS_BY = choice(
    "by", "The subject of each row. Without any of these parameters the answer is the total usage.", list(COLUMNS)
)
#: No default in the document: generated clients would send it, and get a report in place of the total.
FORMAT = choice("format", "csv: the rows as a file. Default: json.", FORMATS)
BEFORE = whole("before", "The id of the last entry of the previous page.", most=MAX_ID)
LIMIT = limit(100, MAX_LINES)


def read_span(req: falcon.asgi.Request) -> DaySpan:
    """Return the days that a request names: by default the last 30. Raises ParameterInvalid."""
    last = LAST_DAY.read(req) or datetime.now(UTC).date()
    first = FIRST_DAY.read(req) or last - timedelta(days=min(DAYS - 1, (last - date.min).days))
    if not 0 <= (last - first).days < MAX_DAYS:
        raise ParameterInvalid("from", first.isoformat(), f"send a day before `to`, at most {MAX_DAYS - 1} days.")
    return DaySpan(first, min(last, date.max - timedelta(days=1)))


def read_by(req: falcon.asgi.Request) -> By:
    """Return the grouping of a report's rows. Raises ParameterInvalid."""
    chosen = ROWS_BY.read(req)
    return next((by for by in COLUMNS if by == chosen), "day")


class UsageResource(Resource):
    """GET /usage."""

    @Operation(
        id="get_usage",
        tag=TAG,
        summary="Return the account's usage: in total, or in a span of days by day, route or key.",
        parameters=(FIRST_DAY, LAST_DAY, ROWS_BY, FORMAT),
        replies={
            200: Reply("Total usage, or a report if a parameter asks for one.", Usage | UsageReport, ("text/csv",))
        },
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        caller = await self._services.authenticate_reader(req)
        if not req.params.keys() & {"from", "to", "by", "format"}:
            show_json(resp, Usage.model_validate(await self._services.database.run(read_usage(caller.account_id))))
            return
        span, by = read_span(req), read_by(req)
        form = FORMAT.read(req)
        report = UsageReport.of(await self._services.database.run(read_used(caller.account_id, span)), span, by)
        if form == "csv":
            _name_file(resp, f"usage-by-{by}-{span.first}-{span.last}.csv")
            resp.data = report.csv()
        else:
            show_json(resp, report.model_dump(mode="json", by_alias=True, exclude_unset=True))


class Ledger(Resource):
    """GET /usage/ledger."""

    @Operation(
        id="get_usage_ledger",
        tag=TAG,
        summary="List the account's ledger, newest first.",
        parameters=(FIRST_DAY, LAST_DAY, BEFORE, LIMIT, FORMAT),
        replies={
            200: Reply("A page, with the next one in Link; as CSV, all entries.", list[LedgerEntry], ("text/csv",))
        },
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        services = self._services
        caller = await services.authenticate_reader(req)
        span = read_span(req) if req.params.keys() & {"from", "to"} else None
        limit = LIMIT.read(req)
        before = BEFORE.read(req) or None
        if FORMAT.read(req) == "csv":
            _name_file(resp, f"ledger-{span.first}-{span.last}.csv" if span else "ledger.csv")
            resp.stream = _csv(services.database, caller.account_id, span)
            return
        lines = await services.database.run(read_ledger(caller.account_id, span, before=before, limit=limit))
        if len(lines) == limit:
            resp.append_link(_next_page(req, lines[-1].id), "next")
        show_json(resp, lines)


def _next_page(req: falcon.asgi.Request, before: int) -> str:
    kept = {name: value for name, value in req.params.items() if name not in {"api_key", "before"}}
    return f"{req.path}{falcon.to_query_str({**kept, 'before': before})}"


def _name_file(resp: falcon.asgi.Response, name: str) -> None:
    resp.content_type = CSV
    resp.set_header("Content-Disposition", f"attachment; filename={name}")


async def _csv(database: AsyncDatabase, account_id: UUID, span: DaySpan | None) -> AsyncIterator[bytes]:
    """Yield the ledger page by page, so that no transaction outlives a page."""
    yield csv_lines([LEDGER_COLUMNS])
    before = None
    while lines := await database.run(read_ledger(account_id, span, before=before, limit=MAX_LINES)):
        yield csv_lines(map(ledger_cells, lines))
        before = lines[-1].id
        if len(lines) < MAX_LINES:
            return


RESOURCES: Mapping[str, type[Resource]] = {"/usage": UsageResource, "/usage/ledger": Ledger}
