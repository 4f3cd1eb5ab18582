"""Queues: how much waits and for how long, now and over time."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import falcon.asgi

from api.dashboard.forms import Form, OperatorForm
from api.dashboard.plots import Plot, bar_plot, line_plot
from api.dashboard.rendering import NavigationSection, Page, is_page, render
from api.http.parameters import choice
from api.services.resource import Resource
from pipeline.errors import InvalidRequest
from pipeline.operations.load import read_load
from pipeline.operations.pauses import check_pause, list_providers, pause, read_pauses, resume
from pipeline.operations.samples import QueuePoint, point_width, read_history

PAGE = Page(
    "/dashboard/operators/queues", "Queues", NavigationSection.OPERATORS, operators_only=True, order=1, icon="layers"
)

#: Periods that can be shown, by their name in the address.
PERIODS: Mapping[str, timedelta] = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
}
PERIOD = choice("period", "The period to show.", PERIODS, default="day")


class Queues(Resource):
    """GET /dashboard/operators/queues."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        services = self._services
        period = PERIOD.read(req)
        load, paused, points = await asyncio.gather(
            services.database.run(read_load(services.kinds)),
            services.database.run(read_pauses()),
            services.database.run(read_history(PERIODS[period])),
        )
        plots = make_plots(points, PERIODS[period], datetime.now(UTC))
        await render(
            req,
            resp,
            "operators/queues.html",
            load=load,
            paused=paused,
            pausable=[(name, name.replace("_", " ")) for name in services.kinds],
            plots=plots,
            period=period,
            periods=list(PERIODS),
        )


def make_plots(points: Sequence[QueuePoint], period: timedelta, now: datetime) -> list[Plot]:
    """Return the plots of a period that ends now, each with a line, or bars, for each queue."""
    width = point_width(period)
    moments = _moments(now - period, now, width)
    queues = list(dict.fromkeys(point.queue for point in points))
    known = {(point.queue, point.at): point for point in points}
    written = "%a %H:%M" if period > timedelta(days=1) else "%H:%M"
    labels = [f"{moment:{written}}" for moment in moments]

    def series(value: Callable[[QueuePoint], float | None]) -> dict[str, list[float | None]]:
        return {
            queue: [value(point) if (point := known.get((queue, moment))) else None for moment in moments]
            for queue in queues
        }

    if not points:
        labels = []
    return [
        line_plot("Items waiting", labels, series(lambda one: one.ready + one.waiting), unit="most at a time"),
        line_plot("Oldest ready item", labels, series(lambda one: one.oldest_seconds), unit="seconds"),
        line_plot("Waiting time", labels, series(lambda one: one.wait_seconds), unit="seconds, mean"),
        line_plot("Running time", labels, series(lambda one: one.run_seconds), unit="seconds, mean"),
        bar_plot("Items done", labels, series(lambda one: one.done)),
        bar_plot("Items failed", labels, series(lambda one: one.failed)),
    ]


def _moments(first: datetime, last: datetime, width: timedelta) -> list[datetime]:
    """Return the beginnings of all points between two moments, as the database counts them: from the epoch."""
    seconds = int(width.total_seconds())
    start = int(first.timestamp()) // seconds * seconds
    return [datetime.fromtimestamp(at, UTC) for at in range(start, int(last.timestamp()) + 1, seconds)]


class Pauses(OperatorForm):
    """POST /dashboard/operators/pauses."""

    event, logged = "pause changed", ("change", "scope", "name")

    def back(self, form: Form) -> str:
        return page if is_page(page := form.text("back")) else PAGE.path

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        await super().on_post(req, resp)
        req.context.renderer.notices.forget()

    async def change(self, form: Form) -> str:
        services, scope, name = self._services, form.text("scope"), form.text("name")
        match form.text("change"):
            case "pause":
                providers = await services.database.run(list_providers(services.settings))
                check_pause(services.kinds, providers, scope, name, reason := form.text("reason"))
                await services.database.run(pause(scope, name, reason))
                return f"The {scope} is paused. Items that run finish; jobs still end at their deadlines."
            case "resume":
                await services.database.run(resume(scope, name))
                return f"The {scope} goes on."
            case other:
                raise InvalidRequest(f"There is no change {other[:20]!r}.")


RESOURCES = {PAGE.path: Queues, "/dashboard/operators/pauses": Pauses}
