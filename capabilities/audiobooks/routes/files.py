"""Files: an audiobook that has been spoken, as one file."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import falcon.asgi
from pydantic import BaseModel

from api.http.bodies.forms import Upload
from api.http.operations import Operation, Reply
from api.http.parameters import IDEMPOTENCY_KEY, PREFER
from api.jobs.job_resources import read_job_id
from api.services.services import Services
from api.work.submitting import Order
from api.work.work import Work
from capabilities.audiobooks.kinds.audiobook import Audiobook, SpokenPassage
from capabilities.audiobooks.kinds.book_file import FORMS, BookFile, BookFileRequest, BookPart, BookReport
from capabilities.audiobooks.routes.finding import BookUnfinished, find_ended
from pipeline.accounts.keys import Caller
from pipeline.jobs.job_documents import JobDocument
from pipeline.kind import as_json
from pipeline.lifecycle.jobs import Item, find_items

PATH = "/audiobooks/{job_id}/files"


class BookFiles(Work):
    """POST /audiobooks/{job_id}/files: joins the passages of an audiobook that has been spoken."""

    def __init__(self, services: Services) -> None:
        super().__init__(services, services.kinds[BookFile.name], PATH)

    @Operation(
        id="post_audiobook_files",
        tag=Audiobook.queue,
        summary=BookFile.summary,
        parameters=(PREFER, IDEMPOTENCY_KEY),
        body=BookFileRequest,
        example=dict(BookFile.example),
        replies={
            200: Reply(
                "The file, or a report.", BookReport, content=tuple(content_type for content_type, _ in FORMS.values())
            ),
            202: Reply("The job, if the request prefers not to wait for its result.", JobDocument),
        },
        errors=(402, 409, 410, 422),
    )
    async def on_post(  # type: ignore[override]  # this route has a job in its path
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str
    ) -> None:
        """Make a file of an audiobook."""
        req.context.job_id = read_job_id(job_id)
        await super().on_post(req, resp)

    async def _order_of(self, req: falcon.asgi.Request, caller: Caller, request: BaseModel, upload: Upload) -> Order:
        # The book is in the path; the same file of another one is another request.
        upload.hashes["audiobook"] = str(req.context.job_id)
        order = await super()._order_of(req, caller, request, upload)
        del upload.hashes["audiobook"]  # it is not a file
        job = await find_ended(self._services, caller, req.context.job_id, Audiobook.name)
        items = await self._services.database.run(find_items(job.id))
        [(given, price, lane)] = order.submission.items
        given = {**given, **book_of(items)}
        return replace(order, submission=replace(order.submission, items=[(given, price, lane)]))


def book_of(items: Sequence[Item]) -> dict[str, Any]:
    """Return the fields of a book file: its chapters with their sounds, and what it is about. Raises BookUnfinished."""
    missing = sum(item.output is None for item in items)
    if missing:
        raise BookUnfinished(
            f"{missing:,} of {len(items):,} passages lack sound. PATCH /audiobooks/{{job_id}} speaks them."
        )
    chapters: dict[int, tuple[str, list[SpokenPassage]]] = {}
    for item in items:
        _, passages = chapters.setdefault(item.input["chapter"], (item.input.get("title", ""), []))
        passages.append(SpokenPassage.model_validate(item.output))
    parts = [
        BookPart(
            title=title,
            sounds=tuple(one.artifact for one in found),
            scripts=tuple(one.script for one in found),
            engines=tuple(sorted({engine for one in found for engine in one.engines})),
        )
        for title, found in chapters.values()
    ]
    first = next(iter(chapters.values()))[1][0]
    return {
        "title": items[0].input.get("book", ""),
        "author": items[0].input.get("author", ""),
        "language": first.language,
        "voices": sorted({one.voice for _, found in chapters.values() for one in found if one.voice}),
        "cover": first.cover,
        "parts": [as_json(part) for part in parts],
    }
