"""Leases: heartbeats, and what is written with them; more credits set aside on the way."""

from uuid import uuid4

import pytest
from workbench import LEASE

from pipeline import lifecycle
from pipeline.database import Statement
from pipeline.lifecycle import Beat


def test_a_heartbeat_renews_the_lease(bench):
    bench.job_of()
    item = bench.claim_one()
    bench.kill_worker(item)

    assert bench.beat(item)
    assert bench.database.run(lifecycle.reap()) is None


def test_a_heartbeat_names_only_what_is_still_held(bench):
    bench.job_of(1, 1, 1)
    cancelled = bench.job_of(1)
    items = bench.claim(4)
    bench.report(items[0], credits=1)
    bench.cancel(cancelled)

    held = bench.database.run(
        lifecycle.heartbeat([Beat(item.lease_id, item.item_id) for item in items], lease_for=LEASE)
    )

    assert held == {items[1].item_id, items[2].item_id}


def test_one_heartbeat_serves_several_leases(bench):
    bench.job_of(1, 1)
    items = [bench.claim_one(), bench.claim_one()]

    beats = [Beat(item.lease_id, item.item_id) for item in reversed(items)]

    assert bench.database.run(lifecycle.heartbeat(beats, lease_for=LEASE)) == {item.item_id for item in items}


def test_progress_and_checkpoint_are_written_and_kept_until_they_are_written_again(bench):
    bench.job_of(3)
    item = bench.claim_one()
    bench.beat(item, progress={"done": 1, "total": 3}, checkpoint={"at": 1})
    bench.beat(item)
    bench.beat(item, progress={"done": 2, "total": 3})

    row = bench.item(item.item_id)
    assert (row["progress"], row["checkpoint"]) == ({"done": 2, "total": 3}, {"at": 1})


def test_the_next_attempt_goes_on_from_the_checkpoint_and_the_credits(bench):
    bench.job_of(3)
    item = bench.claim_one()
    bench.beat(item, credits=2, checkpoint={"at": 2})
    bench.report(item, "retry")

    again = bench.claim_one()
    assert (again.checkpoint, again.captured, again.attempts) == ({"at": 2}, 2, 1)


def test_credits_earned_so_far_never_fall(bench):
    bench.job_of(5)
    item = bench.claim_one()
    for earned in (2, 4, 3, None, 0, -7):
        bench.beat(item, credits=earned)

    assert bench.item(item.item_id)["captured"] == 4


def test_credits_earned_so_far_stop_at_the_price_and_leave_the_neighbours_alone(bench):
    bench.job_of(5, 5)
    wrong, right = bench.claim(2)
    beats = [Beat(wrong.lease_id, wrong.item_id, credits=2**31 - 1), Beat(right.lease_id, right.item_id, credits=3)]

    assert len(bench.database.run(lifecycle.heartbeat(beats, lease_for=LEASE))) == 2
    assert [bench.item(item.item_id)["captured"] for item in (wrong, right)] == [5, 3]


@pytest.mark.parametrize("end", ["reported", "released", "reaped", "cancelled", "taken over", "another's"])
def test_a_late_heartbeat_changes_nothing(bench, end):
    job_id = bench.job_of(5)
    item = bench.claim_one()
    late = item
    if end == "reported":
        bench.report(item, credits=1)
    elif end in ("released", "taken over"):
        bench.report(item, "release")
    elif end == "reaped":
        bench.kill_worker(item)
        bench.database.run(lifecycle.reap())
    elif end == "cancelled":
        bench.cancel(job_id)
    if end == "taken over":
        bench.claim_one()
    sent = Beat(uuid4() if end == "another's" else late.lease_id, late.item_id, {"done": 9}, 5, {"at": 9})
    before = bench.item(item.item_id)

    assert bench.database.run(lifecycle.heartbeat([sent], lease_for=LEASE)) == set()
    assert bench.item(item.item_id) == before


def test_a_heartbeat_does_not_move_index_entries(bench):
    bench.job_of(5)
    item = bench.claim_one()
    moves = []
    # In rounds: while something of the server's own keeps pages from being cleaned, full ones make entries move; were
    # an indexed column changed, all 50 would move in each round.
    for _ in range(3):
        before = index_moves(bench)
        for done in range(50):
            bench.beat(item, progress={"done": done})
        moves.append(index_moves(bench) - before)

    assert min(moves) <= 5  # the claim, and a full page now and then


def index_moves(bench):
    """Return how many updates of items have needed new index entries so far."""
    # Sessions publish their counts at most once a second, unless they are asked to.
    for statement in ("SELECT pg_stat_force_next_flush()", "SELECT 1"):
        bench.database.run(Statement(statement))
    (row,) = bench.read("SELECT n_tup_upd - n_tup_hot_upd AS moves FROM pg_stat_user_tables WHERE relname = 'item'")
    return row["moves"]


# raise_hold


def test_a_raised_hold_is_set_aside_at_once(bench):
    job_id = bench.job_of(5)
    item = bench.claim_one()

    raised = bench.raise_hold(item, 12)

    assert (raised.outcome, raised.available) == ("raised", 988)
    assert bench.job(job_id)["credits_held"] == 12
    assert bench.item(item.item_id)["price"] == 12
    assert bench.entries(job_id) == [("hold", -5, 5), ("raise", -7, 7)]


def test_raising_is_absolute_so_that_repeating_it_is_harmless(bench):
    job_id = bench.job_of(5)
    item = bench.claim_one()
    for wanted in (12, 12, 8, 5, 0, -3):
        assert bench.raise_hold(item, wanted).outcome == "raised"

    assert bench.balance() == 988
    assert len(bench.entries(job_id)) == 2


def test_a_hold_beyond_the_balance_is_refused_and_changes_nothing(bench):
    job_id = bench.job_of(5)
    item = bench.claim_one()

    refused = bench.raise_hold(item, 1_001)

    assert (refused.outcome, refused.available) == ("insufficient", 995)
    assert bench.job(job_id)["credits_held"] == 5
    assert bench.raise_hold(item, 1_000).outcome == "raised"


def test_a_late_raise_is_lost(bench):
    bench.job_of(5)
    item = bench.claim_one()
    assert bench.database.run(lifecycle.raise_hold(uuid4(), 4711, 12)).outcome == "lost"
    bench.report(item, "release")
    assert bench.raise_hold(item, 12).outcome == "lost"

    bench.claim_one()
    assert bench.raise_hold(item, 12).outcome == "lost"
    assert bench.balance() == 995


def test_raises_count_up_in_a_job_of_many_items(bench):
    job_id = bench.job_of(1, 1, 1)
    for item, wanted in zip(bench.claim(3), (10, 20, 30), strict=True):
        bench.raise_hold(item, wanted)
        bench.report(item, credits=wanted - (wanted != 30))

    job = bench.job(job_id)
    assert (job["credits_held"], job["credits_captured"]) == (60, 58)
    assert bench.balance() == 942
