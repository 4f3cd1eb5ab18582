"""Verdicts: the cache of answers about pages."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from capabilities.index_check.providers.circuit_breaker import UPDATES, Event
from capabilities.index_check.settings import Reuse
from pipeline.database import SQL, Row, Statement, columns, nothing

_KEEP = SQL(
    "WITH noted AS ({answered}) INSERT INTO verdict (provider, page, output)"
    " VALUES (%(provider)s, %(page)s, %(output)s) ON CONFLICT (page, provider) DO UPDATE"
    " SET output = excluded.output, checked_at = now() RETURNING 1 AS kept"
).format(answered=UPDATES[Event.ANSWERED])


def keep_verdict(provider: str, page: bytes, output: Mapping[str, Any], *, pace_name: str) -> Statement[None]:
    """Keep a provider's answer about a page, and note it for its circuit breaker."""
    values = {"name": pace_name, "page": page, "output": Jsonb(output), "provider": provider}
    return Statement(_KEEP, values, nothing)


def find_verdict(
    providers: Sequence[str], page: bytes, *, reuse: Reuse, since_job: UUID | None = None
) -> Statement[dict[str, Any] | None]:
    """Read a fresh answer about a page, of the first provider that has one; `since_job` allows none from before it."""
    return Statement(
        "SELECT v.output, now() - v.checked_at AS age FROM verdict v"
        " WHERE v.page = %(page)s AND v.provider = ANY(%(providers)s) AND v.checked_at > now() -"
        " CASE WHEN v.output->>'reason' = 'indexed' THEN %(indexed)s ELSE %(not_indexed)s END"
        " AND (%(job)s::uuid IS NULL OR v.checked_at > (SELECT j.created_at FROM job j WHERE j.id = %(job)s))"
        " ORDER BY array_position(%(providers)s, v.provider::text) LIMIT 1",
        {
            "providers": list(providers),
            "page": page,
            "indexed": reuse.indexed,
            "not_indexed": reuse.not_indexed,
            "job": since_job,
        },
        _reused,
    )


def _reused(rows: list[Row]) -> dict[str, Any] | None:
    if not rows:
        return None
    return {**rows[0]["output"], "reused": True, "age_seconds": int(rows[0]["age"].total_seconds())}


def forget_verdicts(*, older_than: timedelta, limit: int) -> Statement[int]:
    """Delete expired verdicts; returns how many."""
    return forget_checked("verdict", ["page", "provider"], older_than, limit)


def forget_checked(table: str, key: Sequence[str], older_than: timedelta, limit: int) -> Statement[int]:
    """Delete the rows of a table that were checked too long ago; returns how many."""
    return Statement(
        SQL(
            "WITH gone AS (DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table}"
            " WHERE checked_at < now() - %(older_than)s ORDER BY checked_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)"
            " RETURNING 1) SELECT count(*) AS gone FROM gone"
        ).format(table=SQL(table), key=columns(key)),
        {"older_than": older_than, "limit": limit},
        lambda rows: int(rows[0]["gone"]),
    )
