"""Failures: jobs that ended badly, grouped by kind and reason, for operators."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from pipeline.database import SQL, Statement, rows_of

#: Jobs examined, the newest first.
MOST_JOBS = 2_000
#: Items of a partly failed job that are searched for the reason.
MOST_ITEMS = 100
#: Groups that are shown.
MOST_GROUPS = 50
#: Prefix of the Idempotency-Key of an operator's retry, so that none is made and paid for twice.
RETRY_KEY = "operator-retry-"
#: The reason of a job none of whose first items has failed.
PARTIAL = "partial"


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Jobs of one kind that ended for one reason. `message` is that of the last."""

    kind: str
    code: str
    message: str
    jobs: int
    accounts: int
    last_at: datetime
    last_job_id: UUID


# The jobs first, by their index alone: LIMIT keeps the rest of the statement small whatever the table has.
_FAILED = SQL("""
WITH failed AS MATERIALIZED (
    SELECT j.id, j.account_id, j.route, j.kind, j.error, j.finished_at FROM job j
    WHERE j.state IN ('failed', 'partial', 'expired') AND j.finished_at > now() - %(period)s
        AND (j.items_failed > 0 OR j.error IS NOT NULL)  -- as all of them have; their index knows it
    ORDER BY j.finished_at DESC LIMIT {most_jobs}
), open AS (  -- one that was tried again counts no more; what it became counts by itself
    SELECT f.* FROM failed f WHERE NOT EXISTS (
        SELECT FROM job r WHERE r.account_id = f.account_id AND r.route = f.route
            AND r.idempotency_key = {retry_key} || f.id)
), reason AS (
    SELECT f.id, f.account_id, f.kind, f.finished_at, coalesce(f.error, i.error) AS error
    FROM open f LEFT JOIN LATERAL (
        SELECT i.error FROM item i WHERE f.error IS NULL AND i.job_id = f.id AND i.index < {most_items}
            AND i.state = 'failed' ORDER BY i.index LIMIT 1) i ON true
), named AS (
    SELECT r.*, coalesce(r.error ->> 'code', {partial}) AS code, coalesce(r.error ->> 'message', '') AS message
    FROM reason r
)
""").format(most_jobs=MOST_JOBS, retry_key=RETRY_KEY, most_items=MOST_ITEMS, partial=PARTIAL)
_GROUPS = SQL("""{failed}
SELECT n.kind, n.code, (array_agg(n.message ORDER BY n.finished_at DESC))[1] AS message,
       count(*) AS jobs, count(DISTINCT n.account_id) AS accounts,
       max(n.finished_at) AS last_at, (array_agg(n.id ORDER BY n.finished_at DESC))[1] AS last_job_id
FROM named n GROUP BY n.kind, n.code ORDER BY jobs DESC, last_at DESC LIMIT %(limit)s
""").format(failed=_FAILED)


def retry_key(job_id: UUID) -> str:
    """Return the Idempotency-Key under which a job is asked for again."""
    return f"{RETRY_KEY}{job_id}"


def read_failures(period: timedelta) -> Statement[list[FailureGroup]]:
    """Read the reasons for which jobs ended badly within a period that ends now, the most frequent first."""

    return Statement(_GROUPS, {"period": period, "limit": MOST_GROUPS}, rows_of(FailureGroup))
