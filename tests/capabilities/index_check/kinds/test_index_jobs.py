"""Index jobs as their lists read them."""

import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from payers import open_account
from workbench import submission

from capabilities.index_check.results.jobs import OWNED_LANE, list_index_jobs
from pipeline import lifecycle
from pipeline.database import Database

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
    seen = [step for step in looks if step["Actual Loops"] and step["Actual Rows"]]
    assert {step["Index Name"] for step in seen} == {"item_indexed_idx", "item_rate_limited_idx"}
    assert {step["Node Type"] for step in seen} == {"Index Only Scan"}
    # Those that wait are read, to say what for; none does here.
    assert {step["Index Name"] for step in looks if step["Actual Loops"]} - {step["Index Name"] for step in seen} <= {
        "item_waiting_idx"
    }
    for counted in database.run(listing)[0]:
        assert (counted.indexed, counted.rate_limited) == (URLS // 3, URLS // 6)


RESTS = "now() + interval '1 hour'"
OVER = "now() - interval '1 hour'"
DUCKDUCKGO = f"('duckduckgo:x', now(), 'open', {RESTS}, NULL, 'captcha')"
BING = f"('bing:x', now(), 'open', {RESTS} + interval '1 minute', NULL, 'throttled')"


def waited_for(database: Database, database_url: str, rows: str, **more: Any) -> list[str] | None:
    """Return the providers that a new job waits for, given rows of providers."""
    payer = open_account(database, credits=2)
    job = database.run(lifecycle.submit(submission(payer, [1], **{"kind": "index_check", **more})))
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute(
            f"INSERT INTO search_provider (name, next_at, state, open_until, off_until, reason) VALUES {rows}"
        )
        connection.execute(
            "INSERT INTO site_connection (id, account_id, service, name, credentials) VALUES (%s, %s, '', '', '')",
            (uuid4(), payer.account_id),
        )
    assert job is not None
    listing = list_index_jobs(payer.account_id, providers=["bing", "duckduckgo"], limit=1, offset=0)
    resting = database.run(listing)[0][0].resting
    return None if resting is None else [row["provider"] for row in resting]


@pytest.mark.parametrize(
    ("rows", "providers"),
    [
        (f"{DUCKDUCKGO}, {BING}", ["duckduckgo", "bing"]),
        (DUCKDUCKGO, ["duckduckgo"]),  # the other is not set up: nobody ever asked it
        (f"{DUCKDUCKGO}, ('bing:x', now() + interval '1 day', 'closed', NULL, NULL, NULL)", None),  # at its pace
        (f"{DUCKDUCKGO}, ('bing:x', now(), 'open', {OVER}, NULL, 'captcha')", None),
        # A provider may have rows of earlier keys; the one asked last counts.
        (f"{DUCKDUCKGO}, ('duckduckgo:old', {OVER}, 'closed', NULL, NULL, NULL)", ["duckduckgo"]),
        (f"{DUCKDUCKGO}, ('duckduckgo:new', {RESTS}, 'closed', NULL, NULL, NULL)", None),
        # No URL waits for providers that are out of use: where all are, URLs fail.
        (f"{DUCKDUCKGO}, ('bing:x', now(), 'misconfigured', {RESTS}, {RESTS}, 'config')", ["bing", "duckduckgo"]),
        (f"('bing:x', now(), 'misconfigured', {RESTS}, {RESTS}, 'config')", None),
        (f"{DUCKDUCKGO}, ('serper:x', now(), 'closed', NULL, NULL, NULL)", ["duckduckgo"]),  # the job may not ask it
    ],
)
def test_a_job_waits_for_its_providers_while_all_of_them_rest(
    database: Database, database_url: str, rows: str, providers: list[str] | None
) -> None:
    assert waited_for(database, database_url, rows) == providers


@pytest.mark.parametrize("more", [{"kind": "index_submit"}, {"lane": OWNED_LANE}])
def test_a_job_that_asks_others_does_not_wait_for_search_providers(
    database: Database, database_url: str, more: dict[str, Any]
) -> None:
    assert waited_for(database, database_url, f"{DUCKDUCKGO}, {BING}", **more) is None
