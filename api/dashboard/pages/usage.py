"""Usage: the balance, what was used by day, route and key, and the ledger."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import falcon.asgi

from api.accounts.usage.resources import BEFORE, read_span
from api.dashboard.pages.try_it import DECLARED
from api.dashboard.plots import Plot, bar_plot
from api.dashboard.rendering import NavigationSection, Page, drop_blanks, render
from api.services.resource import Resource
from pipeline.database import SQL, Statement
from pipeline.registry import Kinds
from pipeline.usage.usage_days import used_sql
from pipeline.usage.usage_report import DaySpan, Used, read_ledger, read_used, summed

PAGE = Page("/dashboard/usage", "Usage", NavigationSection.ACCOUNT, order=20, icon="chart-column")
#: Lines of the ledger on a page.
LINES = 50
#: Routes and keys that a plot tells apart; the others are summed.
SERIES = 4
OTHERS = "others"
#: Spans that are one click away, in days.
SPANS = (7, 30, 90, 365)
#: How the kinds of lines are shown: in which word and tone.
SHOWN = {
    "grant": ("added", "good"),
    "hold": ("held", "busy"),
    "raise": ("held more", "busy"),
    "capture": ("charged", "plain"),
    "release": ("given back", "plain"),
}

Labels = Mapping[Any, str]


class UsagePage(Resource):
    """GET /dashboard/usage."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require(req, resp)
        drop_blanks(req)
        run, account = self._services.database.run, session.account_id
        span = read_span(req)
        today = datetime.now(UTC).date()
        titles = route_titles(self._services.kinds)
        before = BEFORE.read(req) or None
        used = await run(read_used(account, span))
        month = await run(read_used(account, DaySpan(today.replace(day=1), today)))
        lines = await run(read_ledger(account, span, before=before, limit=LINES))
        await render(
            req,
            resp,
            "usage.html",
            span=span,
            spans=[(days, today - timedelta(days=days - 1), today) for days in SPANS],
            balance=await run(_read_balance(account)),
            month_requests=sum(one.requests for one in month),
            month_credits=sum(one.credits for one in month),
            plots=make_plots(used, span, titles),
            titles=titles,
            by_route=summed(used, span, "route"),
            by_key=summed(used, span, "key"),
            lines=lines,
            shown=SHOWN,
            is_first=before is None,
            older=lines[-1].id if len(lines) == LINES else None,
        )


def route_titles(kinds: Kinds) -> Mapping[str, str]:
    """Return the title of each route's tool."""
    return {route: page.title for page in DECLARED for kind in page.kinds for route in kinds[kind].routes}


def make_plots(used: Sequence[Used], span: DaySpan, titles: Mapping[str, str]) -> list[Plot]:
    """Return the plots of what was used: by day, each day's made of its tools, or of its keys."""

    def tool(one: Used) -> str:
        return titles.get(one.route, one.route)

    tools = {tool(one): tool(one) for one in used}
    return [
        _stacked("Credits by day and tool", used, span, tools, tool, _credits),
        _stacked("Requests by day and tool", used, span, tools, tool, _requests),
        _stacked("Credits by day and key", used, span, _key_labels(used), _key, _credits),
    ]


def _stacked(
    title: str,
    used: Sequence[Used],
    span: DaySpan,
    labels: Labels,
    part: Callable[[Used], Any],
    of: Callable[[Used], int],
) -> Plot:
    totals: dict[Any, int] = defaultdict(int)
    for one in used:
        totals[part(one)] += of(one)
    dearest = sorted((key for key, total in totals.items() if total), key=lambda key: -totals[key])
    shown = dearest if len(dearest) <= SERIES + 1 else dearest[:SERIES]
    names = [labels[key] for key in shown] + ([OTHERS] if len(shown) < len(dearest) else [])
    place = {key: index for index, key in enumerate(shown)}
    days: dict[date, int] = {day: index for index, day in enumerate(span.days)}
    values = [[0] * len(days) for _ in names]
    for one in used:
        if of(one):
            values[place.get(part(one), len(names) - 1)][days[one.date]] += of(one)
    return bar_plot(title, [f"{day:%d %b}" for day in days], dict(zip(names, values, strict=True)))


def _key(one: Used) -> UUID:
    return one.key_id


def _credits(one: Used) -> int:
    return one.credits


def _requests(one: Used) -> int:
    return one.requests


def _key_labels(used: Sequence[Used]) -> dict[UUID, str]:
    """Return a name for each key; those of one name are told apart by their ids."""
    names = {one.key_id: one.name or "unnamed" for one in used}
    shared = list(names.values())
    return {key: name if shared.count(name) == 1 else f"{name} ({str(key)[:8]})" for key, name in names.items()}


def _read_balance(account_id: UUID) -> Statement[dict[str, int]]:
    """Read an account's balance, and the credits that its open jobs hold."""
    return Statement(
        SQL(
            "SELECT a.available, (SELECT coalesce(sum(u.held), 0)::bigint FROM ({used}) u) AS held"
            " FROM account a WHERE a.id = %(account)s"
        ).format(used=used_sql()),
        {"account": account_id},
        lambda rows: rows[0],
    )


RESOURCES = {PAGE.path: UsagePage}
