"""Books: a plan, and its chapters as passages, with the account's lexicon and the sounds of an earlier audiobook."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import falcon.asgi
from pydantic import BaseModel

from api.http.bodies.forms import Upload
from api.services.services import Services
from api.work.submitting import Order
from api.work.work import Work
from capabilities.audiobooks.kinds.audiobook import (
    Audiobook,
    AudiobookRequest,
    BookChapter,
    PassageInput,
    SpokenPassage,
    fitted,
)
from capabilities.audiobooks.kinds.cast import plain
from capabilities.audiobooks.kinds.passages import prices_of
from capabilities.audiobooks.kinds.plan import Plan, PlanRequest, ReadManuscript
from capabilities.audiobooks.routes.finding import find_named
from capabilities.speech.kinds.fields import CHARACTERS_PER_CREDIT, is_auto
from capabilities.speech.kinds.lexicon import LexiconEntry, entries_in
from capabilities.speech.routes.lexicon import find_lexicon, usable
from capabilities.speech.voices.offered_voices import offered_voices
from pipeline.accounts.keys import Caller
from pipeline.errors import InvalidRequest
from pipeline.kind import as_json
from pipeline.lifecycle.jobs import Item

#: More characters than any slow voice is chosen for.
MANY = 1_000_000
#: Items of a submission: input, price, lane.
Items = Sequence[tuple[Mapping[str, Any], int, str | None]]


class PlanWork(Work):
    """POST /audiobooks/plan: the form's file has a name, by which Markdown is known."""

    async def _order_of(self, req: falcon.asgi.Request, caller: Caller, request: BaseModel, upload: Upload) -> Order:
        if isinstance(request, PlanRequest) and not request.name:
            await self._resumable(caller, self._kind, request, upload)  # which names the upload
            name = upload.names.get("manuscript") or upload.names.get("upload") or ""
            request = request.model_copy(update={"name": name[-200:]})
        return await super()._order_of(req, caller, request, upload)


class BookWork(Work):
    """POST /audiobooks."""

    async def _order_of(self, req: falcon.asgi.Request, caller: Caller, request: BaseModel, upload: Upload) -> Order:
        assert isinstance(request, AudiobookRequest)  # noqa: S101 - the kind's own
        cover = None
        if request.plan is not None:
            request, cover = await self._planned(caller, request, request.plan)
        voices = offered_voices(await self._services.offer_cache.offers())
        order = await super()._order_of(req, caller, fitted(request, voices), upload)
        items = await with_lexicon(self._services, caller, order.submission.items, request.lexicon)
        if cover is not None:
            (given, price, lane), *rest = items
            items = [({**given, "cover": cover}, price, lane), *rest]
        if request.reuse is not None:
            _, earlier = await find_named(self._services, caller, request.reuse, Audiobook.name, field="reuse")
            items = await asyncio.to_thread(with_sounds, items, earlier)
        # Lists call a job by its name.
        named = {**order.submission.request, "name": request.title} if request.title else order.submission.request
        return replace(order, submission=replace(order.submission, items=items, request=named))

    async def _planned(
        self, caller: Caller, request: AudiobookRequest, plan: UUID
    ) -> tuple[AudiobookRequest, str | None]:
        """Return the request with its plan's chapters, and the plan's cover. Raises InvalidRequest."""
        if request.chapters is not None:
            message = "Send a plan or chapters, not both."
            raise InvalidRequest(message, code="book_twice", field="chapters")
        _, (item,) = await find_named(self._services, caller, plan, Plan.name, field="plan")
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
        chapters = [
            BookChapter.model_validate({**texts[number - 1], "language": read.chapters[number - 1].language})
            for number in wanted
        ]
        about = {"title": request.title or read.title, "author": request.author or read.author}
        return request.model_copy(update={"chapters": chapters, **about}), read.cover


async def with_lexicon(services: Services, caller: Caller, items: Items, own: Sequence[LexiconEntry]) -> Items:
    """Return items with the entries of the account's lexicon, and of the book's own, that occur in them."""
    stored = await services.database.run(find_lexicon(caller.account_id, known=0))
    entries = [LexiconEntry.model_validate(entry) for entry in (stored and stored.entries) or ()]
    if not (entries := [*entries, *own]):
        return items
    voices = offered_voices(await services.offer_cache.offers())

    def told() -> Items:
        found = []
        for given, price, lane in items:
            if "sound" in given:
                found.append((given, price, lane))  # it keeps the words that it was spoken with
                continue
            language = given.get("language")
            is_detected = is_auto(language)
            spoken = None if is_detected else language
            voice = voices.pick(voice_name=given.get("voice_name"), language=spoken, characters=MANY)
            used = entries_in(given["text"], usable(entries, voice, is_detected=is_detected))
            found.append(({**given, "lexicon": list(map(as_json, used))} if used else given, price, lane))
        return found

    return await asyncio.to_thread(told)


def with_sounds(items: Items, earlier: Sequence[Item]) -> Items:
    """Return new items with the sounds of equal passages that an earlier audiobook has, which are free."""
    known: dict[str, dict[str, Any]] = {}
    for item in earlier:
        if item.output is not None:
            known[PassageInput.model_validate(item.input).fingerprint] = sound_of(item)
    found: list[Mapping[str, Any]] = []
    for given, _, _ in items:
        sound = known.get(PassageInput.model_validate(given).fingerprint)
        found.append(given if sound is None else {**given, "sound": sound})
    return priced(found)


def priced(passages: Sequence[Mapping[str, Any]]) -> Items:
    """Return passages as items: those with a sound are free, and the others cost what one text costs."""
    lengths = [0 if "sound" in given else len(plain(given["text"])) for given in passages]
    return [
        (given, price, None) for given, price in zip(passages, prices_of(lengths, CHARACTERS_PER_CREDIT), strict=True)
    ]


def sound_of(item: Item) -> dict[str, Any]:
    """Return a spoken passage's output, as a later audiobook takes it."""
    return as_json(SpokenPassage.model_validate(item.output))
