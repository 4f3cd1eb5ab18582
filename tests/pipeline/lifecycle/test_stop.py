"""Ends that nobody worked for: cancelled, or past the deadline; both settle at once."""

from payers import open_account

from pipeline import lifecycle


def suspend(bench, job_id):
    bench.database.run(lifecycle.suspend_account(bench.payer.account_id, suspended=True))
    assert bench.database.run(lifecycle.end_suspended()) == job_id
    bench.database.run(lifecycle.suspend_account(bench.payer.account_id, suspended=False))


def test_only_what_is_past_its_deadline_expires_the_longest_overdue_first(bench):
    first, second, _ = bench.job_of(), bench.job_of(), bench.job_of()
    bench.write("UPDATE job SET deadline = now() - interval '1 s' WHERE id = %s", second)
    bench.write("UPDATE job SET deadline = now() - interval '2 s' WHERE id = %s", first)

    assert [bench.database.run(lifecycle.expire()) for _ in range(3)] == [first, second, None]


def test_only_the_jobs_of_suspended_accounts_are_ended(bench):
    other = open_account(bench.database)
    mine, theirs = bench.job_of(1), bench.job_of(1, payer=other)
    assert bench.database.run(lifecycle.end_suspended()) is None
    bench.database.run(lifecycle.suspend_account(other.account_id, suspended=True))

    assert bench.database.run(lifecycle.end_suspended()) == theirs
    assert bench.database.run(lifecycle.end_suspended()) is None
    assert bench.job(mine)["state"] == "queued"


def test_an_idempotency_key_may_be_used_again_after_a_suspension(bench):
    first = bench.job_of(idempotency_key="once")
    suspend(bench, first)

    again = bench.submit(idempotency_key="once")

    assert (again.outcome, again.job_id == first) == ("accepted", False)
