"""Job: one job, how far it is, what was asked, what came of it, and what can be done with it."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import falcon.asgi

from api.dashboard.pages.operators.job_log import read_lines
from api.dashboard.pages.try_it import DECLARED
from api.dashboard.rendering import neighbours, render
from api.http.parameters import OFFSET
from api.jobs.job_resources import find_own_job
from api.services.resource import Resource
from api.services.services import Services
from api.try_pages import TryPage
from api.work.answers import refuse_gone
from pipeline.errors import PressroomError
from pipeline.jobs.job_documents import job_document
from pipeline.jobs.job_views import ItemView, list_items, read_subjects
from pipeline.jobs.resubmit import has_repeatable
from pipeline.lifecycle.jobs import Job, find_items
from pipeline.webhooks.log import list_deliveries

PATH = "/dashboard/jobs/{job_id}"
ITEMS_A_PAGE = 50
MOST_DELIVERIES = 10
#: Characters of a value of the request that are shown, and of an item's output that are shown in its row.
SHOWN_CHARACTERS = 2_000
MOST_WORDS = 4
WORD_CHARACTERS = 80
#: Prefix of the request ids of a table's jobs (bulk.js).
TABLE = "table-"


class JobPage(Resource):
    """GET /dashboard/jobs/{id}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        services = self._services
        session = await services.sessions.require(req, resp)
        job = await find_own_job(services, session.caller, job_id)
        kind = services.kinds.get(job.kind)
        offset = OFFSET.read(req)
        items = await services.database.run(list_items(job, services.kinds, limit=ITEMS_A_PAGE, offset=offset))
        is_short = job.is_final and not job.is_gone and job.items_ok < job.items_total
        can_retry = is_short and kind is not None and await services.database.run(has_repeatable(job, kind))
        subjects = await services.database.run(read_subjects([job], services.kinds))
        page = next((page for page in DECLARED if job.kind in page.kinds), None)
        preview = await preview_of(services, job)
        told, _ = await services.database.run(
            list_deliveries(job.account_id, job_id=job.id, limit=MOST_DELIVERIES, offset=0)
        )
        await render(
            req,
            resp,
            "job.html",
            job=job_document(job, services.kinds),
            lasted=(job.finished_at - job.started_at) if job.finished_at and job.started_at else None,
            waited=(job.started_at - job.created_at) if job.started_at else None,
            asked={name: _shown(value) for name, value in job.request.items()},
            subject=job.name or (subjects[job.id].subject if job.id in subjects else None),
            page=page,
            again=again_of(page, job),
            table=job.request_id.startswith(TABLE) or bool(page and page.shows_by),
            kept_at=job.kept_at,
            is_gone=job.is_gone,
            deleted_at=job.deleted_at,
            can_retry=can_retry,
            items=[(item, words_of(item, kind.output.model_fields if kind else ())) for item in items],
            downloads={name: path.format(job_id=job.id) for name, path in kind.downloads.items()} if kind else {},
            has_list=job.items_total > 1 and not (kind and kind.answer.shows_inputs and preview.form == "json"),
            **neighbours(req, offset=offset, size=ITEMS_A_PAGE, has_more=offset + ITEMS_A_PAGE < job.items_total),
            preview=preview,
            told=told,
            lines=await read_lines(services, job) if session.is_operator else None,
            is_operator=session.is_operator,
            once=uuid4().hex,
        )


RESOURCES = {PATH: JobPage}


def words_of(item: ItemView, fields: Collection[str] = ()) -> str:
    """Return in short what became of an item: why it failed, or short values of its output, in the order of fields."""
    if item.error is not None:
        return str(item.error.get("message") or item.error.get("code") or "")
    output = item.output or {}
    short = [
        f"{name.replace('_', ' ')}: {output[name]}"
        for name in [*(name for name in fields if name in output), *(name for name in output if name not in fields)]
        if isinstance(output[name], str | int | float) and len(str(output[name])) <= WORD_CHARACTERS
    ]
    return " · ".join(short[:MOST_WORDS])


def again_of(page: TryPage | None, job: Job) -> str | None:
    """Return the address of the page that made a job: its table, or its form with what was asked."""
    if page is None:
        return None
    if job.request_id.startswith(TABLE):
        return f"{page.path}?table={job.request_id}"
    return f"{page.path}?{page.shows_by or 'again'}={job.id}"


def _shown(value: Any) -> Any:
    return f"{value[:SHOWN_CHARACTERS]}…" if isinstance(value, str) and len(value) > SHOWN_CHARACTERS else value


#: Results with more items are only listed: their whole answer takes long to make.
MOST_ITEMS = 100
#: Bytes of a text that are shown.
SHOWN_BYTES = 20_000
#: Forms that a browser shows, by the start of the content type; others are downloads.
FORMS = {"audio/": "sound", "image/": "picture", "text/": "text", "application/x-subrip": "text"}


@dataclass(frozen=True, slots=True)
class Preview:
    """A result. `form` is json, sound, picture, text, file or none; `why` explains none."""

    form: str
    content_type: str = ""
    content: Any = None
    is_cut: bool = False
    why: str = ""


async def preview_of(services: Services, job: Job) -> Preview:
    kind = services.kinds.get(job.kind)
    if kind is None or job.items_total > MOST_ITEMS:
        return Preview("none")
    if not (job.state in {"succeeded", "partial"} or (job.is_final and kind.answer.without_success)):
        return Preview("none")
    try:
        refuse_gone(job)
        items = await services.database.run(find_items(job.id))
        response = kind.respond(job, items)
        if not response.artifacts:
            return Preview("json", response.content_type, await services.links.resolve(response.media, ""))
        form = next((form for begins, form in FORMS.items() if response.content_type.startswith(begins)), "file")
        if form != "text":
            return Preview(form, response.content_type)
        return await _text_of(services, response.artifacts[0], response.content_type)
    except PressroomError as error:
        return Preview("none", why=error.message)


async def _text_of(services: Services, artifact: str, content_type: str) -> Preview:
    size, chunks = await services.artifacts.open(artifact)
    read = b""
    async for chunk in chunks:
        read += chunk
        if len(read) >= SHOWN_BYTES:
            break
    return Preview("text", content_type, read[:SHOWN_BYTES].decode(errors="ignore"), is_cut=size > SHOWN_BYTES)
