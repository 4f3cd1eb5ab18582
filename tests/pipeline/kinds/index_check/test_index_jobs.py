"""Index jobs as their lists read them."""

import time
from collections.abc import Iterator
from typing import Any

import psycopg
from payers import open_account
from workbench import submission

from pipeline import lifecycle
from pipeline.database import Database
from pipeline.kinds.index_check.jobs import list_index_jobs

URLS = 3_000
#: How each of a job's URLs came out.
ENDED = """
UPDATE item SET state = CASE WHEN index % 3 = 0 THEN 'failed' ELSE 'done' END,
    output = (CASE index % 3 WHEN 1 THEN '{"reason": "indexed"}' WHEN 2 THEN '{"reason": "not_indexed"}' END)::jsonb,
    error = (CASE index % 6 WHEN 0 THEN '{"reason": "rate_limited"}' WHEN 3 THEN '{"reason": "error"}' END)::jsonb
"""


#: There while pages of items are not known to be all visible.
UNSEEN = "SELECT FROM pg_class WHERE relname = 'item' AND relkind = 'r' AND (relpages = 0 OR relallvisible < relpages)"


def steps(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every step of a plan."""
    yield plan
    for part in plan.get("Plans", ()):
        yield from steps(part)


def test_what_came_of_urls_is_counted_without_a_look_at_any(database: Database, database_url: str) -> None:
    payer = open_account(database, credits=2 * URLS)
    for _ in range(2):
        database.run(lifecycle.submit(submission(payer, [1] * URLS, kind="index_check", slice_size=10)))
    listing = list_index_jobs(payer.account_id, providers=[], limit=100, offset=0)
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(ENDED)
        # All of its pages are known to be all visible once nobody else's look at the database began before.
        until = time.monotonic() + 120
        while connection.execute(UNSEEN).fetchall():
            assert time.monotonic() < until
            connection.execute("VACUUM ANALYZE item")
        explained = connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {listing.sql}", listing.parameters).fetchone()

    assert explained is not None
    looks = [step for step in steps(explained[0][0]["Plan"]) if step.get("Relation Name") == "item"]
    assert {step["Index Name"] for step in looks if step["Actual Loops"]} == {
        "item_indexed_idx",
        "item_rate_limited_idx",
    }
    assert {step["Node Type"] for step in looks if step["Actual Loops"]} == {"Index Only Scan"}
    for counted in database.run(listing)[0]:
        assert (counted.indexed, counted.rate_limited) == (URLS // 3, URLS // 6)
