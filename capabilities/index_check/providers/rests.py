"""Rests: the search providers that a job waits for, as none may be asked now, or those that were did not answer."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, Field

from capabilities.index_check.providers.causes import BLOCKS, cause_of, code_of
from capabilities.index_check.providers.circuit_breaker import STATE
from capabilities.index_check.providers.transitions import OUT_OF_USE, RESTING
from pipeline.database import SQL
from pipeline.timestamps import Timestamp, timestamp


class RestingProvider(BaseModel):
    """A search provider that is not asked now."""

    provider: str
    until: Timestamp
    code: str = Field(description="Why it rests, or is asked again: captcha, throttled, config, transport …")
    message: str = Field(description="The same in words.")


class WaitingFor(BaseModel):
    """Why a job's URLs wait."""

    until: Timestamp = Field(description="When the first of them is asked again.")
    providers: list[RestingProvider]

    @property
    def is_block(self) -> bool:
        """Whether all of them refuse queries for now."""
        return all(one.code in BLOCKS for one in self.providers)

    @property
    def description(self) -> str:
        """The same in words."""
        each = "; ".join(
            f"{one.provider} is asked again at {timestamp(one.until)}: {one.message}" for one in self.providers
        )
        return f"Not asked about yet. {each}."

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]] | None) -> Self | None:
        """Return what the rows of resting providers say, the first to end first; None: nothing is waited for."""
        if not rows:
            return None
        providers = [_provider(**row) for row in rows]
        return cls(until=providers[0].until, providers=providers)


def _provider(provider: str, until: str, reason: str | None) -> RestingProvider:
    cause = reason or "engine_unavailable"
    return RestingProvider(
        provider=provider, until=datetime.fromisoformat(until), code=code_of(cause), message=cause_of(cause)
    )


def asked_again(jobs: SQL) -> SQL:
    """Return an SQL expression: the providers as JSON that did not answer when they were asked about URLs of a job, if
    that was the last that became of any of its URLs, or null. `jobs` is the name of a table of jobs.

    Only URLs that wait are looked at: there are few of them, and they have an index."""
    return SQL(
        "(SELECT jsonb_agg(jsonb_build_object('provider', w.provider, 'until', w.until, 'reason', w.code)"
        " ORDER BY w.until, w.provider) FROM (SELECT DISTINCT ON (i.error->>'provider')"
        " i.error->>'provider' AS provider, greatest(i.run_at, now()) AS until, i.error->>'code' AS code, i.updated_at"
        " FROM item i"
        " WHERE i.job_id = {jobs}.id AND i.state = 'waiting' AND i.error->>'provider' IS NOT NULL"
        " ORDER BY i.error->>'provider', i.updated_at DESC) w WHERE NOT EXISTS (SELECT FROM item d"
        " WHERE d.job_id = {jobs}.id AND d.state = 'done' AND d.updated_at > w.updated_at))"
    ).format(jobs=jobs)


def resting(rows: SQL, *, unless: SQL) -> SQL:
    """Return an SQL expression: the resting providers as JSON, if all rows of a query of search_provider rest, or null.

    Where all are out of use it is null: then URLs fail, and wait for none. `unless` is asked only if all rest."""
    return SQL(
        "(SELECT jsonb_agg(jsonb_build_object('provider', f.provider, 'until', {until}, 'reason', f.reason)"
        " ORDER BY {until}, f.provider) FROM ({rows}) f,"
        " LATERAL (SELECT {state} AS state FROM (SELECT f.state, f.open_until, f.off_until) p) b"
        " HAVING CASE WHEN bool_and(b.state IN ({resting})) AND NOT bool_and(b.state IN ({out_of_use}))"
        " THEN NOT ({unless}) ELSE false END)"
    ).format(
        until=SQL("greatest(f.open_until, f.off_until)"),
        rows=rows,
        state=STATE,
        resting=SQL(", ").join(RESTING),
        out_of_use=SQL(", ").join(OUT_OF_USE),
        unless=unless,
    )
