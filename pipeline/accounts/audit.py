"""Audit: what people and keys have done in an account, noted in the transaction that does it, and never changed."""

from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar
from uuid import UUID

from psycopg.types.json import Jsonb

from pipeline.database import SQL, Statement, nothing, rows_of
from pipeline.identifiers import first_uuid7, uuid7

Result = TypeVar("Result")

#: The client's address, while a request is answered.
ADDRESS: ContextVar[str | None] = ContextVar("address", default=None)


class Action(StrEnum):
    """Actions that are noted, in a reader's words."""

    SIGNED_IN = "signed in"
    SIGN_IN_FAILED = "sign-in failed"
    SIGNED_OUT = "signed out"
    SESSIONS_ENDED = "sessions ended"
    PASSWORD_CHANGED = "password changed"  # noqa: S105  no password
    EMAIL_CHANGED = "e-mail changed"
    PERSON_INVITED = "person invited"
    INVITATION_WITHDRAWN = "invitation withdrawn"
    PERSON_JOINED = "person joined"
    ROLE_CHANGED = "role changed"
    PERSON_REMOVED = "person removed"
    KEY_CREATED = "key created"
    KEY_CHANGED = "key changed"
    KEY_DELETED = "key deleted"
    WEBHOOK_CHANGED = "webhook changed"
    SITE_CHANGED = "site changed"
    JOB_CANCELLED = "job cancelled"
    JOB_DELETED = "job deleted"
    FACTOR_ADDED = "second factor added"
    FACTOR_REMOVED = "second factor removed"
    FACTORS_RESET = "second factors reset"
    FACTOR_REQUIRED = "second factor required"
    RECOVERY_CODES_MADE = "recovery codes made"
    PROVIDER_LINKED = "provider linked"
    PROVIDER_UNLINKED = "provider unlinked"
    CREDITS_ADDED = "credits added"
    ACCOUNT_CHANGED = "account changed"
    EXPORTED = "exported"


@dataclass(frozen=True, slots=True)
class Actor:
    """The person or key that does something in an account or, with neither, the `pressroom` command."""

    account_id: UUID
    person_id: UUID | None = None
    api_key_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that was done; `actor` is an e-mail, a name or a key's name, as it was then."""

    id: UUID
    at: datetime
    actor: str
    action: str
    subject: str
    detail: dict[str, Any]
    address: str | None


@dataclass(frozen=True, slots=True)
class Wanted:
    """The events wanted; an empty text is any. `first` is the first moment, `end` the first one after the last."""

    text: str = ""
    action: str = ""
    first: datetime | None = None
    end: datetime | None = None


#: The note, to be completed by what it depends on, such as FROM a part of a WITH.
NOTE = SQL(
    "INSERT INTO audit_event (id, account_id, person_id, api_key_id, actor, action, subject, detail, address)"
    " SELECT %(audit_id)s, %(audit_account)s, %(audit_person)s, %(audit_key)s,"
    " coalesce((SELECT coalesce(email, name) FROM person WHERE id = %(audit_person)s),"
    " (SELECT 'key ' || name FROM api_key WHERE id = %(audit_key)s), 'pressroom'),"
    " %(audit_action)s, %(audit_subject)s, %(audit_detail)s, %(audit_address)s"
)
# With the same id, a note that is sent again is one note.
_ALONE = SQL("{note} ON CONFLICT DO NOTHING RETURNING 1 AS noted").format(note=NOTE)
_NOTED = SQL(
    "WITH done AS ({change}), noted AS ({note} FROM done WHERE {when} LIMIT 1 ON CONFLICT DO NOTHING)"
    " SELECT * FROM done"
)
_EVENTS = SQL(
    "SELECT id, at, actor, action, subject, detail, address FROM audit_event WHERE account_id = %(account)s"
    " AND id < %(before)s AND id >= %(first)s AND (%(action)s = '' OR action = %(action)s)"
    " AND strpos(lower(concat_ws(' ', actor, subject, address)), lower(%(text)s)) > 0 ORDER BY id DESC LIMIT %(limit)s"
)
#: Columns of the log as CSV.
COLUMNS = ("at", "who", "action", "subject", "detail", "address")


def note(actor: Actor, action: Action, subject: str = "", **detail: Any) -> Statement[None]:
    """Note an action on `subject`; run it together with the action."""
    return Statement(_ALONE, note_parameters(actor, action, subject, **detail), nothing)


def noted(
    change: Statement[Result], actor: Actor, action: Action, subject: str = "", *, when: str = "true", **detail: Any
) -> Statement[Result]:
    """Return a statement that makes a change, and notes it if it returns a row for which the SQL `when` holds.

    `change` is one INSERT, UPDATE or DELETE with RETURNING, or a call; not one that begins with WITH."""
    parameters = {**change.parameters, **note_parameters(actor, action, subject, **detail)}
    sql = _NOTED.format(change=SQL(change.sql), note=NOTE, when=SQL(when))
    return Statement(sql, parameters, change.read, change.repeatable)


def note_parameters(actor: Actor, action: Action, subject: str = "", **detail: Any) -> dict[str, Any]:
    """Return the parameters of NOTE."""
    return {
        "audit_id": uuid7(),
        "audit_account": actor.account_id,
        "audit_person": actor.person_id,
        "audit_key": actor.api_key_id,
        "audit_action": action.value,
        "audit_subject": subject,
        "audit_detail": Jsonb(detail),
        "audit_address": ADDRESS.get(),
    }


def list_events(account_id: UUID, wanted: Wanted, *, before: UUID | None = None, limit: int) -> Statement[list[Event]]:
    """Read events of an account, newest first: those before the one with an id."""
    last = UUID(int=2**128 - 1) if wanted.end is None else first_uuid7(wanted.end)
    parameters = {
        "account": account_id,
        "before": min(last, before or last),
        "first": UUID(int=0) if wanted.first is None else first_uuid7(wanted.first),
        "action": wanted.action,
        "text": wanted.text,
        "limit": limit,
    }
    return Statement(_EVENTS, parameters, rows_of(Event))


def cells(events: Sequence[Event]) -> Iterator[list[object]]:
    """Return the rows of CSV for events."""
    for one in events:
        detail = ", ".join(f"{name} {value}" for name, value in one.detail.items())
        yield [one.at.isoformat(), one.actor, one.action, one.subject, detail, one.address]


def forget_events(*, older_than: timedelta, limit: int) -> Statement[int]:
    """Delete up to `limit` events so old, which the table's trigger allows only to this statement; return how many."""
    return Statement(
        "WITH allowed AS MATERIALIZED (SELECT set_config('pressroom.audit_retention', 'true', true))"
        " DELETE FROM audit_event WHERE id = ANY(ARRAY(SELECT e.id FROM allowed, audit_event e"
        "  WHERE e.at < now() - %(age)s ORDER BY e.at LIMIT %(limit)s FOR UPDATE OF e SKIP LOCKED))"
        " RETURNING 1 AS gone",
        {"age": older_than, "limit": limit},
        len,
    )
