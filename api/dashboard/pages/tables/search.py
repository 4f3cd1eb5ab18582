"""Search: jobs by their names, texts and ids, for the search of every page (search.js)."""

import falcon.asgi

from api.dashboard.pages.jobs import Jobs, show
from api.services.resource import Resource
from api.work.answers import show_json
from pipeline.jobs.job_views import read_subjects

PATH = "/dashboard/search"
FOUND = 8


class Search(Resource):
    """GET /dashboard/search."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        services = self._services
        session = await services.sessions.require(req, resp)
        page = await Jobs(services).find(req, session.caller, offset=0, limit=FOUND)
        subjects = await services.database.run(read_subjects(page.jobs, services.kinds))
        found = []
        for job in page.jobs:
            shown = await show(services, job, subjects.get(job.id))
            more = f" and {job.items_total - 1:,} more" if job.items_total > 1 else ""
            link = shown["link"] if shown["form"] == "picture" else None
            what = f"{shown['what']}, {job.created_at:%d %b %Y}"
            found.append(
                {"href": f"/dashboard/jobs/{job.id}", "title": f"{shown['name']}{more}", "what": what, "link": link}
            )
        resp.cache_control = ["no-store"]
        show_json(resp, found)


RESOURCES = {PATH: Search}
