"""Open jobs of an account: how many there are, up to some thousands, and what they hold, without reading them all."""

from pipeline.database import SQL
from pipeline.usage.usage_days import used_sql

#: So many are counted; of more, nobody needs the number.
MOST_COUNTED = 10_000


def open_sql(account: SQL) -> SQL:
    """Return a query with one row: `open_jobs`, MOST_COUNTED at most, and `held`, which the ledger says."""
    return SQL(
        "SELECT (SELECT count(*) FROM (SELECT FROM job j"
        " WHERE j.account_id = {account} AND j.finished_at IS NULL LIMIT {most}) o) AS open_jobs,"
        " (SELECT coalesce(sum(u.held), 0)::bigint FROM ({used}) u) AS held"
    ).format(account=account, most=MOST_COUNTED, used=used_sql(account))
