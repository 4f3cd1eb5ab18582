"""Verdicts: the cache of what search providers said of pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from capabilities.index_check.providers.circuit_breaker import UPDATES
from capabilities.index_check.providers.transitions import Event
from capabilities.index_check.settings import Reuse
from pipeline.database import SQL, Statement


@dataclass(frozen=True, slots=True)
class Known:
    """What a provider said of a page, and how long ago."""

    output: dict[str, Any]
    age: timedelta


_KEEP = SQL(
    "WITH noted AS ({answered}) INSERT INTO verdict (provider, page, output)"
    " VALUES (%(provider)s, %(page)s, %(output)s) ON CONFLICT (page, provider) DO UPDATE"
    " SET output = excluded.output, checked_at = now() RETURNING 1 AS kept"
).format(answered=UPDATES[Event.ANSWERED])


def keep_verdict(provider: str, page: bytes, output: Mapping[str, Any], *, pace_name: str) -> Statement[None]:
    """Keep what a provider said of a page, and note the good answer for its circuit breaker."""
    return Statement(
        _KEEP,
        {"name": pace_name, "page": page, "output": Jsonb(output), "provider": provider},
        lambda rows: None,
    )


def find_verdict(
    providers: Sequence[str], page: bytes, *, reuse: Reuse, since_job: UUID | None = None
) -> Statement[Known | None]:
    """Read what one of the providers said of a page lately; the first that said something counts.

    `since_job`: only what was said since that job was made. That a page is not indexed, as processes of the release
    before say it without proof, is not used: they don't name the index."""
    return Statement(
        "SELECT v.output, now() - v.checked_at AS age FROM verdict v"
        " WHERE v.page = %(page)s AND v.provider = ANY(%(providers)s) AND v.checked_at > now() -"
        " CASE WHEN v.output->>'reason' = 'indexed' THEN %(indexed)s ELSE %(not_indexed)s END"
        " AND (v.output->>'reason' = 'indexed' OR v.output ? 'index')"
        " AND (%(job)s::uuid IS NULL OR v.checked_at > (SELECT j.created_at FROM job j WHERE j.id = %(job)s))"
        " ORDER BY array_position(%(providers)s, v.provider::text) LIMIT 1",
        {
            "providers": list(providers),
            "page": page,
            "indexed": reuse.indexed,
            "not_indexed": reuse.not_indexed,
            "job": since_job,
        },
        lambda rows: Known(**rows[0]) if rows else None,
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
