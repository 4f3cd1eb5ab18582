"""Submission: a request becomes a job with its hold and items, or nothing at all."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

from payers import Payer, open_account
from workbench import Workbench

from pipeline import lifecycle
from pipeline.accounts.keys import revoke_key


def nothing_was_made(bench: Workbench) -> bool:
    counts = bench.read("SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM item) AS rows")
    return counts == [{"rows": 0}] and bench.balance() == 1_000


def test_only_a_valid_key_of_the_account_submits(bench):
    other = open_account(bench.database)
    unknown = Payer(uuid4(), bench.payer.api_key_id, "")

    assert bench.submit(payer=unknown).outcome == "unauthorized"
    assert bench.submit(api_key_id=other.api_key_id).outcome == "unauthorized"
    bench.database.run(revoke_key(bench.payer.api_key_id))  # meanwhile
    assert bench.submit().outcome == "unauthorized"
    assert nothing_was_made(bench)


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
