"""Turns: the report of what ended and the claim of what comes next, in one statement; and claims by themselves."""

from dataclasses import replace
from functools import cache
from uuid import UUID

from pipeline.database import SQL, Row, Statement
from pipeline.lifecycle.leases import ClaimedItem
from pipeline.lifecycle.reports import Taken

#: What a turn answers: what of the report counted, and what was claimed.
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
