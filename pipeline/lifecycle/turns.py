"""Turns: the report of what ended and the claim of what comes next, in one statement."""

from uuid import UUID

from pipeline.database import Row, Statement
from pipeline.lifecycle.leases import ClaimedItem
from pipeline.lifecycle.reports import Taken

#: What a turn answers: what of the report counted, and what was claimed.
Turn = tuple[list[Taken], list[ClaimedItem]]


def report_then_claim(report: Statement[list[Taken]], claim: Statement[list[ClaimedItem]]) -> Statement[Turn]:
    """Join a report and a claim: the claim is made after the report and sees what it changed.

    One statement is sent, bound, carried out and read once, where a pipeline of two takes twice that and a third for
    its end. PostgreSQL carries out the report first, as an argument of the claim refers to what it returned."""
    lease = "CASE WHEN reported.taken IS NULL THEN %(lease)s ELSE %(lease)s END"
    sql = (
        f"SELECT reported.taken, claimed.* FROM (SELECT jsonb_agg(r) AS taken FROM ({report.sql}) r) reported"  # noqa: S608  both are ours
        f" LEFT JOIN LATERAL ({claim.sql.replace('%(lease)s', lease)}) claimed ON true"
    )

    def read(rows: list[Row]) -> Turn:
        taken, *_ = [row.pop("taken") for row in rows]
        return [_taken(row) for row in taken or ()], claim.read([row for row in rows if row["item_id"] is not None])

    return Statement(sql, {**report.parameters, **claim.parameters}, read, report.repeatable and claim.repeatable)


def _taken(row: Row) -> Taken:
    return Taken(row["item_id"], UUID(row["job_id"]), row["job_state"])
