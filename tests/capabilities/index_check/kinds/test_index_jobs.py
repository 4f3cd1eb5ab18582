"""Index jobs as their lists read them."""

from typing import Any
from uuid import uuid4

import psycopg
import pytest
from payers import open_account
from workbench import submission

from capabilities.index_check.results.jobs import OWNED_LANE, list_index_jobs
from pipeline import lifecycle
from pipeline.database import Database

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
def test_other_jobs_do_not_wait_for_search_providers(
    database: Database, database_url: str, more: dict[str, Any]
) -> None:
    assert waited_for(database, database_url, f"{DUCKDUCKGO}, {BING}", **more) is None
