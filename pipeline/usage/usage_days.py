"""Usage days: the ledger summed by account, day, route and key as it grows, and what is not summed yet beside it.

The ledger is kept for ever, so that nobody's usage can be summed from its first line each time: a million jobs took a
second. The sums are a cache: without them, the ledger gives the same."""

from dataclasses import dataclass
from datetime import datetime

from pipeline.database import SQL, Database, Statement, row_of

#: Days of the ledger that one call sums at most, a transaction each: a large history is summed in several.
MOST_DAYS = 100

# A line bears the time at which its transaction began, so none can come any more from before the oldest that still
# runs. (Those of other roles are not shown to everybody: hence the minute, which is longer than any of ours.) This is
# asked before the lines are read, in a statement of its own: one that ends in between is then seen.
_TURN = """
SELECT coalesce(s.before::text, '-infinity') AS since, u.until, coalesce(u.until <= s.before, false) AS is_done,
       coalesce(u.until < d.ends, true) AS is_last
FROM usage_summed s
CROSS JOIN LATERAL (SELECT min(a.xact_start) AS began FROM pg_stat_activity a WHERE a.datname = current_database()) t
CROSS JOIN LATERAL (
    SELECT coalesce(s.before, (SELECT min(e.created_at) FROM credit_entry e)) + interval '1 day' AS ends) d
CROSS JOIN LATERAL (SELECT least(now() - interval '1 min', t.began, d.ends) AS until) u
FOR NO KEY UPDATE OF s SKIP LOCKED
"""

_ADD = """
WITH added AS (
    INSERT INTO usage_day AS u (account_id, day, route, api_key_id, requests, credits, held)
    SELECT e.account_id, (e.created_at AT TIME ZONE 'UTC')::date AS day, e.route, e.api_key_id,
           count(*) FILTER (WHERE e.entry = 'hold'),
           coalesce(sum(-e.held_change) FILTER (WHERE e.entry = 'capture'), 0), sum(e.held_change)
    FROM credit_entry e
    WHERE e.job_id IS NOT NULL AND e.created_at >= %(since)s::timestamptz AND e.created_at < %(until)s
    GROUP BY 1, 2, 3, 4
    ON CONFLICT (account_id, day, route, api_key_id) DO UPDATE SET
        requests = u.requests + excluded.requests, credits = u.credits + excluded.credits, held = u.held + excluded.held
    RETURNING 1
), moved AS (
    UPDATE usage_summed SET before = %(until)s RETURNING 1
)
SELECT (SELECT count(*) FROM added) AS rows, (SELECT count(*) FROM moved) AS moved
"""

#: An account's usage by route, key and day: requests when they were made, credits when captured, and the change
#: of what is held. A hold is a request; a capture is what it cost in the end. Days are UTC's. `{days}` narrows the days
#: of what is summed, `{lines}` the lines that are not; a day may come in both parts. (With an end, though it is none,
#: the planner expects the lines of a short span; without, a third of all, and starts processes: 8 ms and not 1.)
USED = SQL("""
SELECT u.day, u.route, u.api_key_id, u.requests, u.credits, u.held
FROM usage_day u WHERE u.account_id = {account} {days}
UNION ALL
SELECT (e.created_at AT TIME ZONE 'UTC')::date, e.route, e.api_key_id,
       count(*) FILTER (WHERE e.entry = 'hold'),
       coalesce(sum(-e.held_change) FILTER (WHERE e.entry = 'capture'), 0)::bigint, sum(e.held_change)::bigint
FROM credit_entry e
WHERE e.account_id = {account} AND e.job_id IS NOT NULL
    AND e.created_at >= coalesce((SELECT s.before FROM usage_summed s), '-infinity')
    AND e.created_at < 'infinity' {lines}
GROUP BY 1, 2, 3
""")


@dataclass(frozen=True, slots=True)
class _SumRange:
    """The span to be summed now: lines from `since` on, before `until`; it may be empty, and no other may follow."""

    since: str
    until: datetime
    is_done: bool
    is_last: bool


_ACCOUNT = SQL("%(account)s")
_ALL = SQL()


def used_sql(account: SQL = _ACCOUNT, *, days: SQL = _ALL, lines: SQL = _ALL) -> SQL:
    """Return USED of an account, narrowed by conditions."""
    return USED.format(account=account, days=days, lines=lines)


def sum_usage(database: Database) -> int:
    """Sum the lines that have come to the ledger, a day a transaction; returns how many sums changed.

    If several callers overlap, one sums."""
    changed = 0
    for _ in range(MOST_DAYS):
        with database.transaction() as transaction:
            turn = transaction.run(Statement(_TURN, {}, row_of(_SumRange)))
            if turn is None or turn.is_done:
                return changed
            added = Statement(_ADD, {"since": turn.since, "until": turn.until}, lambda rows: int(rows[0]["rows"]))
            changed += transaction.run(added)
        if turn.is_last:
            return changed
    return changed
