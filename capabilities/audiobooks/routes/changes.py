"""Changes: how far an audiobook is, and a new one with some passages changed, or with those that it lacks."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import falcon.asgi
from pydantic import BaseModel

from api.http.bodies.fields import read_fields
from api.http.bodies.forms import Upload
from api.http.operations import Operation, Reply
from api.http.parameters import IDEMPOTENCY_KEY
from api.http.request_context import context_of
from api.jobs.job_resources import read_job_id
from api.services.resource import Resource
from api.services.services import Services
from api.work.answers import show_json
from api.work.preferences import read_idempotency_key
from api.work.submitting import Order
from api.work.work import Sent, Work
from capabilities.audiobooks.kinds.audiobook import (
    Audiobook,
    AudiobookCreated,
    AudiobookRequest,
    BookChanges,
    BookChapter,
    check_pauses,
)
from capabilities.audiobooks.kinds.cast import written
from capabilities.audiobooks.routes.books import Items, priced, sound_of, with_lexicon
from capabilities.audiobooks.routes.finding import find_ended
from capabilities.audiobooks.routes.progress import BookProgress, read_progress
from capabilities.speech.kinds.lexicon import LexiconEntry
from pipeline.accounts.keys import Caller
from pipeline.errors import Conflict, InvalidRequest
from pipeline.kind import AnyKind
from pipeline.lifecycle.jobs import Item, find_items
from pipeline.offers.offers import Offers

PATH = "/audiobooks/{job_id}"


class BookComplete(Conflict):
    """All passages of the audiobook are spoken, and none is to change."""

    code = "audiobook_complete"
    message = "All passages are spoken. Name those that change, with their new texts."


class Book(Resource):
    """GET and PATCH /audiobooks/{job_id}."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._changes = Changes(services)

    @Operation(
        id="get_audiobook",
        tag=Audiobook.queue,
        summary="Tell how far an audiobook is, chapter by chapter, and how long it will take.",
        replies={200: Reply("The audiobook.", BookProgress)},
        errors=(410,),
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        """Answer with the chapters."""
        caller = await self._services.authenticate_reader(req)
        show_json(resp, (await read_progress(self._services, caller, read_job_id(job_id))).model_dump(mode="json"))

    @Operation(
        id="patch_audiobook",
        tag=Audiobook.queue,
        summary="Make a new audiobook of an ended one: changed passages, and those that it lacks, are spoken.",
        parameters=(IDEMPOTENCY_KEY,),
        body=BookChanges,
        example={"passages": [{"number": 1, "text": "It begins anew."}]},
        replies={201: Reply("The receipt of the new audiobook.", AudiobookCreated)},
        errors=(402, 409, 410, 422),
    )
    async def on_patch(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        """Make a new audiobook."""
        req.context.job_id = read_job_id(job_id)
        await self._changes.on_post(req, resp)


class Changes(Work):
    """Makes the audiobook that a PATCH asks for."""

    def __init__(self, services: Services) -> None:
        super().__init__(services, services.kinds[Audiobook.name], PATH)

    def _checked(self, sent: Sent, upload: Upload) -> BaseModel:
        return read_fields(BookChanges, sent)

    async def _order_of(self, req: falcon.asgi.Request, caller: Caller, request: BaseModel, upload: Upload) -> Order:
        assert isinstance(request, BookChanges)  # noqa: S101 - _checked made it
        services = self._services
        job = await find_ended(services, caller, req.context.job_id, Audiobook.name)
        earlier = await services.database.run(find_items(job.id))
        texts = _texts(request, len(earlier), job.request.get("cast") or {})
        if not texts and all(item.output is not None for item in earlier):
            raise BookComplete
        offers = await services.offer_cache.offers()
        await asyncio.to_thread(_check, self._kind, texts, earlier, offers)
        order = Order.of(
            self._kind,
            self._route,
            caller,
            request,
            job_id=upload.job_id,
            request_id=context_of(req).request_id,
            idempotency_key=read_idempotency_key(req),
            # The book is in the path; the same changes of another one are another request.
            file_hashes={"audiobook": str(job.id)},
            file_names={},
            settings=services.settings,
        )
        own = [LexiconEntry.model_validate(entry) for entry in job.request.get("lexicon") or ()]
        items = await with_lexicon(services, caller, changed(earlier, texts), own)
        asked = {**job.request, "reuse": str(job.id)}
        return replace(order, submission=replace(order.submission, items=items, request=asked))


def changed(earlier: Sequence[Item], texts: Mapping[int, str]) -> Items:
    """Return the items of a new audiobook: passages that are the same, and were spoken, are free."""
    found: list[dict[str, Any]] = []
    for number, item in enumerate(earlier, start=1):
        given = {name: value for name, value in item.input.items() if name not in ("sound", "cover")}
        if "cover" in item.input:
            given["cover"] = (item.output or item.input).get("cover")
        if number in texts:
            given = {**given, "text": texts[number], "lexicon": []}
        elif item.output is not None:
            given["sound"] = sound_of(item)
        found.append(given)
    return priced(found)


def _texts(request: BookChanges, passages: int, cast: Mapping[str, str]) -> dict[int, str]:
    """Return the new texts by the numbers of their passages. Raises InvalidRequest."""
    texts = {one.number: written(one.text.strip(), cast, has_dialogue=False) for one in request.passages}
    if unknown := [number for number in texts if number > passages]:
        message = f"The audiobook has no passage {unknown[0]}; it has {passages:,}."
        raise InvalidRequest(message, code="passage_unknown", field="passages")
    return texts


def _check(kind: AnyKind, texts: Mapping[int, str], earlier: Sequence[Item], offers: Offers) -> None:
    """Refuse texts that their voices can't read, and too much silence. Raises InvalidRequest."""
    check_pauses(texts.get(number, item.input["text"]) for number, item in enumerate(earlier, start=1))
    for number, text in texts.items():
        given = earlier[number - 1].input
        how = {name: given[name] for name in ("language", "voice_name") if given.get(name)}
        kind.check(AudiobookRequest(chapters=[BookChapter(text=text)], **how), offers)
