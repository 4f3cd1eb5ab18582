"""Failures are grouped by what went wrong, few of them at a time, and what was tried again counts once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
from payers import Payer, open_account
from workbench import submission

from pipeline import lifecycle
from pipeline.database import Database
from pipeline.lifecycle import Outcome
from pipeline.operations import failures
from pipeline.operations.failures import FailureGroup, read_failures, retry_key

DAY = timedelta(days=1)
LEASE = timedelta(minutes=1)


def error(code: str) -> dict[str, Any]:
    return {"status": 500, "error": "Internal Server Error", "code": code, "message": f"It was {code}."}


def fail(database: Database, payer: Payer, *codes: str | None, **changes: Any) -> UUID:
    """Let a job end whose items failed for these reasons; None: one is done."""
    wanted = submission(payer, [1] * len(codes), **changes)
    database.run(lifecycle.submit(wanted))
    items = database.run(lifecycle.claim({"sketch": len(codes)}, lease_for=LEASE))
    while len(items) < len(codes):
        items += database.run(lifecycle.claim({"sketch": len(codes)}, lease_for=LEASE))
    for item in items:
        code = codes[item.index]
        outcome = Outcome(item.item_id, "failed" if code else "done", error=error(code) if code else None)
        database.run(lifecycle.report(item.lease_id, [outcome]))
    return wanted.job_id


def groups(database: Database, period: timedelta = DAY) -> dict[str, FailureGroup]:
    return {group.code: group for group in database.run(read_failures(period))}


def test_jobs_are_grouped_by_their_reason_also_those_of_which_a_part_failed(database: Database) -> None:
    one, other = open_account(database), open_account(database)
    fail(database, one, "engine_broken")
    last = fail(database, other, None, "engine_broken")
    fail(database, one, "text_empty")
    fail(database, one, None)

    found = groups(database)

    assert set(found) == {"engine_broken", "text_empty"}
    group = found["engine_broken"]
    assert (group.jobs, group.accounts, group.last_job_id) == (2, 2, last)
    assert group.message == "It was engine_broken."


def test_older_failures_are_left_out(database: Database, database_url: str) -> None:
    payer = open_account(database)
    old = fail(database, payer, "engine_broken")
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE job SET finished_at = now() - interval '2 days' WHERE id = %s", [old])

    assert groups(database) == {}
    assert groups(database, timedelta(days=3))["engine_broken"].jobs == 1


def test_a_job_that_was_tried_again_is_counted_no_more_and_what_it_became_is(database: Database) -> None:
    payer = open_account(database)
    first = fail(database, payer, "engine_broken")

    fail(database, payer, "engine_broken", idempotency_key=retry_key(first))

    assert groups(database)["engine_broken"].jobs == 1


def test_the_jobs_are_found_by_their_index_however_many_there_are(make_database: Callable[..., str]) -> None:
    statement = read_failures(DAY)
    with psycopg.connect(make_database()) as connection:
        connection.execute("SET enable_seqscan = off")
        plan = "\n".join(
            row[0] for row in connection.execute(f"EXPLAIN {statement.sql}", statement.parameters).fetchall()
        )
    assert "job_ended_badly_idx" in plan
    assert "job_idempotency_key_idx" in plan
    assert "item_job_id_index_key" in plan
    assert f"LIMIT {failures.MOST_JOBS}" in statement.sql
