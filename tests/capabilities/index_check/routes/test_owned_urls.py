"""URLs of sites that an account has connected are looked for when they are submitted, for that account alone."""

from datetime import timedelta
from uuid import UUID

import pytest
from http_service import Answer
from index_finder import IndexJobs
from payers import Payer, open_account

from capabilities.index_check.results.jobs import OWNED_LANE
from capabilities.index_check.sites import connections
from pipeline.database import Database, Statement
from pipeline.lifecycle import Outcome, claim, report
from pipeline.lifecycle.jobs import find_items

OWN, OTHER = "https://own.example/page", "https://other.example/page"


@pytest.fixture
def client(api_database: Database) -> Payer:
    """An account that has connected a site."""
    payer = open_account(api_database)
    made = connections.connect(payer.account_id, "somebody", b"sealed", ["sc-domain:own.example"])
    assert api_database.run(made) is not None
    return payer


def lanes(jobs: IndexJobs, answer: Answer) -> list[str]:
    with_lanes = "SELECT lane FROM item WHERE job_id = %(job)s ORDER BY index"
    found: list[dict[str, str]] = jobs.database.run(Statement(with_lanes, {"job": UUID(answer.json["job_id"])}))
    return [row["lane"] for row in found]


def test_urls_of_a_connected_site_have_a_lane_of_their_own(jobs: IndexJobs) -> None:
    assert lanes(jobs, jobs.create(OWN, OTHER)) == [OWNED_LANE, "index_check"]
    stranger = open_account(jobs.database)
    assert lanes(jobs, jobs.create(OWN, OTHER, payer=stranger)) == ["index_check", "index_check"]


def test_search_console_may_be_named_for_connected_sites_alone(jobs: IndexJobs) -> None:
    named = jobs.create(OWN, engine="search_console", index="google")
    assert (named.status, lanes(jobs, named)) == (201, [OWNED_LANE])
    for payer, urls in ((jobs.client, [OWN, OTHER]), (open_account(jobs.database), [OWN])):
        refused = jobs.create(*urls, payer=payer, engine="search_console")
        assert (refused.status, refused.code) == (400, "site_not_connected")
        assert urls[-1] in refused.json["message"]
    assert jobs.create(OWN, engine="search_console", index="bing").code == "index_unknown"


def test_a_connection_that_no_longer_works_is_not_used(jobs: IndexJobs) -> None:
    (connection,) = jobs.database.run(connections.list_connections(account_id=jobs.client.account_id))
    jobs.database.run(connections.note_fault(connection, "access_revoked"))

    assert lanes(jobs, jobs.create(OWN)) == ["index_check"]
    assert jobs.create(OWN, engine="search_console").code == "site_not_connected"


def test_a_retry_asks_the_owners_service_again(jobs: IndexJobs) -> None:
    answer = jobs.create(OWN)
    job_id = UUID(answer.json["job_id"])
    error = {"status": 500, "error": "x", "message": "Failed.", "code": "http_500", "reason": "error"}
    while items := jobs.database.run(claim({OWNED_LANE: 100}, lease_for=timedelta(seconds=30))):
        jobs.database.run(report(items[0].lease_id, [Outcome(item.item_id, "failed", error=error) for item in items]))
    assert [item.state for item in jobs.database.run(find_items(job_id))] == ["failed"]

    retried = jobs.post(f"/indexing/jobs/{job_id}/retry", {})

    assert (retried.status, lanes(jobs, retried)) == (201, [OWNED_LANE])
