"""Stored keys: an account's keys as it sees them, with what each has used this month; listed, changed and deleted."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from pydantic import BaseModel, Field

from pipeline.accounts.audit import Action, Actor, noted
from pipeline.accounts.keys import INSERT_KEY, KeyLimits, NewKey, key_columns
from pipeline.database import SQL, Row, Statement, assignments, row_of, rows_of
from pipeline.lifecycle import Priority
from pipeline.timestamps import Timestamp
from pipeline.usage.usage_days import used_sql

REQUESTS = "Most requests per minute; null for the account's limit."
CREDITS = "Most credits per calendar month (UTC); null for no limit."
ROUTES = "Paths that it may use, such as /tts; null for all."
ENDS = "Revoke the key when the person who made it leaves the account."
PRIORITY = "Priority of requests that name none; it orders the account's own jobs alone."


class Key(BaseModel):
    """A key, without its secret."""

    id: UUID
    name: str
    hint: str = Field(description="The end of the secret.")
    requests_per_minute: int | None = Field(description=REQUESTS)
    credits_per_month: int | None = Field(description=CREDITS)
    routes: list[str] | None = Field(description=ROUTES)
    priority: Priority = Field(description=PRIORITY)
    credits_used_this_month: int = Field(description="Credits captured since the month began (UTC).")
    credits_held: int = Field(description="Credits held for its open jobs; they count towards the month.")
    made_by: str | None = Field(description="E-mail or name of the person who made it.")
    ends_with_person: bool = Field(description=ENDS)
    created_at: Timestamp
    last_used_at: Timestamp | None


# Valid keys, without the one that stands for the dashboard's sessions. The ledger says what is held, as its jobs do.
_SELECT = SQL("""
SELECT k.id, k.name, k.hint, k.requests_per_minute, k.credits_per_month, k.routes, k.priority,
       coalesce(c.captured, 0)::bigint AS credits_used_this_month, coalesce(c.held, 0)::bigint AS credits_held,
       (SELECT coalesce(p.email, p.name) FROM person p WHERE p.id = k.person_id) AS made_by, k.ends_with_person,
       k.created_at, k.last_used_at
FROM api_key k
LEFT JOIN (
    SELECT u.api_key_id, sum(u.held) AS held,
           sum(u.credits) FILTER (WHERE u.day >= date_trunc('month', now() AT TIME ZONE 'UTC')::date) AS captured
    FROM ({used}) u GROUP BY u.api_key_id) c ON c.api_key_id = k.id
WHERE k.account_id = %(account)s AND k.revoked_at IS NULL AND NOT k.is_dashboard
""").format(used=used_sql())
#: Columns that a request may change.
CHANGEABLE = ("name", "requests_per_minute", "credits_per_month", "routes", "priority")
_ADD_WITHIN = SQL(
    "{insert} WHERE (SELECT count(*) FROM api_key k WHERE k.account_id = %(account)s"
    " AND k.revoked_at IS NULL AND NOT k.is_dashboard) < %(most)s RETURNING id"
).format(insert=INSERT_KEY)
_CHANGE = SQL(
    "UPDATE api_key SET {changes} WHERE id = %(key)s AND account_id = %(account)s"
    " AND revoked_at IS NULL AND NOT is_dashboard RETURNING name"
)
_DELETE = _CHANGE.format(changes=SQL("revoked_at = now()"))


def list_keys(account_id: UUID) -> Statement[list[Key]]:
    """Read the valid keys of an account, oldest first."""
    return Statement(f"{_SELECT} ORDER BY k.created_at, k.id", {"account": account_id}, rows_of(Key))


def find_key(key_id: UUID, account_id: UUID) -> Statement[Key | None]:
    """Read a valid key of an account; None when it has no such key."""
    return Statement(f"{_SELECT} AND k.id = %(key)s", {"account": account_id, "key": key_id}, row_of(Key))


def add_key_within(
    maker: Actor, key: NewKey, name: str, limits: KeyLimits, *, ends_with_person: bool, most: int
) -> Statement[bool]:
    """Give an account another key, and note it, if it has fewer than `most`; returns whether it was given.

    Runs in one transaction with `lock_account` before it, so that two at once are counted one after the other."""
    columns = key_columns(maker, key, name, limits, ends_with_person=ends_with_person)
    adding = Statement(_ADD_WITHIN, {**columns, "most": most}, bool, repeatable=False)
    return noted(adding, maker, Action.KEY_CREATED, name, id=str(key.id))


def change_key(key: Key, actor: Actor, changed: Mapping[str, Any]) -> Statement[bool]:
    """Change columns of a valid key, some of CHANGEABLE, and note it; returns whether the account has such a key."""
    changes = assignments(name for name in CHANGEABLE if name in changed) or SQL("id = id")
    change = Statement(_CHANGE.format(changes=changes), {**changed, "key": key.id, "account": actor.account_id}, bool)
    detail = {name: value for name, value in changed.items() if value != getattr(key, name)}
    return noted(change, actor, Action.KEY_CHANGED, key.name, id=str(key.id), **detail)


def delete_key(key: Key, actor: Actor) -> Statement[str | None]:
    """Refuse a key of an account from now on, and note it; returns its name, None when there is no such key.

    Its row stays: the ledger names it."""
    deletion = Statement(_DELETE, {"key": key.id, "account": actor.account_id}, _name)
    return noted(deletion, actor, Action.KEY_DELETED, key.name, id=str(key.id))


def _name(rows: list[Row]) -> str | None:
    return str(rows[0]["name"]) if rows else None
