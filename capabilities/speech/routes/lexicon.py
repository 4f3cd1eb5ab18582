"""Lexicon: the words that an account has spoken in another way, and the routes that apply them."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import falcon.asgi
from psycopg.types.json import Jsonb
from pydantic import BaseModel, Field

from api.http.bodies.bodies import read_json, refuse_length
from api.http.bodies.fields import read_sent_fields
from api.http.bodies.forms import Upload
from api.http.operations import Operation, Reply
from api.services.auth import header_key
from api.services.resource import Resource
from api.services.services import Services
from api.work.answers import show_json
from api.work.streamed_work import StreamedWork
from api.work.submitting import Order, is_replay
from api.work.work import Work
from capabilities.speech.kinds.fields import SpokenRequest
from capabilities.speech.kinds.lexicon import LexiconEntry, LexiconTooLong, entries_in
from capabilities.speech.voices.offered_voices import offered_voices
from capabilities.speech.voices.voices import Voice
from pipeline.accounts.keys import Caller
from pipeline.database import Row, Statement
from pipeline.errors import InvalidRequest
from pipeline.kind import AnyKind, Request, as_json
from pipeline.timestamps import Timestamp

#: Most entries of a lexicon (docs/api.md, Limits), and room for that many of the longest in any script.
MAX_ENTRIES = 1_000
MAX_BODY_BYTES = 8 * 2**20
#: Lexicons that a process keeps for each route, half a megabyte each, so that only changed ones are read.
MAX_CACHED = 16


class EntryTwice(InvalidRequest):
    """Two entries are for the same word."""

    code = "lexicon_entry_twice"


class LexiconRequest(Request):
    """All entries. They replace the previous ones."""

    entries: list[LexiconEntry] = Field(max_length=MAX_ENTRIES)


class LexiconDocument(BaseModel):
    """An account's lexicon."""

    entries: list[LexiconEntry]
    total: int
    updated_at: Timestamp | None = Field(description="null if it was never written.")


@dataclass(frozen=True, slots=True)
class StoredLexicon:
    """The row of an account's lexicon; `entries` is None if the reader has this version already."""

    version: int
    updated_at: datetime
    entries: list[dict[str, Any]] | None


def find_lexicon(account_id: UUID, *, known: int = 0) -> Statement[StoredLexicon | None]:
    """Read an account's lexicon, without its entries if it is still the `known` version. None if there is none."""
    return Statement(
        "SELECT version, updated_at, CASE WHEN version <> %(known)s THEN entries END AS entries FROM lexicon"
        " WHERE account_id = %(account)s",
        {"account": account_id, "known": known},
        _read_lexicon,
    )


def replace_lexicon(account_id: UUID, entries: list[dict[str, Any]]) -> Statement[StoredLexicon | None]:
    """Replace an account's lexicon. Done twice, it counts two versions."""
    return Statement(
        "INSERT INTO lexicon AS l (account_id, entries) VALUES (%(account)s, %(entries)s)"
        " ON CONFLICT (account_id) DO UPDATE SET entries = excluded.entries, version = l.version + 1,"
        " updated_at = now() RETURNING version, updated_at, entries",
        {"account": account_id, "entries": Jsonb(entries)},
        _read_lexicon,
    )


def _read_lexicon(rows: list[Row]) -> StoredLexicon | None:
    return StoredLexicon(**rows[0]) if rows else None


