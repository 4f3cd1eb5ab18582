"""Lists of very many jobs: what one list looks at is bounded, and following its links leads through all of them."""

import re
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from http_service import Service
from manual_worker import ManualWorker, refuse
from payers import Payer
from psycopg.rows import dict_row

from pipeline import job_lists
from pipeline.database import Database, Statement
from pipeline.job_lists import JobFilter, list_jobs

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


@pytest.fixture
def jobs(service: Service, client: Payer, api_database: Database, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Seven jobs, the newest first, of which the second and third were made at the same moment; lists look at three."""
    made = [service.submit({"text": f"needle {number}"}, client.api_key) for number in range(7)]
    for number, job_id in enumerate(made):
        moment = datetime(2026, 5, 5 if number == 4 else number, 12, 0, 0, 123456, UTC) if number else "2026-05-01"
        at = Statement("UPDATE job SET created_at = %(at)s WHERE id = %(id)s RETURNING 1", {"id": job_id, "at": moment})
        api_database.run(at)
    monkeypatch.setattr(job_lists, "MOST_LISTED", 2)
    rows = Statement(
        "SELECT id FROM job WHERE account_id = %(a)s ORDER BY created_at DESC, id", {"a": client.account_id}
    )
    return [str(row["id"]) for row in api_database.run(rows)]


@pytest.mark.parametrize("query", ["limit=1", "limit=100", "limit=2&kind=echo", "limit=1&q=needle"])
def test_the_links_of_a_long_list_lead_through_each_job_once(
    service: Service, client: Payer, jobs: list[str], query: str
) -> None:
    path, found, pages = f"/jobs?{query}", [], 0
    while path and pages < 20:
        answer = service.get(path, client.api_key)
        assert answer.status == 200, answer.body
        found += [job["id"] for job in answer.json]
        following = NEXT.search(answer.headers["link"])
        path, pages = following[1] if following else "", pages + 1

    assert found == jobs


def test_a_long_list_says_how_far_it_came(service: Service, client: Payer, jobs: list[str]) -> None:
    newest = service.get("/jobs?kind=many", client.api_key)
    assert (newest.json, newest.headers["x-total-count"]) == ([], "0")
    assert newest.headers["x-searched-since"] == "2026-05-05T12:00:00.123456Z"
    assert "to=2026-05-05T12%3A00%3A00.123456Z" in newest.headers["link"]

    last = service.get("/jobs?to=2026-05-01", client.api_key)
    assert [job["id"] for job in last.json] == jobs[-1:]
    assert "x-searched-since" not in last.headers


def test_what_failed_is_found_however_much_was_delivered_since(
    service: Service, client: Payer, manual_worker: ManualWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = service.submit({"text": "hi"}, client.api_key)
    manual_worker.work(refuse)
    cancelled = service.submit({"text": "hi"}, client.api_key)
    service.delete(f"/jobs/{cancelled}", client.api_key)
    still_open = service.submit({"items": 1}, client.api_key, "/many")
    for _ in range(3):
        service.submit({"text": "hi"}, client.api_key)
    manual_worker.work()
    monkeypatch.setattr(job_lists, "MOST_LISTED", 2)

    for query, wanted in [
        ("state=failed", [failed]),
        ("state=cancelled,partial", [cancelled]),
        ("state=failed,cancelled,expired", [cancelled, failed]),
        ("state=queued,running&kind=many", [still_open]),
    ]:
        assert [job["id"] for job in service.get(f"/jobs?{query}", client.api_key).json] == wanted, query


def pages_of(connection: psycopg.Connection[Any], statement: Statement[Any]) -> int:
    """Return how many pages a statement touches."""
    sql = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT json) {statement.sql}"
    (plan,) = connection.execute(sql, statement.parameters).fetchone()["QUERY PLAN"]
    pages: int = plan["Plan"]["Shared Hit Blocks"] + plan["Plan"]["Shared Read Blocks"]
    return pages


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
