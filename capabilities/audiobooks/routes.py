"""Routes of audiobooks: a plan becomes passages, and passages become a file."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import falcon.asgi
from pydantic import BaseModel

from api.http.bodies.forms import Upload
from api.http.operations import Operation, Reply
from api.http.parameters import IDEMPOTENCY_KEY, PREFER
from api.jobs.job_resources import read_job_id
from api.services.services import Services
from api.work.answers import refuse_gone
from api.work.submitting import Order
from api.work.work import Work
from capabilities.audiobooks.kinds.audiobook import Audiobook, AudiobookRequest, BookChapter, PassageInput
from capabilities.audiobooks.kinds.book_file import FORMS, BookFile, BookFileRequest, BookPart
from capabilities.audiobooks.kinds.plan import Plan, PlanRequest, ReadManuscript
from capabilities.speech.kinds.fields import AudioFile, is_auto
from capabilities.speech.kinds.lexicon import LexiconEntry, entries_in
from capabilities.speech.routes.lexicon import find_lexicon, usable
from capabilities.speech.voices.offered_voices import offered_voices
from pipeline.accounts.keys import Caller
from pipeline.errors import Conflict, Gone, InvalidRequest, NotFound
from pipeline.jobs.job_documents import JobDocument
from pipeline.kind import as_json
from pipeline.lifecycle.jobs import Item, Job, find_items, find_job

FILES = "/audiobooks/{job_id}/files"
#: More characters than any slow voice is chosen for.
MANY = 1_000_000


class PlanNotFound(NotFound):
    """There is no such plan or audiobook in the account."""

    code = "audiobook_not_found"


class BookUnfinished(Conflict):
    """The audiobook is being spoken, or lacks passages."""

    code = "audiobook_unfinished"


class PlanWork(Work):
    """POST /audiobooks/plan: the form's file has a name, by which Markdown is known."""

    async def _order_of(self, req: falcon.asgi.Request, caller: Caller, request: BaseModel, upload: Upload) -> Order:
        if isinstance(request, PlanRequest) and not request.name:
            request = request.model_copy(update={"name": upload.names.get("manuscript", "")[-200:]})
        return await super()._order_of(req, caller, request, upload)


class BookWork(Work):
    """POST /audiobooks: takes the chapters of a plan, the account's lexicon, and passages of an earlier audiobook."""

    async def _order_of(self, req: falcon.asgi.Request, caller: Caller, request: BaseModel, upload: Upload) -> Order:
        assert isinstance(request, AudiobookRequest)  # noqa: S101 - the kind's own
        if request.plan is not None:
            request = await self._with_chapters(caller, request, request.plan)
        order = await super()._order_of(req, caller, request, upload)
        items = await self._with_lexicon(caller, request, order.submission.items)
        if request.reuse is not None:
            job, earlier = await _named(self._services, caller, request.reuse, Audiobook.name, field="reuse")
            items = await asyncio.to_thread(with_sounds, items, earlier, job.engine)
        return replace(order, submission=replace(order.submission, items=items))

    async def _with_chapters(self, caller: Caller, request: AudiobookRequest, plan: UUID) -> AudiobookRequest:
        """Return the request with its plan's chapters. Raises InvalidRequest."""
        if request.chapters is not None:
            message = "Send a plan or chapters, not both."
            raise InvalidRequest(message, code="book_twice", field="chapters")
        _, (item,) = await _named(self._services, caller, plan, Plan.name, field="plan")
        if item.output is None:
            message = "The plan has failed; send the manuscript again."
            raise InvalidRequest(message, code="plan_failed", field="plan")
        read = ReadManuscript.model_validate(item.output)
        texts = json.loads(await asyncio.to_thread(self._services.artifacts.get, read.artifact))
        if unknown := [number for number in request.only or () if not 1 <= number <= len(texts)]:
            raise InvalidRequest(
                f"The plan has no chapter {unknown[0]}; it has {len(texts)}.", code="chapter_unknown", field="only"
            )
        wanted = sorted(set(request.only)) if request.only else range(1, len(texts) + 1)
        about = {"title": request.title or read.title, "author": request.author or read.author}
        chapters = [BookChapter.model_validate(texts[number - 1]) for number in wanted]
        return request.model_copy(update={"chapters": chapters, **about})

    async def _with_lexicon(self, caller: Caller, request: AudiobookRequest, items: Sequence[Any]) -> Sequence[Any]:
        stored = await self._services.database.run(find_lexicon(caller.account_id, known=0))
        if stored is None or not stored.entries:
            return items
        entries = [LexiconEntry.model_validate(entry) for entry in stored.entries]
        offers = await self._services.offer_cache.offers()
        is_detected = is_auto(request.language)
        language = None if is_detected else request.language
        voice = offered_voices(offers).pick(voice_name=request.voice_name, language=language, characters=MANY)
        wanted = usable(entries, voice, is_detected=is_detected)

        def told() -> list[Any]:
            found = []
            for given, price, lane in items:
                used = list(map(as_json, entries_in(given["text"], wanted)))
                found.append(({**given, "lexicon": used} if used else given, price, lane))
            return found

        return await asyncio.to_thread(told)


