"""Rests: the providers that a job waits for, and the state of each provider for operators."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, Field

from capabilities.index_check.providers.causes import BLOCKS, cause_of, code_of
from capabilities.index_check.providers.circuit_breaker import OUT_OF_USE, RESTING, STATE
from pipeline.database import SQL, Row, Statement
from pipeline.offers.offers import Breaker
from pipeline.timestamps import Timestamp, timestamp

#: Providers have a row for each address and key that they ever had; rows that were not asked for so long are not shown.
DAYS_SHOWN = 30


class RestingProvider(BaseModel):
    """A search provider that is not asked now."""

    provider: str
    until: Timestamp
    code: str = Field(description="Why it rests: captcha, throttled, config, transport …")
    message: str = Field(description="The reason in words.")


class WaitingFor(BaseModel):
    """Why a job's URLs wait."""

    until: Timestamp = Field(description="When the first provider is asked again.")
    providers: list[RestingProvider]

    @property
    def is_block(self) -> bool:
        return all(one.code in BLOCKS for one in self.providers)

    @property
    def description(self) -> str:
        each = "; ".join(
            f"{one.provider} is asked again at {timestamp(one.until)}: {one.message}" for one in self.providers
        )
        return f"Not asked about yet. {each}."

    @classmethod
    def of(cls, rows: Sequence[dict[str, Any]] | None) -> Self | None:
        """Return the reason in rows of resting providers, in order of `until`; None if there are none."""
        if not rows:
            return None
        providers = []
        for row in rows:
            until, cause = datetime.fromisoformat(row["until"]), row["reason"] or "engine_unavailable"
            code, message = code_of(cause), cause_of(cause)
            providers.append(RestingProvider(provider=row["provider"], until=until, code=code, message=message))
        return cls(until=providers[0].until, providers=providers)


def asked_again(jobs: SQL) -> SQL:
    """Return an SQL expression: the providers that did not answer about a job's waiting URLs, as JSON, or null if a URL
    was answered since. `jobs` is the name of a table of jobs. Waiting URLs are few, and have an index."""
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
    """Return an SQL expression: the resting providers as JSON if all rows of a query of search_provider rest, or null.

    It is null if all are out of use: then URLs fail and don't wait. `unless` is evaluated only if all rest."""
    return SQL(
        "(SELECT jsonb_agg(jsonb_build_object('provider', f.provider, 'until', {until}, 'reason', f.reason)"
        " ORDER BY {until}, f.provider) FROM ({rows}) f,"
        " LATERAL (SELECT {state} AS state FROM (SELECT f.state, f.open_until) p) b"
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


def list_breakers() -> Statement[list[Breaker]]:
    return Statement(
        SQL(
            "SELECT p.name, {state} AS state, greatest(p.open_until, p.off_until) AS until, p.reason,"
            " p.answered_at, now() AS now FROM search_provider p"
            " WHERE p.next_at > now() - make_interval(days => %(days)s) ORDER BY p.name LIMIT 100"
        ).format(state=STATE),
        {"days": DAYS_SHOWN},
        lambda rows: [_breaker(row) for row in rows],
    )


def _breaker(row: Row) -> Breaker:
    state: Any = row["state"]
    is_resting = state in RESTING
    reason = row["reason"] or "engine_unavailable"
    return Breaker(
        name=row["name"],
        service=row["name"].partition(":")[0],
        state=state,
        is_resting=is_resting,
        until=row["until"] if is_resting else None,
        reason=cause_of(reason) if is_resting else "",
        cause=reason if is_resting else "",
        answered_at=row["answered_at"],
        now=row["now"],
    )
