"""Progress: how far an audiobook is, and the passages of a chapter, which can be heard as soon as they are spoken."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import falcon.asgi
from pydantic import BaseModel, Field

from api.http.address import base_url
from api.http.operations import Operation, Reply
from api.jobs.job_resources import read_job_id
from api.services.resource import Resource
from api.services.services import Services
from api.work.answers import show_json
from capabilities.audiobooks.kinds.audiobook import Audiobook
from capabilities.audiobooks.routes.finding import AudiobookNotFound, find_own
from pipeline.accounts.keys import Caller
from pipeline.database import Row, Statement
from pipeline.jobs.resubmit import lifetimes
from pipeline.kind import FileLink
from pipeline.lifecycle.jobs import Job


class ChapterProgress(BaseModel):
    """A chapter of an audiobook and how much of it is spoken."""

    number: int
    title: str
    characters: int
    passages: int
    spoken: int
    failed: int
    seconds: float = Field(description="Length of the sound so far.")


class BookProgress(BaseModel):
    """An audiobook, also while it is spoken."""

    audiobook: str
    state: str
    title: str
    author: str
    passages: int
    spoken: int
    failed: int
    seconds: float
    seconds_left: int | None = Field(description="Until it is spoken, at the pace so far; null if that is not known.")
    credits_used: int
    chapters: list[ChapterProgress]


class Passage(BaseModel):
    """A passage of a chapter."""

    number: int = Field(description="In the book; PATCH /audiobooks/{job_id} changes it.")
    text: str
    state: str
    seconds: float | None
    audio_url: str | None = Field(description="FLAC; the link needs no key.")


class ChapterPassages(BaseModel):
    """The passages of a chapter."""

    chapter: int
    title: str
    passages: list[Passage]


class BookPassages(Resource):
    """GET /audiobooks/{job_id}/chapters/{number}."""

    @Operation(
        id="get_audiobook_chapter",
        tag=Audiobook.queue,
        summary="List the passages of a chapter: texts, and links to those that are spoken.",
        replies={200: Reply("The passages.", ChapterPassages)},
        errors=(410,),
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str, number: str) -> None:
        """Answer with the passages."""
        services = self._services
        caller = await services.authenticate_reader(req)
        job = await find_own(services, caller, read_job_id(job_id), Audiobook.name)
        asked = int(number) if number.isdecimal() and len(number) <= 9 else 0
        rows = await services.database.run(_find_passages(job.id, asked))
        if not rows:
            raise AudiobookNotFound(f"The audiobook has no chapter {number[:20]}.")
        _, keep_for = lifetimes(services.kinds[Audiobook.name], services.settings)
        expires_at = job.expires_at or datetime.now(UTC) + keep_for
        passages = [
            {
                "number": row["index"] + 1,
                "text": row["text"],
                "state": row["state"],
                "seconds": row["seconds"],
                "audio_url": FileLink(row["artifact"], expires_at) if row["artifact"] else None,
            }
            for row in rows
        ]
        found = {"chapter": asked, "title": rows[0]["title"], "passages": passages}
        base = services.settings.api.public_url or base_url(req, services.proxies)
        show_json(resp, await services.links.resolve(found, base.rstrip("/")))


async def read_progress(services: Services, caller: Caller, job_id: UUID) -> BookProgress:
    """Return how far an audiobook of the account is. Raises AudiobookNotFound, Gone."""
    job = await find_own(services, caller, job_id, Audiobook.name)
    rows = await services.database.run(_count_chapters(job.id))
    chapters = [ChapterProgress.model_validate(row) for row in rows]
    return BookProgress(
        audiobook=str(job.id),
        state=job.state,
        title=job.request.get("title", ""),
        author=job.request.get("author", ""),
        passages=sum(one.passages for one in chapters),
        spoken=sum(one.spoken for one in chapters),
        failed=sum(one.failed for one in chapters),
        seconds=round(sum(one.seconds for one in chapters), 1),
        seconds_left=_seconds_left(job, rows),
        credits_used=job.credits_captured,
        chapters=chapters,
    )


def _seconds_left(job: Job, rows: list[dict[str, Any]]) -> int | None:
    """Return how long the rest takes at the pace of what was spoken, and not copied, so far."""
    said, left = (sum(int(row[name]) for row in rows) for name in ("said", "left"))
    if job.is_final or not left:
        return 0
    if job.started_at is None or not said:
        return None
    return round((datetime.now(UTC) - job.started_at).total_seconds() * left / said)


def _count_chapters(job_id: UUID) -> Statement[list[dict[str, Any]]]:
    return Statement(
        "SELECT (i.input->>'chapter')::int AS number, coalesce(min(i.input->>'title'), '') AS title,"
        " sum(length(i.input->>'text'))::int AS characters, count(*)::int AS passages,"
        " (count(*) FILTER (WHERE i.state = 'done'))::int AS spoken,"
        " (count(*) FILTER (WHERE i.state IN ('failed', 'cancelled')))::int AS failed,"
        " round(coalesce(sum((i.output->>'duration_seconds')::numeric), 0), 1)::float AS seconds,"
        " coalesce(sum(length(i.input->>'text')) FILTER (WHERE i.state = 'done' AND i.input->'sound' IS NULL), 0)::int"
        " AS said,"
        " coalesce(sum(length(i.input->>'text')) FILTER (WHERE i.state NOT IN ('done', 'failed', 'cancelled')), 0)::int"
        ' AS "left" FROM item i WHERE i.job_id = %(job)s GROUP BY 1 ORDER BY 1',
        {"job": job_id},
        _documents,
    )


def _find_passages(job_id: UUID, chapter: int) -> Statement[list[dict[str, Any]]]:
    return Statement(
        "SELECT i.index, i.state, i.input->>'text' AS text, coalesce(i.input->>'title', '') AS title,"
        " i.output->>'artifact' AS artifact, (i.output->>'duration_seconds')::float AS seconds"
        " FROM item i WHERE i.job_id = %(job)s AND (i.input->>'chapter')::int = %(chapter)s ORDER BY i.index",
        {"job": job_id, "chapter": chapter},
        _documents,
    )


def _documents(rows: list[Row]) -> list[dict[str, Any]]:
    return [dict(row) for row in rows]
