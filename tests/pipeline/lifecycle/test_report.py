"""Reports: what becomes of items, fenced by their lease; and of their job, with the last one."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from payers import open_account
from workbench import LEASE

from pipeline import lifecycle
from pipeline.lifecycle import Beat, Outcome, Taken

ERROR = {"status": 422, "error": "Unprocessable", "code": "silent", "message": "There is nothing to hear."}


def test_done_delivers_the_output_and_takes_the_credits(bench):
    job_id = bench.job_of(5)
    item = bench.claim_one()

    taken = bench.report(item, "done", 5, output={"artifact": "a"}, engine="espeak")

    assert taken == [Taken(item.item_id, job_id, "succeeded")]
    row, job = bench.item(item.item_id), bench.job(job_id)
    assert (row["state"], row["output"], row["captured"]) == ("done", {"artifact": "a"}, 5)
    assert (job["state"], job["items_ok"], job["credits_captured"], job["engine"]) == ("succeeded", 1, 5, "espeak")
    assert job["expires_at"] - job["finished_at"] == timedelta(hours=1)
    assert bench.balance() == 995
    assert bench.entries(job_id) == [("hold", -5, 5), ("capture", 0, -5)]


@pytest.mark.parametrize(
    ("outcome", "error", "earned"), [("done", None, 2), ("failed", ERROR, 2), ("failed", ERROR, 0)]
)
def test_what_was_not_earned_is_given_back_and_a_failure_says_why(bench, outcome, error, earned):
    job_id = bench.job_of(5)
    bench.report(bench.claim_one(), outcome, earned, error=error)

    job, captured = bench.job(job_id), [("capture", 0, -earned)] if earned else []
    assert (job["error"], job["items_failed"], job["credits_captured"]) == (error, int(outcome == "failed"), earned)
    assert bench.balance() == 1_000 - earned
    assert bench.entries(job_id) == [("hold", -5, 5), *captured, ("release", 5 - earned, earned - 5)]


def test_the_last_word_on_credits_is_the_reports(bench):
    bench.job_of(5)
    item = bench.claim_one()
    bench.beat(item, credits=4)
    bench.report(item, "failed", 1, error=ERROR)

    assert bench.balance() == 999


@pytest.mark.parametrize(("sent", "earned"), [(6, 5), (2**31 - 1, 5), (-1, 0)])
@pytest.mark.parametrize("outcome", ["done", "failed"])
def test_credits_out_of_range_are_cut_to_the_price(bench, outcome, sent, earned):
    bench.job_of(5)
    bench.report(bench.claim_one(), outcome, sent)

    assert bench.balance() == 1_000 - earned


def test_a_job_of_both_is_partial_and_charged_in_part(bench):
    job_id = bench.job_of(1, 1, 1)
    items = bench.claim(3)
    outcomes = [
        Outcome(items[0].item_id, "done", 1),
        Outcome(items[1].item_id, "failed", error=ERROR),
        Outcome(items[2].item_id, "done", 1),
    ]

    taken = bench.database.run(lifecycle.report(items[0].lease_id, outcomes))

    assert [item.job_state for item in taken] == ["partial"] * 3
    job = bench.job(job_id)
    assert (job["items_ok"], job["items_failed"], job["credits_captured"], job["error"]) == (2, 1, 2, None)
    assert bench.balance() == 998


def test_a_failed_job_gives_the_reason_of_its_first_item(bench):
    job_id = bench.job_of(1, 1)
    first, second = bench.claim(2)
    bench.report(second, "failed", error={"code": "second"})
    bench.report(first, "failed", error={"code": "first"})

    assert bench.job(job_id)["error"] == {"code": "first"}


def test_a_job_ends_with_its_last_item_and_no_earlier(bench):
    job_id = bench.job_of(1, 1)
    first, second = bench.claim(2)

    assert bench.report(first, credits=1) == [Taken(first.item_id, job_id, None)]
    assert bench.job(job_id)["state"] == "running"
    assert bench.report(second, credits=1) == [Taken(second.item_id, job_id, "succeeded")]


def test_one_report_may_end_several_jobs_of_several_accounts(bench):
    other = open_account(bench.database)
    jobs = {bench.job_of(2, slice_size=9), bench.job_of(2, payer=other, slice_size=9), bench.job_of(2, slice_size=9)}

    taken = bench.report_all(bench.claim(3))

    assert {item.job_id for item in taken if item.job_state == "succeeded"} == jobs
    assert bench.balance() == 996


def test_reports_on_several_leases_are_handed_in_as_one(bench):
    other = open_account(bench.database)
    jobs = [bench.job_of(2, 2), bench.job_of(3, payer=other)]
    items = [bench.claim_one() for _ in range(3)]
    reports = [(item.lease_id, [Outcome(item.item_id, "done", 1)]) for item in items]

    taken = bench.database.run(lifecycle.report_together(reversed(reports)))

    assert [item.item_id for item in taken] == sorted(item.item_id for item in items)
    assert {item.job_id for item in taken if item.job_state == "succeeded"} == set(jobs)
    assert [bench.entries(job_id)[1:] for job_id in jobs] == [[("capture", 0, -2), ("release", 2, -2)],
                                                             [("capture", 0, -1), ("release", 2, -2)]]  # fmt: skip
    assert bench.database.run(lifecycle.report_together(reports)) == []


def test_a_report_keeps_the_engine_that_is_known(bench):
    job_id = bench.job_of(1, 1)
    first, second = bench.claim(2)
    bench.report(first, credits=1, engine="espeak")
    bench.report(second, "failed", error=ERROR)

    assert bench.job(job_id)["engine"] == "espeak"


# Not final


def test_retry_comes_back_later_and_counts_an_attempt(bench):
    job_id = bench.job_of()
    item = bench.claim_one()
    bench.report(item, "retry", after=timedelta(minutes=5), error=ERROR)

    row = bench.item(item.item_id)
    assert (row["state"], row["attempts"], row["error"]) == ("waiting", 1, ERROR)
    assert timedelta(minutes=4) < row["run_at"] - row["updated_at"] <= timedelta(minutes=5)
    assert bench.claim() == []
    assert bench.wake_early() == {"sketch": 1}
    assert bench.claim_one().attempts == 1
    assert bench.job(job_id)["state"] == "running"


def test_release_comes_back_and_counts_nothing(bench):
    bench.job_of()
    for _ in range(5):
        bench.report(bench.claim_one(), "release")

    item = bench.claim_one()
    assert (item.attempts, item.crashes) == (0, 0)


def test_release_may_name_a_time(bench):
    bench.job_of()
    bench.report(bench.claim_one(), "release", after=timedelta(minutes=15))

    assert bench.claim() == []
    assert bench.database.run(lifecycle.wake_waiting()) == {}
    assert bench.wake_early() == {"sketch": 1}


def test_an_item_that_succeeds_in_the_end_shows_no_error(bench):
    bench.job_of()
    bench.report(bench.claim_one(), "retry", error=ERROR)
    item = bench.claim_one()
    bench.report(item, credits=1)

    assert bench.item(item.item_id)["error"] is None


# Fencing


def states(bench):
    """Return all that a report could change."""
    return [bench.read(f"SELECT * FROM {table} ORDER BY id") for table in ("job", "item", "account", "credit_entry")]


@pytest.mark.parametrize("outcome", ["done", "failed", "retry", "release"])
@pytest.mark.parametrize(
    "end", ["done", "failed", "retry", "release", "reap", "cancel", "expire", "taken over", "never claimed"]
)
def test_a_late_report_changes_nothing(bench, outcome, end):
    job_id = bench.job_of(5, 5)
    item = bench.claim_one()
    if end == "reap":
        bench.kill_worker(item)
        bench.database.run(lifecycle.reap())
    elif end == "cancel":
        bench.cancel(job_id)
    elif end == "expire":
        bench.let_expire(job_id)
        bench.database.run(lifecycle.expire())
    elif end == "taken over":
        bench.report(item, "release")
        assert bench.claim_one().item_id == item.item_id
    elif end == "never claimed":
        item = replace(item, lease_id=uuid4())
    else:
        bench.report(item, end, 3)
    before = states(bench)

    assert bench.report(item, outcome, 5) == []
    assert states(bench) == before


def test_items_that_are_not_on_the_lease_are_left_out_of_a_report(bench):
    job_id = bench.job_of(1, 1, 1)
    mine, theirs = bench.claim_one(), bench.claim_one()
    outcomes = [Outcome(number, "done", 1) for number in (mine.item_id, theirs.item_id, 4711, -1)]

    taken = bench.database.run(lifecycle.report(mine.lease_id, outcomes))

    assert [item.item_id for item in taken] == [mine.item_id]
    assert bench.job(job_id)["items_ok"] == 1


def test_each_report_of_several_counts_for_what_is_on_its_own_lease(bench):
    bench.job_of(1, 1)
    first, second = bench.claim_one(), bench.claim_one()
    before = states(bench)

    swapped = [(first.lease_id, [Outcome(second.item_id, "done", 1)]),
               (second.lease_id, [Outcome(first.item_id, "done", 1)])]  # fmt: skip

    assert bench.database.run(lifecycle.report_together(swapped)) == []
    assert states(bench) == before


def test_an_item_named_twice_in_a_report_counts_once(bench):
    job_id = bench.job_of(1, 1)
    item = bench.claim_one()

    bench.database.run(lifecycle.report(item.lease_id, [Outcome(item.item_id, "done", 1)] * 2))

    assert bench.job(job_id)["items_ok"] == 1
    assert bench.job(job_id)["state"] == "running"


@pytest.mark.parametrize("count", [99, 100, 101, 350])
def test_a_report_of_many_items_and_a_beat_of_them_leave_none_out(bench, count):
    job_id = bench.job_of(*[1] * count)
    items = bench.claim(count)

    beats = [Beat(item.lease_id, item.item_id) for item in items]
    assert len(bench.database.run(lifecycle.heartbeat(beats, lease_for=LEASE))) == count
    taken = bench.report_all(items)

    assert {one.item_id for one in taken} == {item.item_id for item in items}
    assert bench.job(job_id)["items_ok"] == count
    assert {one.job_state for one in taken} == {"succeeded"}


def test_a_release_that_names_a_lane_goes_on_there_and_another_one_stays(bench):
    bench.job_of(5)
    item = bench.claim_one()

    bench.report(item, "release", lane="elsewhere")

    assert bench.database.run(lifecycle.claim({item.lane: 1}, lease_for=LEASE)) == []
    (again,) = bench.database.run(lifecycle.claim({"elsewhere": 1}, lease_for=LEASE))
    assert (again.item_id, again.lane, again.kind, again.attempts) == (item.item_id, "elsewhere", item.kind, 0)
    bench.report(again, "release")
    (still,) = bench.database.run(lifecycle.claim({"elsewhere": 1}, lease_for=LEASE))
    assert still.item_id == item.item_id
