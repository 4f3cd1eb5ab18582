"""Ends that nobody worked for: cancelled, or past the deadline; both settle at once."""

from datetime import timedelta
from uuid import uuid4

import pytest
from payers import open_account

from pipeline import lifecycle


def cancel(bench, job_id):
    bench.cancel(job_id)
    return "cancelled", lifecycle.CANCELLED


def expire(bench, job_id):
    bench.let_expire(job_id)
    assert bench.database.run(lifecycle.expire()) == job_id
    return "expired", lifecycle.EXPIRED


def suspend(bench, job_id):
    bench.database.run(lifecycle.suspend_account(bench.payer.account_id, suspended=True))
    assert bench.database.run(lifecycle.end_suspended()) == job_id
    bench.database.run(lifecycle.suspend_account(bench.payer.account_id, suspended=False))
    return "cancelled", lifecycle.SUSPENDED


ways = pytest.mark.parametrize("stop", [cancel, expire, suspend])


@ways
def test_a_queued_job_ends_at_once_and_costs_nothing(bench, stop):
    job_id = bench.job_of(5, 5)

    state, error = stop(bench, job_id)

    job = bench.job(job_id)
    assert (job["state"], job["error"], job["credits_captured"]) == (state, error, 0)
    assert job["finished_at"] is not None
    assert [item["state"] for item in bench.items(job_id)] == ["cancelled"] * 2
    assert bench.balance() == 1_000
    assert bench.claim() == []


@ways
def test_a_running_job_ends_at_once_and_costs_what_it_delivered(bench, stop):
    job_id = bench.job_of(5, 5, 5, 5)
    delivered, begun, waiting = bench.claim(3)
    bench.report(delivered, credits=4)
    bench.beat(begun, credits=2)
    bench.report(waiting, "retry", after=timedelta(minutes=5))

    stop(bench, job_id)

    job = bench.job(job_id)
    assert (job["credits_captured"], job["items_ok"], job["items_failed"]) == (6, 1, 0)
    assert [item["state"] for item in bench.items(job_id)] == ["done", "cancelled", "cancelled", "cancelled"]
    assert bench.entries(job_id) == [("hold", -20, 20), ("capture", 0, -6), ("release", 14, -14)]
    assert not bench.beat(begun)


@ways
def test_a_raised_hold_is_given_back_too(bench, stop):
    job_id = bench.job_of(5)
    bench.raise_hold(bench.claim_one(), 500)

    stop(bench, job_id)

    assert bench.balance() == 1_000


def test_cancel_says_in_what_state_it_found_the_job(bench):
    job_id = bench.job_of()
    assert bench.cancel(job_id) == "queued"
    assert bench.cancel(job_id) == "cancelled"

    bench.job_of()
    running = bench.claim_one()
    assert bench.cancel(running.job_id) == "running"


def test_cancel_leaves_an_ended_job_as_it_is(bench):
    job_id = bench.job_of(5)
    bench.report(bench.claim_one(), credits=5)
    before = bench.job(job_id)

    assert bench.cancel(job_id) == "succeeded"
    assert bench.job(job_id) == before
    assert bench.balance() == 995


def test_only_its_account_and_the_operator_cancel_a_job(bench):
    job_id = bench.job_of(payer=open_account(bench.database))

    assert bench.cancel(job_id) is bench.cancel(uuid4()) is None
    assert bench.job(job_id)["state"] == "queued"
    assert bench.database.run(lifecycle.cancel(job_id, None)) == "queued"
    assert bench.job(job_id)["state"] == "cancelled"


def test_only_what_is_past_its_deadline_expires_the_longest_overdue_first(bench):
    first, second, _ = bench.job_of(), bench.job_of(), bench.job_of()
    bench.write("UPDATE job SET deadline = now() - interval '1 s' WHERE id = %s", second)
    bench.write("UPDATE job SET deadline = now() - interval '2 s' WHERE id = %s", first)

    assert [bench.database.run(lifecycle.expire()) for _ in range(3)] == [first, second, None]


def test_an_ended_job_does_not_expire(bench):
    job_id = bench.job_of()
    bench.report(bench.claim_one(), credits=1)
    bench.let_expire(job_id)

    assert bench.database.run(lifecycle.expire()) is None


def test_cancelling_a_job_that_others_report_on_waits_for_nothing_and_charges_once(bench):
    job_id = bench.job_of(*[1] * 50)
    items = bench.claim(50)
    for item in items[:25]:
        bench.report(item, credits=1)

    bench.cancel(job_id)
    assert all(bench.report(item, credits=1) == [] for item in items[25:])
    assert bench.balance() == 975


def test_only_the_jobs_of_suspended_accounts_are_ended(bench):
    other = open_account(bench.database)
    mine, theirs = bench.job_of(1), bench.job_of(1, payer=other)
    assert bench.database.run(lifecycle.end_suspended()) is None
    bench.database.run(lifecycle.suspend_account(other.account_id, suspended=True))

    assert bench.database.run(lifecycle.end_suspended()) == theirs
    assert bench.database.run(lifecycle.end_suspended()) is None
    assert bench.job(mine)["state"] == "queued"


def test_a_suspended_account_submits_nothing_until_it_goes_on(bench):
    assert not bench.database.run(lifecycle.suspend_account(uuid4(), suspended=True))
    assert bench.database.run(lifecycle.suspend_account(bench.payer.account_id, suspended=True))

    assert bench.submit().outcome == "suspended"

    bench.database.run(lifecycle.suspend_account(bench.payer.account_id, suspended=False))
    assert bench.submit().outcome == "accepted"


def test_an_idempotency_key_may_be_used_again_after_a_suspension(bench):
    first = bench.job_of(idempotency_key="once")
    suspend(bench, first)

    again = bench.submit(idempotency_key="once")

    assert (again.outcome, again.job_id == first) == ("accepted", False)
