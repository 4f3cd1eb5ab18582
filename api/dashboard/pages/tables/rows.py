"""Rows: the items of a job that have ended, as JSON for tables that fill in; and what readers make of their texts."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import falcon
import falcon.asgi

from api.dashboard.forms import read_form
from api.jobs.job_resources import JobNotFound, find_own_job
from api.services.resource import Resource
from api.services.services import Services
from api.work.answers import refuse_gone, show_json
from pipeline import lifecycle
from pipeline.errors import InvalidRequest
from pipeline.jobs.job_documents import shown_error
from pipeline.jobs.job_views import EndedItem, read_ended
from pipeline.kind import AnyKind, FileLink
from pipeline.lifecycle.jobs import Job

PATH = "/dashboard/jobs/{job_id}/rows"
#: Characters of a reader's version of an item, as JSON.
MOST_EDITED = 200_000


class Rows(Resource):
    """GET and POST /dashboard/jobs/{id}/rows."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        """Answer with the rows of a job that have ended. Raises Gone."""
        services = self._services
        session = await services.sessions.require(req, resp)
        job = await find_own_job(services, session.caller, job_id)
        refuse_gone(job)
        kind = services.kinds.get(job.kind)
        ended = await services.database.run(read_ended(job.id, kind)) if kind else []
        rows = [_row(job, kind, item) for item in ended if kind]
        resp.cache_control = ["no-store"]
        show_json(resp, await services.links.resolve(rows, ""))

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        """Note a reader's version of a row's texts. Raises JobNotFound, InvalidRequest."""
        services = self._services
        session = await services.sessions.require(req, resp)
        form = await read_form(req, session)
        job = await find_own_job(services, session.caller, job_id)
        await _note(services, job.id, session.account_id, form.text("index"), form.text("texts"))
        show_json(resp, {})


RESOURCES = {PATH: Rows}


def _row(job: Job, kind: AnyKind, ended: EndedItem) -> dict[str, Any]:
    """Return a row: its place, name and picture, and its result as an answer of this item alone, or its error."""
    item = ended.item
    row: dict[str, Any] = {"index": item.index, "state": item.state, "name": ended.subject, "edited": ended.edited}
    if item.output is None:
        return {**row, "error": shown_error(item.error or {}).get("message", "Cancelled. Nothing was charged.")}
    if ended.artifact is not None:
        row["shown_by"] = FileLink(ended.artifact, job.expires_at or datetime.now(UTC))
    response = kind.respond(job, [item])
    return {**row, "result": None if response.artifacts else response.media, "content_type": response.content_type}


async def _note(services: Services, job_id: UUID, account_id: UUID, index: str, sent: str) -> None:
    try:
        texts = json.loads(sent) if len(sent) <= MOST_EDITED else None
    except ValueError:
        texts = None
    if not isinstance(texts, dict) or not index.isdecimal() or len(index) > 6:
        raise InvalidRequest(f"Send index, and texts as a JSON object of at most {MOST_EDITED:,} characters.")
    if not await services.database.run(lifecycle.edit(job_id, account_id, int(index), texts)):
        raise JobNotFound
