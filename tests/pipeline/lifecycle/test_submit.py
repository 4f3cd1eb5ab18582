"""Submission: a request becomes a job with its hold and items, or nothing at all."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import pytest
from payers import Payer, open_account
from workbench import Workbench, submission

from pipeline import lifecycle
from pipeline.accounts.keys import revoke_key


def nothing_was_made(bench: Workbench) -> bool:
    counts = bench.read("SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM item) AS rows")
    return counts == [{"rows": 0}] and bench.balance() == 1_000


def test_a_request_becomes_a_queued_job_with_its_hold_and_its_items_in_order(bench):
    job_id = bench.job_of(3, 1, 2, source="plugin")

    job = bench.job(job_id)
    assert (job["state"], job["items_total"], job["credits_held"], job["source"]) == ("queued", 3, 6, "plugin")
    assert job["request"] == {"text": "hello"}
    assert [(item["index"], item["price"], item["state"]) for item in bench.items(job_id)] == [
        (0, 3, "ready"), (1, 1, "ready"), (2, 2, "ready"),
    ]  # fmt: skip
    assert [item["input"] for item in bench.items(job_id)] == [{"number": 0}, {"number": 1}, {"number": 2}]
    assert bench.balance() == 994
    assert bench.entries(job_id) == [("hold", -6, 6)]


def test_the_answer_says_what_is_left_and_when_the_job_was_made(bench):
    submitted = bench.submit(4)

    assert (submitted.outcome, submitted.available, submitted.required) == ("accepted", 996, 4)
    assert submitted.created_at == bench.job(submitted.job_id)["created_at"]


def test_a_free_job_writes_no_line_in_the_ledger(bench):
    job_id = bench.job_of(0)
    bench.report(bench.claim_one())

    assert bench.job(job_id)["state"] == "succeeded"
    assert bench.entries(job_id) == []


def test_a_job_dearer_than_the_balance_is_refused_and_changes_nothing(bench):
    submitted = bench.submit(600, 401)

    assert (submitted.outcome, submitted.available, submitted.required) == ("insufficient", 1_000, 1_001)
    assert submitted.job_id is None
    assert nothing_was_made(bench)


def test_the_last_credit_can_be_spent(bench):
    assert bench.submit(1_000).outcome == "accepted"
    assert bench.submit(1).outcome == "insufficient"


def test_only_a_valid_key_of_the_account_submits(bench):
    other = open_account(bench.database)
    unknown = Payer(uuid4(), bench.payer.api_key_id, "")

    assert bench.submit(payer=unknown).outcome == "unauthorized"
    assert bench.submit(api_key_id=other.api_key_id).outcome == "unauthorized"
    bench.database.run(revoke_key(bench.payer.api_key_id))  # meanwhile
    assert bench.submit().outcome == "unauthorized"
    assert nothing_was_made(bench)


def test_open_items_beyond_the_cap_are_refused_until_some_have_ended(bench):
    bench.job_of(1, 1, 1, max_open_items=4)

    refused = bench.submit(1, 1, max_open_items=4)
    assert (refused.outcome, refused.open_items) == ("too_many", 3)

    bench.report(bench.claim_one(), credits=1)
    assert bench.submit(1, 1, max_open_items=4).outcome == "accepted"


def test_the_cap_holds_after_a_count_in_the_middle_of_a_job(bench):
    half_done = bench.job_of(1, 1, 1, 1)
    bench.report_all(bench.claim(3))
    bench.job_of(1, max_open_items=4)  # counted anew, as the counters have all four
    bench.report_all(bench.claim(1))
    bench.database.run(lifecycle.uncount())

    assert bench.job(half_done)["state"] == "succeeded"
    assert bench.submit(1, 1, 1, 1, max_open_items=4).outcome == "too_many"


def test_ended_jobs_do_not_count_towards_the_cap(bench):
    bench.cancel(bench.job_of(1, 1, 1, 1))

    assert bench.submit(1, 1, 1, 1, max_open_items=4).outcome == "accepted"


def test_a_submission_sent_again_after_a_lost_connection_makes_one_job(bench):
    statement = lifecycle.submit(submission(bench.payer, [5]))

    first, again = bench.database.run(statement), bench.database.run(statement)

    assert (first.outcome, again.outcome) == ("accepted", "accepted")
    assert first.job_id == again.job_id
    assert bench.balance() == 995


def test_a_submission_sent_again_is_recognised_even_if_its_key_was_revoked_in_between(bench):
    statement = lifecycle.submit(submission(bench.payer, [5]))
    bench.database.run(statement)
    bench.database.run(revoke_key(bench.payer.api_key_id))

    assert bench.database.run(statement).outcome == "accepted"


def test_a_job_needs_an_item(bench):
    with pytest.raises(ValueError, match="at least one item"):
        lifecycle.submit(submission(bench.payer, []))


# Idempotency-Key


@pytest.mark.parametrize("has_ended", [False, True])
def test_the_same_key_and_request_give_the_same_job_once_also_with_an_empty_purse_and_a_full_queue(bench, has_ended):
    first = bench.submit(1_000, idempotency_key="k")
    if has_ended:
        bench.report(bench.claim_one(), credits=1_000)

    again = bench.submit(1_000, idempotency_key="k", max_open_items=0)

    assert (again.outcome, again.job_id) == ("replayed", first.job_id)
    assert bench.balance() == 0


def test_what_was_refused_or_late_or_failed_by_our_fault_uses_no_key_up(bench):
    refused = bench.job_of(idempotency_key="chapter 1")
    bench.report(bench.claim_one(), "failed", error={"status": 400, "code": "nothing_to_speak"})
    late = bench.job_of(idempotency_key="chapter 1", request_hash=b"corrected")
    bench.let_expire(late)
    bench.database.run(lifecycle.expire())
    ours = bench.job_of(idempotency_key="chapter 1", request_hash=b"corrected")
    bench.report(bench.claim_one(), "failed", error={"status": 500, "code": "internal_error"})
    again = bench.job_of(idempotency_key="chapter 1", request_hash=b"corrected")

    assert len({refused, late, ours, again}) == 4
    assert bench.submit(idempotency_key="chapter 1", request_hash=b"corrected").job_id == again


def test_the_same_key_with_another_request_is_a_conflict(bench):
    first = bench.submit(5, idempotency_key="k")
    other = bench.submit(5, idempotency_key="k", request_hash=b"other")

    assert (other.outcome, other.job_id) == ("conflict", first.job_id)
    assert bench.balance() == 995


def test_a_refused_request_does_not_use_its_key_up(bench):
    assert bench.submit(2_000, idempotency_key="k").outcome == "insufficient"
    bench.database.run(lifecycle.grant_credits(bench.payer.account_id, 2_000))

    assert bench.submit(2_000, idempotency_key="k").outcome == "accepted"


def test_a_key_counts_for_its_account_and_route_alone(bench):
    bench.job_of(idempotency_key="k")
    other = open_account(bench.database)

    assert bench.submit(idempotency_key="k", route="/elsewhere").outcome == "accepted"
    assert bench.submit(idempotency_key="k", payer=other).outcome == "accepted"


def test_a_key_is_forgotten_after_its_window(bench):
    first = bench.job_of(idempotency_key="k")
    bench.write("UPDATE job SET created_at = created_at - interval '25 hours'")

    again = bench.submit(idempotency_key="k", request_hash=b"other", idempotency_window=timedelta(hours=24))
    assert again.outcome == "accepted"
    assert again.job_id != first
    assert bench.submit(idempotency_key="k", request_hash=b"other").outcome == "replayed"


def test_a_doubled_request_makes_one_job_however_close_the_two_are(bench):
    def send(_: int) -> str:
        return bench.submit(1, idempotency_key="k").outcome

    with ThreadPoolExecutor(2) as clients:
        outcomes = sorted(clients.map(send, range(40)))

    assert outcomes == ["accepted"] + ["replayed"] * 39
    assert bench.balance() == 999


def test_many_clients_at_once_never_spend_more_than_there_is(bench):
    def send(_: int) -> str:
        return bench.submit(30).outcome

    with ThreadPoolExecutor(2) as clients:
        outcomes = sorted(clients.map(send, range(50)))

    assert outcomes.count("accepted") == 1_000 // 30
    assert bench.balance() == 1_000 % 30
