"""Open jobs of an account: how many there are, up to some thousands, and what they hold, without reading them all."""

from pipeline.usage.usage_days import used_sql

#: So many are counted; of more, nobody needs the number.
MOST_COUNTED = 10_000


def open_sql(account: str) -> str:
    """Return a query with one row: `open_jobs`, MOST_COUNTED at most, and `held`, which the ledger says."""
    return (
        "SELECT (SELECT count(*) FROM (SELECT FROM job j"  # noqa: S608  no values in it
        f" WHERE j.account_id = {account} AND j.finished_at IS NULL LIMIT {MOST_COUNTED}) o) AS open_jobs,"
        f" (SELECT coalesce(sum(u.held), 0)::bigint FROM ({used_sql(account)}) u) AS held"
    )
