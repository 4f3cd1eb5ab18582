"""URLs of sites that an account has connected are looked for when they are submitted, for that account alone."""

from datetime import timedelta
from uuid import UUID

import pytest
from http_service import Answer, Service
from index_finder import create
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
    made = connections.connect(payer.account_id, "search_console", "somebody", b"sealed", ["sc-domain:own.example"])
    assert api_database.run(made) is not None
    return payer


def lanes(database: Database, answer: Answer) -> list[str]:
    with_lanes = "SELECT lane FROM item WHERE job_id = %(job)s ORDER BY index"
    found: list[dict[str, str]] = database.run(Statement(with_lanes, {"job": UUID(answer.json["job_id"])}))
    return [row["lane"] for row in found]


def test_urls_of_a_connected_site_have_a_lane_of_their_own(
    service: Service, client: Payer, api_database: Database
) -> None:
    assert lanes(api_database, create(service, client, OWN, OTHER)) == [OWNED_LANE, "index_check"]
    stranger = open_account(api_database)
    assert lanes(api_database, create(service, stranger, OWN, OTHER)) == ["index_check", "index_check"]


def test_search_console_may_be_named_for_connected_sites_alone(
    service: Service, client: Payer, api_database: Database
) -> None:
    named = create(service, client, OWN, engine="search_console", index="google")
    assert (named.status, lanes(api_database, named)) == (201, [OWNED_LANE])
    for payer, urls in ((client, [OWN, OTHER]), (open_account(api_database), [OWN])):
        refused = create(service, payer, *urls, engine="search_console")
        assert (refused.status, refused.code) == (400, "site_not_connected")
        assert urls[-1] in refused.json["message"]
    assert create(service, client, OWN, engine="search_console", index="bing").code == "index_unknown"


def test_a_connection_that_no_longer_works_is_not_used(service: Service, client: Payer, api_database: Database) -> None:
    (connection,) = api_database.run(connections.list_connections(account_id=client.account_id))
    api_database.run(connections.note_fault(connection, "access_revoked"))

    assert lanes(api_database, create(service, client, OWN)) == ["index_check"]
    assert create(service, client, OWN, engine="search_console").code == "site_not_connected"


def test_a_retry_asks_the_owners_service_again(service: Service, client: Payer, api_database: Database) -> None:
    answer = create(service, client, OWN)
    job_id = UUID(answer.json["job_id"])
    error = {"status": 500, "error": "x", "message": "Failed.", "code": "http_500", "reason": "error"}
    while items := api_database.run(claim({OWNED_LANE: 100}, lease_for=timedelta(seconds=30))):
        api_database.run(report(items[0].lease_id, [Outcome(item.item_id, "failed", error=error) for item in items]))
    assert [item.state for item in api_database.run(find_items(job_id))] == ["failed"]

    retried = service.post(f"/indexing/jobs/{job_id}/retry", {}, client.api_key)

    assert (retried.status, lanes(api_database, retried)) == (201, [OWNED_LANE])