class LexiconResource(Resource):
    """GET and PUT /tts/lexicon."""

    @Operation(
        id="get_lexicon",
        tag="synthesis",
        summary="Return the account's lexicon: words and how to say them.",
        replies={200: Reply("The lexicon; empty if it was never written.", LexiconDocument)},
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with the account's lexicon."""
        caller = await self._services.authenticate_reader(req)
        _show(resp, await self._services.database.run(find_lexicon(caller.account_id)))

    @Operation(
        id="put_lexicon",
        tag="synthesis",
        summary=f"Replace the lexicon with up to {MAX_ENTRIES:,} entries, for texts sent from now on.",
        body=LexiconRequest,
        example={"entries": [{"word": "Siobhan", "replacement": "Shivawn"}]},
        replies={200: Reply("The new lexicon.", LexiconDocument)},
        errors=(415,),
    )
    async def on_put(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Replace the account's lexicon, for all later submissions."""
        services = self._services
        refuse_length(req, MAX_BODY_BYTES)
        caller = await services.authenticate_reader(req) if header_key(req) else None
        body, fields = await read_json(req, max_bytes=MAX_BODY_BYTES)
        caller = caller or await services.authenticate_reader(req, fields.get("api_key"))
        entries = read_sent_fields(req, LexiconRequest, body).entries
        _refuse_doubles(entries)
        _show(resp, await services.database.run(replace_lexicon(caller.account_id, list(map(as_json, entries)))))


class SpeakingWork(Work):
    """POST of a kind that speaks a text.

    Its item keeps the entries of the account's lexicon that occur in the text, so that a retry speaks it alike."""

    def __init__(self, services: Services, kind: AnyKind, route: str) -> None:
        super().__init__(services, kind, route)
        self._known: OrderedDict[UUID, tuple[int, list[LexiconEntry]]] = OrderedDict()

    async def _order_of(self, req: falcon.asgi.Request, caller: Caller, request: BaseModel, upload: Upload) -> Order:
        order = await super()._order_of(req, caller, request, upload)
        entries = await self._entries(caller.account_id)
        if not entries or not isinstance(request, SpokenRequest):
            return order
        offers = await self._services.offer_cache.offers()
        voice = offered_voices(offers).pick(
            voice_name=request.voice_name, language=request.stated_language, characters=len(request.text)
        )
        wanted = usable(entries, voice, is_detected=request.is_detected)
        # In a thread, since a thousand entries in a text of 50,000 characters take 70 ms.
        try:
            found = list(map(as_json, await asyncio.to_thread(entries_in, request.text, wanted)))
        except LexiconTooLong:
            # A replay is not spoken again, so the lexicon does not matter.
            if not await is_replay(self._services, order.submission):
                raise
            return order
        items = [({**stored, "lexicon": found}, price, lane) for stored, price, lane in order.submission.items]
        return replace(order, submission=replace(order.submission, items=items)) if found else order

    async def _entries(self, account_id: UUID) -> list[LexiconEntry]:
        known, entries = self._known.pop(account_id, (0, []))
        stored = await self._services.database.run(find_lexicon(account_id, known=known))
        if stored is None:
            return []
        if stored.entries is not None:
            entries = [LexiconEntry.model_validate(entry) for entry in stored.entries]
        self._known[account_id] = (stored.version, entries)
        if len(self._known) > MAX_CACHED:
            self._known.popitem(last=False)
        return entries


def usable(entries: list[LexiconEntry], voice: Voice, *, is_detected: bool) -> list[LexiconEntry]:
    """Return the entries for a voice. If the language is to be detected, the worker drops those of other languages."""
    found = [entry for entry in entries if entry.language is None or is_detected or voice.speaks(entry.language)]
    # The last of two entries for the same word counts: the one with a region.
    return sorted(found, key=lambda entry: len(entry.language or ""))


class SpeakingStream(SpeakingWork, StreamedWork):
    """POST of a kind that streams a text."""


def _refuse_doubles(entries: list[LexiconEntry]) -> None:
    seen: dict[Any, int] = {}
    for number, entry in enumerate(entries):
        # Us and US may differ.
        word = (entry.key, entry.case_sensitive, entry.language and entry.language.lower())
        first = seen.setdefault(word, number)
        if first != number:
            raise EntryTwice(
                f"The entries {first} and {number} are both for {entry.word!r}; send one of them.",
                field=f"entries.{number}.word",
            )


def _show(resp: falcon.asgi.Response, stored: StoredLexicon | None) -> None:
    entries = [LexiconEntry.model_validate(entry) for entry in (stored and stored.entries) or ()]
    updated_at = stored and stored.updated_at
    document = LexiconDocument(entries=entries, total=len(entries), updated_at=updated_at)
    show_json(resp, document.model_dump(mode="json"))
