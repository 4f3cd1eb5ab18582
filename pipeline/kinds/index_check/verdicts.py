"""Verdicts: the cache of what search providers said of pages."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from psycopg.types.json import Jsonb

from pipeline.database import Statement
from pipeline.kinds.index_check.circuit_breaker import UPDATES
from pipeline.kinds.index_check.transitions import Event


def keep_verdict(provider: str, page: bytes, output: Mapping[str, Any], *, pace_name: str) -> Statement[None]:
    """Keep what a provider said of a page, and note the good answer for its circuit breaker."""
    return Statement(
        f"WITH noted AS ({UPDATES[Event.ANSWERED]}) INSERT INTO verdict (provider, page, output)"  # noqa: S608  no values in it
        " VALUES (%(provider)s, %(page)s, %(output)s) ON CONFLICT (page, provider) DO UPDATE"
        " SET output = excluded.output, checked_at = now() RETURNING 1 AS kept",
        {"name": pace_name, "page": page, "output": Jsonb(output), "provider": provider},
        lambda rows: None,
    )


def find_verdict(providers: Sequence[str], page: bytes, *, within: timedelta) -> Statement[dict[str, Any] | None]:
    """Read what one of the providers said of a page within a time; the first that said something counts."""
    return Statement(
        "SELECT output FROM verdict WHERE page = %(page)s AND provider = ANY(%(providers)s)"
        " AND checked_at > now() - %(within)s ORDER BY array_position(%(providers)s, provider::text) LIMIT 1",
        {"providers": list(providers), "page": page, "within": within},
        lambda rows: rows[0]["output"] if rows else None,
    )


def forget_verdicts(*, older_than: timedelta, limit: int) -> Statement[int]:
    """Delete verdicts that are too old to be used; returns how many."""
    return Statement(
        "WITH gone AS (DELETE FROM verdict WHERE (page, provider) IN (SELECT page, provider FROM verdict"
        " WHERE checked_at < now() - %(older_than)s ORDER BY checked_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED)"
        " RETURNING 1) SELECT count(*) AS gone FROM gone",
        {"older_than": older_than, "limit": limit},
        lambda rows: int(rows[0]["gone"]),
    )
