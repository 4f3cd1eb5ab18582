"""Lists of very many jobs: what one list looks at is bounded, and following its links leads through all of them."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest
from http_service import Service
from manual_worker import ManualWorker, refuse
from payers import Payer
from psycopg.rows import dict_row
from servers import pages_of

from pipeline.database import Database, Statement
from pipeline.jobs import job_lists
from pipeline.jobs.job_lists import JobFilter, list_jobs
from pipeline.lifecycle import cancel

NEXT = re.compile(r'<([^>]*)>; rel="next"')
#: Jobs that have ended, and how many of them one list looks at here.
MANY, FEW = 20_000, 200

_ENDED = """
INSERT INTO job (id, account_id, api_key_id, kind, route, request, request_id, items_total, items_ok, credits_held,
                 credits_captured, request_hash, keep_for, deadline, state, created_at, finished_at, purged_at, error)
SELECT gen_random_uuid(), %(account)s, %(key)s, CASE WHEN n = %(count)s THEN 'many' ELSE 'echo' END, '/echo', '{}', 'r',
       1, 1, 0, 0, '', '1 h', now(), CASE WHEN n = %(count)s THEN 'cancelled' ELSE 'succeeded' END,
       now() - n * interval '1 min', now(), now(), CASE WHEN n = %(count)s THEN '{}'::jsonb END
FROM generate_series(1, %(count)s) n
"""


def add_jobs(database: Database, payer: Payer, count: int) -> list[str]:
    """Add finished jobs of a minute each; returns their ids as a list has them, the newest first."""
    insert = Statement(f"{_ENDED} RETURNING 1", {"account": payer.account_id, "key": payer.api_key_id, "count": count})
    database.run(insert)
    return ids_in_order(database, payer)


def ids_in_order(database: Database, payer: Payer) -> list[str]:
    sql = "SELECT id FROM job WHERE account_id = %(account)s ORDER BY created_at DESC, id"
    return [str(row["id"]) for row in database.run(Statement(sql, {"account": payer.account_id}))]


def test_the_links_of_a_long_list_lead_behind_what_it_looks_at(
    service: Service, client: Payer, api_database: Database
) -> None:
    jobs = add_jobs(api_database, client, job_lists.MOST_LISTED + 5)
    whole, pages, found = job_lists.MOST_LISTED, 0, list[str]()
    path = f"/jobs?limit=100&offset={whole - 150}"
    while path:
        answer = service.get(path, client.api_key)
        assert answer.status == 200, answer.body
        if pages < 2:
            assert answer.headers["x-total-count"] == str(whole)
            assert answer.headers["x-searched-since"].endswith("Z")
        found += [job["id"] for job in answer.json]
        following = NEXT.search(answer.headers["link"])
        path, pages = following[1] if following else "", pages + 1

    assert found == jobs[whole - 150 :]
    assert pages == 3
    # A kind that only the oldest job has is not among the newest, and the links lead to it.
    first = service.get("/jobs?kind=many", client.api_key)
    assert (first.json, first.headers["x-total-count"]) == ([], "0")
    following = NEXT.search(first.headers["link"])
    assert following
    assert [job["id"] for job in service.get(following[1], client.api_key).json] == jobs[-1:]


def test_jobs_of_one_moment_are_in_one_list(
    client: Payer, api_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = add_jobs(api_database, client, 7)
    together = (
        "UPDATE job SET created_at = (SELECT created_at FROM job WHERE id = %(with)s)"
        " WHERE id = ANY(%(ids)s::uuid[]) RETURNING 1"
    )
    api_database.run(Statement(together, {"with": jobs[1], "ids": jobs[2:4]}))
    jobs = ids_in_order(api_database, client)
    monkeypatch.setattr(job_lists, "MOST_LISTED", 2)

    wanted, lists = JobFilter(account_id=client.account_id), []
    while True:
        page = api_database.run(list_jobs(wanted))
        assert page.total == len(page.jobs)
        lists.append([str(job.id) for job in page.jobs])
        if page.searched_since is None:
            break
        wanted = replace(wanted, until=page.searched_since)

    assert lists == [jobs[:4], jobs[4:6], jobs[6:]]


def test_what_was_not_delivered_is_found_however_much_was_since(
    service: Service,
    client: Payer,
    manual_worker: ManualWorker,
    api_database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed = service.submit({"text": "hi"}, client.api_key)
    manual_worker.work(refuse)
    cancelled = service.submit({"text": "hi"}, client.api_key)
    api_database.run(cancel(UUID(cancelled), client.account_id))
    still_open = service.submit({"items": 1}, client.api_key, "/many")
    oldest = "UPDATE job SET created_at = created_at - interval '1 day' WHERE account_id = %(account)s RETURNING 1"
    api_database.run(Statement(oldest, {"account": client.account_id}))
    add_jobs(api_database, client, 5)
    monkeypatch.setattr(job_lists, "MOST_LISTED", 3)

    for states, wanted in [
        (["failed"], [failed]),
        (["failed", "cancelled", "expired"], [cancelled, failed]),
        (["queued", "running"], [still_open]),
    ]:
        page = api_database.run(list_jobs(JobFilter(account_id=client.account_id, states=states)))
        assert [str(job.id) for job in page.jobs if job.id in map(UUID, wanted)] == wanted, states


@pytest.mark.parametrize(
    "narrowed",
    [
        {},
        {"kinds": ["many"]},
        {"states": ["queued", "running"]},
        {"states": ["cancelled"]},
        {"states": ["succeeded", "partial"]},
        {"routes": ["/many"]},
        {"text": "needle"},
        {"until": datetime(2100, 1, 1, tzinfo=UTC)},
    ],
    ids=str,
)
def test_no_list_reads_the_whole_history(
    database_url: str, database: Database, payer: Payer, monkeypatch: pytest.MonkeyPatch, narrowed: dict[str, Any]
) -> None:
    monkeypatch.setattr(job_lists, "MOST_LISTED", FEW)
    with psycopg.connect(database_url, autocommit=True, row_factory=dict_row) as connection:
        connection.execute(_ENDED, {"account": payer.account_id, "key": payer.api_key_id, "count": MANY})
        connection.execute("VACUUM ANALYZE job")

        wanted = JobFilter(account_id=payer.account_id, **narrowed)
        assert pages_of(connection, list_jobs(wanted, offset=FEW // 2)) < 200
        assert database.run(list_jobs(wanted)).total <= FEW