class BookFiles(Work):
    """POST /audiobooks/{job_id}/files: joins the passages of an audiobook that has been spoken."""

    def __init__(self, services: Services) -> None:
        super().__init__(services, services.kinds[BookFile.name], FILES)

    @Operation(
        id="post_audiobook_files",
        tag=Audiobook.queue,
        summary=BookFile.summary,
        parameters=(PREFER, IDEMPOTENCY_KEY),
        body=BookFileRequest,
        example=dict(BookFile.example),
        replies={
            200: Reply("The file.", content=tuple(content_type for content_type, _ in FORMS.values())),
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
        order = await super()._order_of(req, caller, request, upload)
        job = await _find(self._services, caller, req.context.job_id, Audiobook.name)
        items = await self._services.database.run(find_items(job.id))
        parts, book = parts_of(items)
        [(given, price, lane)] = order.submission.items
        given = {**given, **book, "engine": job.engine or "", "parts": [as_json(part) for part in parts]}
        return replace(order, submission=replace(order.submission, items=[(given, price, lane)]))


def with_sounds(items: Sequence[Any], earlier: Sequence[Item], engine: str | None) -> list[Any]:
    """Return new items with the sounds of equal passages that an earlier audiobook has, which are free."""
    known: dict[str, AudioFile] = {}
    for item in earlier:
        if item.output is not None:
            known[PassageInput.model_validate(item.input).fingerprint] = AudioFile.model_validate(item.output)
    found = []
    for given, price, lane in items:
        sound = known.get(PassageInput.model_validate(given).fingerprint)
        if sound is None:
            found.append((given, price, lane))
        else:
            found.append(({**given, "sound": as_json(sound), "engine": engine}, 0, lane))
    return found


def parts_of(items: Sequence[Item]) -> tuple[list[BookPart], dict[str, str]]:
    """Return an audiobook's chapters with their sounds, and its title and author. Raises BookUnfinished."""
    missing = sum(item.output is None for item in items)
    if missing:
        raise BookUnfinished(
            f"{missing:,} of {len(items):,} passages lack sound. Send the book again with reuse; only they are spoken."
        )
    sounds: dict[int, tuple[str, list[str]]] = {}
    for item in items:
        _, found = sounds.setdefault(item.input["chapter"], (item.input.get("title", ""), []))
        found.append(AudioFile.model_validate(item.output).artifact)
    first = items[0].input
    parts = [BookPart(title=title, sounds=tuple(found)) for title, found in sounds.values()]
    return parts, {"title": first.get("book", ""), "author": first.get("author", "")}


async def _named(services: Services, caller: Caller, job_id: UUID, kind: str, *, field: str) -> tuple[Job, list[Item]]:
    """Return the job that a request names in a field, and its items. Raises InvalidRequest."""
    try:
        job = await _find(services, caller, job_id, kind)
    except (Conflict, Gone, NotFound) as error:
        raise InvalidRequest(error.message, code=error.code, field=field) from error
    return job, await services.database.run(find_items(job.id))


async def _find(services: Services, caller: Caller, job_id: UUID, kind: str) -> Job:
    """Return an ended job of a kind. Raises PlanNotFound, BookUnfinished, Gone."""
    job = await services.database.run(find_job(job_id, caller.account_id))
    if job is None or job.kind != kind or not caller.may_use(job.route):
        raise PlanNotFound(f"There is no {kind.replace('_', ' ')} {job_id} in this account.")
    if not job.is_final:
        raise BookUnfinished(f"The job {job_id} is {job.state}. Ask again when it has ended.")
    refuse_gone(job)
    return job


WORK = {"/audiobooks/plan": PlanWork, "/audiobooks": BookWork}
RESOURCES = {FILES: BookFiles}
