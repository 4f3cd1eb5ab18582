"""Reports: the outcomes of items, alone or with the claim of what comes next.

One counts only while its lease is the item's current one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from operator import attrgetter
from typing import Any, Literal
from uuid import UUID

from psycopg.types.json import Jsonb

from pipeline.database import SQL, Row, Statement
from pipeline.lifecycle.leases import ClaimedItem
from pipeline.lifecycle.schema import call


@dataclass(frozen=True, slots=True)
class Outcome:
    """An item's outcome. `credits` are those earned, at most its price; `lane` moves a released item."""

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


#: The answer to a turn: the reports that counted, and the claimed items.
ReportedAndClaimed = tuple[list[Taken], list[ClaimedItem]]


def report_then_claim(
    report: Statement[list[Taken]], claim: Statement[list[ClaimedItem]]
) -> Statement[ReportedAndClaimed]:
    """Join a report and a claim: the claim is made after the report and sees what it changed.

    One statement is sent, bound, carried out and read once, where a pipeline of two takes twice that and a third for
    its end. PostgreSQL carries out the report first, as an argument of the claim refers to what it returned."""

    def read(rows: list[Row]) -> ReportedAndClaimed:
        taken, *_ = [row.pop("taken") for row in rows]
        return [_taken(row) for row in taken or ()], claim.read([row for row in rows if row["item_id"] is not None])

    sql = _joined(report.sql, claim.sql)
    return Statement(sql, {**report.parameters, **claim.parameters}, read, report.repeatable and claim.repeatable)


@cache
def _joined(report: str, claim: str) -> SQL:
    lease = "CASE WHEN reported.taken IS NULL THEN %(lease)s ELSE %(lease)s END"
    return SQL(
        "SELECT reported.taken, claimed.* FROM (SELECT jsonb_agg(r) AS taken FROM ({report}) r) reported"
        " LEFT JOIN LATERAL ({claim}) claimed ON true"
    ).format(report=SQL(report), claim=SQL(claim.replace("%(lease)s", lease)))


def claim_alone(claim: Statement[list[ClaimedItem]]) -> Statement[list[ClaimedItem]]:
    """Make a claim a transaction of its own, whose commit does not wait for the disk.

    A server that crashes in the next half second may forget the claim: its items are then ready, as if nobody had
    claimed them. The next heartbeat tells their worker that they are lost, and its report changes nothing. Whatever is
    committed later, a report or a raised hold, brings the claim to the disk with it."""
    return replace(claim, sql=_alone(claim.sql))


@cache
def _alone(claim: str) -> SQL:
    return SQL("SELECT claimed.* FROM set_config('synchronous_commit', 'off', true), LATERAL ({claim}) claimed").format(
        claim=SQL(claim)
    )


def _taken(row: Row) -> Taken:
    return Taken(row["item_id"], UUID(row["job_id"]), row["job_state"])
