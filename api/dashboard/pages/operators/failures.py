"""Failures: jobs that ended badly, grouped by reason; and changes of all jobs that match a filter."""

from uuid import UUID

import falcon.asgi

from api.dashboard.forms import Form, OperatorForm
from api.dashboard.pages.operators.queues import PERIOD, PERIODS
from api.dashboard.rendering import NavigationSection, Page, render
from api.services.resource import Resource
from pipeline.errors import InvalidRequest, NotFound
from pipeline.operations.failures import MOST_JOBS, read_failures
from pipeline.operations.mass_changes import CHANGED, list_changes, read_filter, request_change, stop_change

PAGE = Page(
    "/dashboard/operators/failures",
    "Failures",
    NavigationSection.OPERATORS,
    operators_only=True,
    order=4,
    icon="triangle-alert",
)
#: Fields of the form that are conditions.
CONDITIONS = ("kind", "state", "account", "code", "hours")


class Failures(Resource):
    """GET /dashboard/operators/failures."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        period = PERIOD.read(req)
        groups = await self._services.database.run(read_failures(PERIODS[period]))
        await render(
            req,
            resp,
            "operators/failures.html",
            groups=groups,
            period=period,
            periods={name: one.total_seconds() / 3600 for name, one in PERIODS.items()},
            most_jobs=MOST_JOBS,
            changes=await self._services.database.run(list_changes()),
            kinds=[("", "Any"), *((name, name.replace("_", " ")) for name in self._services.kinds)],
            states=[("", "By default"), *((one, one) for one in (*CHANGED["cancel"], *CHANGED["retry"]))],
        )


class MassChanges(OperatorForm):
    """POST /dashboard/operators/failures/changes."""

    page = f"{PAGE.path}#changes"
    event, logged = "jobs changed by filter", ("change", "id", *CONDITIONS)

    async def change(self, form: Form) -> str:
        run, change = self._services.database.run, form.text("change")
        if change == "stop":
            try:
                is_stopped = await run(stop_change(UUID(form.text("id"))))
            except ValueError:
                raise InvalidRequest("There is no such change.") from None
            if not is_stopped:
                raise NotFound("That change has ended already.")
            return "It is stopped. Jobs that it changed stay changed."
        await run(request_change(*read_filter(change, {name: form.text(name) for name in CONDITIONS})))
        done = "cancelled" if change == "cancel" else "retried"
        return f"All jobs that match are being {done}; see below how far it is."


RESOURCES = {PAGE.path: Failures, f"{PAGE.path}/changes": MassChanges}
