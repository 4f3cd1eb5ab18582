"""Audit: the account's log of what people and keys have done, for keys without limits and for owners."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

import falcon
import falcon.asgi
from pydantic import BaseModel, Field

from api.accounts.keys.making import require_unlimited
from api.http.operations import Operation, Reply
from api.http.parameters import SINCE, UNTIL, choice, limit, text, uuid
from api.services.resource import Resource
from api.work.answers import show_json
from pipeline.accounts.audit import Action, Wanted, list_events
from pipeline.timestamps import Timestamp

MAX_LINES = 1_000
SEARCH = text("q", "A part of who, what or the address.", longest=200)
ACTION = choice("action", "What was done.", tuple(Action))
BEFORE = uuid("before", "The id of the last event of the previous page.", "Follow the link to the next page.")
LIMIT = limit(100, MAX_LINES)


class AuditEvent(BaseModel):
    """One action, by whom and from where."""

    id: UUID
    at: Timestamp
    actor: str = Field(description="The person's e-mail or name, or the key's name, as it was then.")
    action: str
    subject: str = Field(description="What it was done to.")
    detail: dict[str, Any]
    address: str | None


def read_wanted(req: falcon.asgi.Request) -> Wanted:
    """Return the events that a query asks for. Raises ParameterInvalid."""
    return Wanted(SEARCH.read(req) or "", ACTION.read(req) or "", SINCE.read(req), UNTIL.read(req))


class Audit(Resource):
    """GET /account/audit."""

    @Operation(
        id="get_account_audit",
        tag="account",
        summary="List what people and keys have done in the account, newest first.",
        parameters=(SEARCH, ACTION, SINCE, UNTIL, BEFORE, LIMIT),
        replies={200: Reply("A page, with the next one in Link.", list[AuditEvent])},
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        caller = await self._services.authenticate_reader(req)
        require_unlimited(caller)
        most = LIMIT.read(req)
        listing = list_events(caller.account_id, read_wanted(req), before=BEFORE.read(req), limit=most)
        events = await self._services.database.run(listing)
        if len(events) == most:
            kept = {name: value for name, value in req.params.items() if name not in {"api_key", "before"}}
            resp.append_link(f"{req.path}{falcon.to_query_str({**kept, 'before': events[-1].id})}", "next")
        show_json(resp, [AuditEvent(**asdict(one)) for one in events])


RESOURCES: Mapping[str, type[Resource]] = {"/account/audit": Audit}
