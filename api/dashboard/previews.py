"""Previews: a job's result as a page shows it, by its content type."""

from dataclasses import dataclass
from typing import Any

from api.services.services import Services
from api.work.answers import refuse_gone
from pipeline.errors import PressroomError
from pipeline.lifecycle.jobs import Job, find_items

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
