"""Reports: the outcomes of items. One counts only while its lease is the item's current one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from operator import attrgetter
from typing import Any, Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from pipeline.database import Statement
from pipeline.lifecycle.schema import call


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an item. `credits` are those earned, at most its price; `lane` is another one to go on in."""

    item_id: int
    outcome: Literal["done", "failed", "retry", "release"]
    credits: int = 0
    output: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    after: timedelta = timedelta()
    engine: str | None = None
    lane: str | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """An item whose report counted; `job_state` is set when the report ended its job."""

    item_id: int
    job_id: UUID
    job_state: str | None


def report(lease_id: UUID, outcomes: Sequence[Outcome]) -> Statement[list[Taken]]:
    """Hand in what became of items; those no longer on the lease change nothing and are missing from the answer."""
    return report_together([(lease_id, outcomes)])


def report_together(reports: Iterable[tuple[UUID, Sequence[Outcome]]]) -> Statement[list[Taken]]:
    """Hand in several reports in one statement, each with its lease; a lease may have several."""
    rows = [
        {
            "lease": str(lease_id),
            "item": outcome.item_id,
            "outcome": outcome.outcome,
            "credits": outcome.credits,
            "output": outcome.output,
            "error": outcome.error,
            "after": outcome.after.total_seconds(),
            "engine": outcome.engine,
            "lane": outcome.lane,
        }
        for lease_id, outcomes in reports
        for outcome in outcomes
    ]
    return call(
        "report",
        {"outcomes": Jsonb(rows)},
        lambda found: sorted((Taken(**row) for row in found), key=attrgetter("item_id")),
    )
