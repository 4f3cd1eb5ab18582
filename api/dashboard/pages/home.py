"""Home: the first page of the dashboard: the balance, what can be tried, and the last jobs."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import falcon.asgi

from api.dashboard.pages.jobs import Jobs, show
from api.dashboard.pages.try_it import DECLARED
from api.dashboard.rendering import NavigationSection, Page, render
from api.services.permissions import may
from api.services.resource import Resource
from pipeline.database import SQL, Statement
from pipeline.jobs.job_views import open_sql, read_subjects

PAGE = Page("/dashboard", "Home", NavigationSection.HOME, icon="house")
#: Jobs that are shown.
JOBS = 5


class Home(Resource):
    """GET /dashboard."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require(req, resp)
        database = self._services.database
        figures = await database.run(_read_figures(session.account_id))
        found = await Jobs(self._services).find(req, session.caller, offset=0, limit=JOBS)
        subjects = await database.run(read_subjects(found.jobs, self._services.kinds))
        jobs = [(job, await show(self._services, job, subjects.get(job.id))) for job in found.jobs]
        await render(
            req,
            resp,
            "home.html",
            jobs=jobs,
            trials=[one for one in DECLARED if may(session, one.path, "GET")],
            **figures,
        )


RESOURCES = {PAGE.path: Home}


def _read_figures(account_id: UUID) -> Statement[Mapping[str, Any]]:
    """Read balance, credits held, and open jobs."""
    return Statement(
        SQL("SELECT a.available, o.* FROM account a CROSS JOIN LATERAL ({open}) o WHERE a.id = %(account)s").format(
            open=open_sql(SQL("a.id"))
        ),
        {"account": account_id},
        lambda rows: rows[0],
    )
