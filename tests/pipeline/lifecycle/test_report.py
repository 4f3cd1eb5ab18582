"""Reports: what becomes of items, fenced by their lease; and of their job, with the last one."""

import pytest
from workbench import LEASE

from pipeline import lifecycle
from pipeline.lifecycle import Beat

ERROR = {"status": 422, "error": "Unprocessable", "code": "silent", "message": "There is nothing to hear."}


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


def test_a_failed_job_gives_the_reason_of_its_first_item(bench):
    job_id = bench.job_of(1, 1)
    first, second = bench.claim(2)
    bench.report(second, "failed", error={"code": "second"})
    bench.report(first, "failed", error={"code": "first"})

    assert bench.job(job_id)["error"] == {"code": "first"}


def test_a_report_keeps_the_engine_that_is_known(bench):
    job_id = bench.job_of(1, 1)
    first, second = bench.claim(2)
    bench.report(first, credits=1, engine="espeak")
    bench.report(second, "failed", error=ERROR)

    assert bench.job(job_id)["engine"] == "espeak"


# Not final


def test_an_item_that_succeeds_in_the_end_shows_no_error(bench):
    bench.job_of()
    bench.report(bench.claim_one(), "retry", error=ERROR)
    item = bench.claim_one()
    bench.report(item, credits=1)

    assert bench.item(item.item_id)["error"] is None


# Fencing


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
