"""Pauses: queues, kinds, providers and accounts that an operator has stopped, until they are resumed.

A pause is a row: it survives restarts, and every claim looks at it. Items that are out finish; the others stay as they
are, and their jobs' deadlines go on."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pipeline.database import Row, Statement, rows_of
from pipeline.errors import InvalidRequest
from pipeline.registry import Kinds, queues
from pipeline.settings import Settings

#: Scopes of a pause, as `models.operations` has them for its CHECK.
PAUSE_SCOPES = ("queue", "kind", "provider", "account")
#: Longest reason.
MAX_REASON = 200


@dataclass(frozen=True, slots=True)
class Pause:
    """Something that is paused. `title` is its name for people: an account's own."""

    scope: str
    name: str
    title: str
    reason: str | None
    paused_at: datetime


def read_pauses() -> Statement[list[Pause]]:
    """Read all pauses, the oldest first."""
    return Statement(
        "SELECT p.scope, p.name, coalesce(a.name, p.name) AS title, p.reason, p.paused_at FROM pause p"
        " LEFT JOIN account a ON p.scope = 'account' AND a.id::text = p.name ORDER BY p.paused_at, p.scope, p.name",
        {},
        rows_of(Pause),
    )


def pause(scope: str, name: str, reason: str = "") -> Statement[bool]:
    """Pause something; returns whether it was not paused before. Names are those of `check_pause`."""
    return Statement(
        "INSERT INTO pause (scope, name, reason) VALUES (%(scope)s, %(name)s, %(reason)s) ON CONFLICT DO NOTHING"
        " RETURNING 1 AS paused",
        {"scope": scope, "name": name, "reason": reason or None},
        bool,
    )


def resume(scope: str, name: str) -> Statement[bool]:
    """Resume something; returns whether it was paused."""
    return Statement(
        "DELETE FROM pause WHERE scope = %(scope)s AND name = %(name)s RETURNING 1 AS resumed",
        {"scope": scope, "name": name},
        bool,
    )


def list_providers(settings: Settings) -> Statement[list[str]]:
    """Read the names of all providers: search providers, and endpoints."""

    def read(rows: list[Row]) -> list[str]:
        return sorted({*(row["name"] for row in rows), *settings.endpoints})

    return Statement(
        "SELECT split_part(name, ':', 1) AS name FROM search_provider UNION SELECT name FROM endpoint", {}, read
    )


def check_pause(kinds: Kinds, providers: Sequence[str], scope: str, name: str, reason: str = "") -> None:
    """Refuse a scope that can't be paused. Raises InvalidRequest."""
    known = {"queue": queues(kinds), "kind": list(kinds), "provider": providers}
    if scope not in PAUSE_SCOPES:
        raise InvalidRequest(f"{scope[:20]!r} can't be paused; {', '.join(PAUSE_SCOPES)} can.")
    if len(reason) > MAX_REASON:
        raise InvalidRequest(f"The reason has {len(reason)} characters; it may have {MAX_REASON}.")
    if scope != "account" and name not in known[scope]:
        raise InvalidRequest(f"There is no {scope} {name[:40]!r}; choose {', '.join(known[scope]) or 'none'}.")
    if scope == "account":
        try:
            UUID(name)
        except ValueError:
            raise InvalidRequest(f"{name[:40]!r} is not an account's id.") from None
