"""Provider states: how each search provider is now, for operators."""

from typing import Any

from capabilities.index_check.providers.causes import cause_of
from capabilities.index_check.providers.circuit_breaker import STATE
from capabilities.index_check.providers.transitions import RESTING
from pipeline.database import SQL, Row, Statement
from pipeline.offers.breakers import Breaker

#: Providers have a row for each address and key that they ever had; those not asked for so long are left out.
DAYS_SHOWN = 30


def list_breakers() -> Statement[list[Breaker]]:
    """Read how the search providers are."""
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
