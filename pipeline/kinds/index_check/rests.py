"""Rests: the search providers that a job waits for, because none of its own may be asked now."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self

from pydantic import BaseModel, Field

from pipeline.kinds.index_check.causes import cause_of, code_of
from pipeline.kinds.index_check.circuit_breaker import STATE
from pipeline.kinds.index_check.transitions import OUT_OF_USE, RESTING
from pipeline.timestamps import Timestamp


class RestingProvider(BaseModel):
    """A search provider that is not asked now."""

    provider: str
    until: Timestamp
    code: str = Field(description="Why it rests: captcha, throttled, config …")
    message: str = Field(description="The same in words.")


class WaitingFor(BaseModel):
    """Why no URL of a job is asked about now."""

    until: Timestamp = Field(description="When the first of them may be asked again.")
    providers: list[RestingProvider]

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


def resting(rows: str, *, unless: str) -> str:
    """Return an SQL expression: the resting providers as JSON, if all rows of a query of search_provider rest, or null.

    Where all are out of use it is null: then URLs fail, and wait for none. `unless` is asked only if all rest."""
    until = "greatest(f.open_until, f.off_until)"
    return (
        f"(SELECT jsonb_agg(jsonb_build_object('provider', f.provider, 'until', {until}, 'reason', f.reason)"  # noqa: S608
        f" ORDER BY {until}, f.provider) FROM ({rows}) f,"
        f" LATERAL (SELECT {STATE} AS state FROM (SELECT f.state, f.open_until, f.off_until) p) b"
        f" HAVING CASE WHEN bool_and(b.state = ANY({_listed(RESTING)})) AND"
        f" NOT bool_and(b.state = ANY({_listed(OUT_OF_USE)})) THEN NOT ({unless}) ELSE false END)"
    )


def _listed(states: Sequence[str]) -> str:
    names = ", ".join(f"'{state}'" for state in states)
    return f"ARRAY[{names}]"
