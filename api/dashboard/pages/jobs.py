"""Jobs: the account's jobs, live, filtered and searched; several are tried again, ended or deleted at once."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlencode
from uuid import uuid4

import falcon.asgi

from api.dashboard.forms import read_form
from api.dashboard.job_actions import JobActions, say
from api.dashboard.pages.try_it import DECLARED
from api.dashboard.rendering import NavigationSection, Page, drop_blanks, neighbours, redirect, render
from api.http.parameters import OFFSET, exact
from api.jobs.job_resources import find_jobs, read_filter
from api.services.resource import Resource
from api.services.services import Services
from pipeline.accounts.keys import Caller
from pipeline.jobs.job_documents import job_document
from pipeline.jobs.job_lists import JobPage
from pipeline.jobs.job_views import Subject, read_subjects
from pipeline.kind import FileLink
from pipeline.lifecycle.jobs import Job

PAGE = Page("/dashboard/jobs", "Jobs", NavigationSection.WORK, icon="history")
JOBS_A_PAGE = 25
#: Choices of the filter.
STATES = (
    ("", "Any state"),
    ("queued,running", "Open"),
    ("succeeded,partial", "Delivered"),
    ("partial,failed,expired,cancelled", "Not fully delivered"),
    ("failed", "Failed"),
    ("cancelled", "Cancelled"),
    ("expired", "Expired"),
)
IS_PICTURE = re.compile(r"\.(png|jpg|webp)\?")
FIELDS = ("q", "state", "kind", "from", "to")
#: A text of a search that may be the beginning of a job's id.
IS_ID = re.compile(r"[0-9a-fA-F]{8}(-([0-9a-fA-F]-?){0,24})?")
#: The list, or a job of it; what a form may lead back to.
BACK = re.compile(r"/dashboard/jobs(\?[^\s\\]*|/[0-9a-f-]{36})?")


class Jobs(Resource):
    """GET and POST /dashboard/jobs."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        services = self._services
        session = await services.sessions.require(req, resp)
        drop_blanks(req)
        offset = OFFSET.read(req)
        page = await self.find(req, session.caller, offset=offset)
        subjects = await services.database.run(read_subjects(page.jobs, services.kinds))
        await render(
            req,
            resp,
            "jobs.html",
            jobs=[job_document(job, services.kinds) for job in page.jobs],
            shown={str(job.id): await show(services, job, subjects.get(job.id)) for job in page.jobs},
            sizes={str(job.id): job.items_total for job in page.jobs},
            total=page.total,
            searched_since=page.searched_since,
            states=STATES,
            kinds=[("", "Any kind")] + [(name, name.replace("_", " ")) for name in sorted(services.kinds)],
            sent={name: req.get_param(name) or "" for name in FIELDS},
            refresh=_refresh_seconds(page, is_search=req.has_param("q")) if offset == 0 else None,
            here=req.relative_uri,
            once=uuid4().hex,
            **_neighbours(req, offset, page),
        )

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require(req, resp)
        form = await read_form(req, session)
        name = form.text("action")
        actions = JobActions(self._services, req, session, once=form.text("once")[:64])
        done = await actions.carry_out(name, form.texts("ids"))
        back = form.text("back")
        if form.is_ticked("alone") and done.jobs:
            back = f"{PAGE.path}/{done.jobs[0]}"
        is_good = bool(done.jobs) and not done.refusals
        redirect(req, resp, back if BACK.fullmatch(back) else PAGE.path, say(name, done), "good" if is_good else "bad")

    async def find(self, req: falcon.asgi.Request, caller: Caller, *, offset: int, limit: int = JOBS_A_PAGE) -> JobPage:
        """Return a page of the jobs that a query asks for. Raises SearchTooLong."""
        wanted = read_filter(req, caller, self._services.kinds)
        if wanted.text is not None and IS_ID.fullmatch(wanted.text):
            wanted = replace(wanted, text=None, id_prefix=wanted.text)
        return await find_jobs(self._services, wanted, limit=limit, offset=offset)


RESOURCES = {PAGE.path: Jobs}


async def show(services: Services, job: Job, subject: Subject | None) -> dict[str, str | None]:
    """Return how a list shows a job: its name, what it is, and a picture or a sound of it."""
    page = next((page for page in DECLARED if job.kind in page.kinds), None)
    name = job.name or (subject.subject if subject else None)
    link: str | None = None
    if subject is not None and subject.artifact is not None:
        link = await services.links.resolve(FileLink(subject.artifact, job.expires_at or datetime.now(UTC)), "")
    return {
        "name": name or (page.title if page else job.kind.replace("_", " ").capitalize()),
        "what": page.title if page else job.kind.replace("_", " "),
        "link": link,
        "form": "picture" if IS_PICTURE.search(link or "") else "sound",
    }


def _refresh_seconds(page: JobPage, *, is_search: bool) -> int:
    """Return how often the first page is looked at anew: a search costs most, and what has ended does not change."""
    return 15 if is_search or all(job.is_final for job in page.jobs) else 2


def _neighbours(req: falcon.asgi.Request, offset: int, page: JobPage) -> dict[str, str | None]:
    found = neighbours(req, offset=offset, size=JOBS_A_PAGE, has_more=offset + JOBS_A_PAGE < page.total)
    if found["next"] is None and page.searched_since is not None:
        kept = {name: value for name, value in parse_qsl(req.query_string) if name != "offset"}
        found["next"] = f"{PAGE.path}?{urlencode(kept | {'to': exact(page.searched_since)})}"
    return found
