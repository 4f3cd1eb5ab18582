"""Audit: what people and keys have done in an account, noted in the transaction that does it, and never changed."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar
from uuid import UUID

from psycopg.types.json import Jsonb

from pipeline.database import SQL, Statement, nothing
from pipeline.identifiers import uuid7

Result = TypeVar("Result")


class Action(StrEnum):
    """What is noted, in a reader's words."""

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
    CREDITS_ADDED = "credits added"
    EXPORTED = "exported"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something in an account: a person, a key or, with neither, the `pressroom` command."""

    account_id: UUID
    person_id: UUID | None = None
    api_key_id: UUID | None = None
    address: str | None = None


_INSERT = SQL(
    "INSERT INTO audit_event (id, account_id, person_id, api_key_id, actor, action, subject, detail, address)"
    " SELECT %(audit_id)s, %(audit_account)s, %(audit_person)s, %(audit_key)s,"
    " coalesce((SELECT coalesce(email, name) FROM person WHERE id = %(audit_person)s),"
    " (SELECT 'key ' || name FROM api_key WHERE id = %(audit_key)s), 'pressroom'),"
    " %(audit_action)s, %(audit_subject)s, %(audit_detail)s, %(audit_address)s"
)
# With the same id a note that is sent again is one note.
_NOTE = SQL("{insert} ON CONFLICT DO NOTHING RETURNING 1 AS noted").format(insert=_INSERT)
_NOTED = SQL("WITH done AS ({change}), noted AS ({insert} FROM done LIMIT 1 ON CONFLICT DO NOTHING) SELECT * FROM done")


def note(actor: Actor, action: Action, subject: str = "", **detail: Any) -> Statement[None]:
    """Note what was done to `subject`; run it together with what does it."""
    return Statement(_NOTE, _parameters(actor, action, subject, detail), nothing)


def noted(
    change: Statement[Result], actor: Actor, action: Action, subject: str = "", **detail: Any
) -> Statement[Result]:
    """Return a statement that makes a change and notes it where it returns a row.

    `change` is one INSERT, UPDATE or DELETE with RETURNING, or a call; not one that begins with WITH."""
    parameters = {**change.parameters, **_parameters(actor, action, subject, detail)}
    sql = _NOTED.format(change=SQL(change.sql), insert=_INSERT)
    return Statement(sql, parameters, change.read, change.repeatable)


def _parameters(actor: Actor, action: Action, subject: str, detail: dict[str, Any]) -> dict[str, Any]:
    return {
        "audit_id": uuid7(),
        "audit_account": actor.account_id,
        "audit_person": actor.person_id,
        "audit_key": actor.api_key_id,
        "audit_action": action.value,
        "audit_subject": subject,
        "audit_detail": Jsonb(detail),
        "audit_address": actor.address,
    }
