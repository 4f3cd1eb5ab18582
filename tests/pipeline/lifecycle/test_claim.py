"""Claims: whose turn it is, and who gets what."""

from payers import open_account
from workbench import LEASE, Workbench

from pipeline import lifecycle


def taken(bench: Workbench, limit: int = 1, **options):
    """Return the (job, index) of the next items."""
    return [(item.job_id, item.index) for item in bench.claim(limit, **options)]


def test_ten_thousand_small_jobs_are_as_one_big_one(bench):
    mine = [bench.job_of(slice_size=2) for _ in range(6)]
    theirs = bench.job_of(1, 1, 1, payer=open_account(bench.database), slice_size=2)

    order = [job for _ in range(8) for job, _ in taken(bench)]

    # Rounds of two: my first two, their first two; my next two, their third; the rest of mine.
    assert order == [*mine[:2], theirs, theirs, *mine[2:4], theirs, mine[4]]


def test_what_another_claim_is_about_to_take_is_skipped_not_waited_for(bench):
    bench.job_of(1, 1)
    with bench.transaction() as other:
        other.execute("SELECT FROM item WHERE index = 0 FOR NO KEY UPDATE")
        assert [item.index for item in bench.claim(2)] == [1]


def test_a_kind_whose_items_are_all_being_taken_gives_way_to_the_next(bench):
    bench.job_of(kind="sketch")
    bench.job_of(kind="song")
    with bench.transaction() as other:
        other.execute("SELECT FROM item WHERE kind = 'sketch' FOR NO KEY UPDATE")
        (item,) = bench.database.run(lifecycle.claim({"sketch": 1, "song": 1}, lease_for=LEASE))
    assert item.kind == "song"


def test_crashed_items_of_a_lane_that_is_one_request_go_out_together(bench):
    job_id = bench.job_of(1, 1, slice_size=9)
    bench.kill_worker(bench.claim(2)[0])
    bench.database.run(lifecycle.reap())
    bench.wake_early()
    fresh = bench.job_of()

    assert taken(bench, 8, alone=False, together=["sketch"]) == [(job_id, 0), (job_id, 1), (fresh, 0)]


def test_items_of_two_kinds_in_one_lane_go_out_together(bench):
    single = bench.job_of(1)
    batch = bench.job_of(1, 1, kind="album", lane="sketch")

    claimed = bench.claim(5)

    assert [(item.job_id, item.kind) for item in claimed] == [(single, "sketch"), (batch, "album"), (batch, "album")]
    assert {item.lane for item in claimed} == {"sketch"}
    assert bench.job(batch)["kind"] == "album"
