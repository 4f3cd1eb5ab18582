"""Claims: whose turn it is, and who gets what."""

from datetime import timedelta

from open_counts import MISCOUNTED
from payers import open_account
from workbench import LEASE, Workbench

from pipeline import lifecycle


def taken(bench: Workbench, limit: int = 1, **options):
    """Return the (job, index) of the next items."""
    return [(item.job_id, item.index) for item in bench.claim(limit, **options)]


def test_a_claim_leases_an_item_and_starts_its_job(bench):
    job_id = bench.job_of(2, request_id="request-7")

    item = bench.claim_one()

    assert (item.job_id, item.account_id, item.kind, item.index) == (job_id, bench.payer.account_id, "sketch", 0)
    assert (item.price, item.captured, item.attempts, item.crashes) == (2, 0, 0, 0)
    assert (item.input, item.checkpoint, item.request_id) == ({"number": 0}, None, "request-7")
    assert timedelta() <= item.waited < timedelta(minutes=1)
    row = bench.item(item.item_id)
    assert (row["state"], row["lease_id"]) == ("leased", item.lease_id)
    assert bench.job(job_id)["state"] == "running"
    assert bench.job(job_id)["started_at"] is not None


def test_nothing_due_gives_nothing(bench):
    assert bench.claim() == []
    assert bench.database.run(lifecycle.claim({}, lease_for=LEASE)) == []


def test_an_item_goes_to_one_worker_only(bench):
    bench.job_of(1, 1, 1)

    claims = [bench.claim(2), bench.claim(2), bench.claim(2)]

    assert [[item.index for item in claim] for claim in claims] == [[0, 1], [2], []]


def test_a_claim_repeated_after_a_lost_connection_gives_the_same_items(bench):
    bench.job_of(1, 1, 1)
    statement = lifecycle.claim({"sketch": 2}, lease_for=LEASE)

    first, again = bench.database.run(statement), bench.database.run(statement)

    assert [(item.lease_id, item.index) for item in first] == [(item.lease_id, item.index) for item in again]
    assert [item.index for item in bench.claim(5)] == [2]


def test_only_the_named_kinds_are_taken(bench):
    bench.job_of(kind="unknown_to_this_worker")

    assert bench.claim(5, kind="sketch") == []


def test_one_claim_takes_one_kind_up_to_its_own_limit(bench):
    for kind in ("sketch", "sketch", "sketch", "song", "song"):
        bench.job_of(kind=kind, slice_size=10)
    limits = {"song": 5, "sketch": 2}

    claims = [bench.database.run(lifecycle.claim(limits, lease_for=LEASE)) for _ in range(3)]

    assert [[item.kind for item in claim] for claim in claims] == [["sketch"] * 2, ["sketch"], ["song"] * 2]


def test_small_jobs_are_batched_together(bench):
    jobs = [bench.job_of(slice_size=8) for _ in range(3)]

    assert taken(bench, 8) == [(job, 0) for job in jobs]


def test_a_big_job_waits_behind_everybodys_first_slice(bench):
    big = bench.job_of(*[1] * 40, slice_size=10)
    other = open_account(bench.database)
    small = bench.job_of(payer=other, slice_size=10)

    assert taken(bench, 11) == [(big, index) for index in range(10)] + [(small, 0)]


def test_ten_thousand_small_jobs_are_as_one_big_one(bench):
    mine = [bench.job_of(slice_size=2) for _ in range(6)]
    theirs = bench.job_of(1, 1, 1, payer=open_account(bench.database), slice_size=2)

    order = [job for _ in range(8) for job, _ in taken(bench)]

    # Rounds of two: my first two, their first two; my next two, their third; the rest of mine.
    assert order == [*mine[:2], theirs, theirs, *mine[2:4], theirs, mine[4]]


def test_rounds_of_one_kind_do_not_count_for_another(bench):
    bench.job_of(*[1] * 20, kind="song")
    bench.job_of(kind="sketch")

    assert bench.read("SELECT round FROM item WHERE kind = 'sketch'") == [{"round": 0}]


def test_what_has_ended_does_not_push_back_what_comes(bench):
    bench.job_of(1)
    bench.job_of(1, 1)
    bench.report_all(bench.claim(1))
    bench.database.run(lifecycle.uncount())
    job_id = bench.job_of(1, 1)

    assert [item["round"] for item in bench.items(job_id)] == [2, 3]


def test_what_has_ended_does_not_push_back_what_comes_before_it_is_taken_off_by_the_sweep(bench):
    ended = [bench.job_of(slice_size=1) for _ in range(3)]
    open_job = bench.job_of(slice_size=1)
    for job_id in ended:
        bench.cancel(job_id)
    last = bench.job_of(slice_size=1)

    assert [bench.items(job_id)[0]["round"] for job_id in (open_job, last)] == [3, 1]
    assert bench.database.run(MISCOUNTED) == []


def test_an_oldest_first_claim_takes_a_late_round_before_newer_early_ones(bench):
    big = bench.job_of(1, 1, 1, slice_size=1)
    bench.claim(1)
    small = bench.job_of(payer=open_account(bench.database), slice_size=1)

    assert taken(bench, 1, oldest=True) == [(big, 1)]
    assert taken(bench, 1) == [(small, 0)]


def test_an_oldest_first_claim_chooses_the_kind_that_waits_longest(bench):
    bench.job_of(1, 1, kind="song")
    bench.claim(1, kind="song")
    bench.job_of(kind="sketch")
    limits = {"sketch": 1, "song": 1}

    (oldest,) = bench.database.run(lifecycle.claim(limits, lease_for=LEASE, oldest=True))
    (fair,) = bench.database.run(lifecycle.claim(limits, lease_for=LEASE))

    assert (oldest.kind, fair.kind) == ("song", "sketch")


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


# An item that has crashed a worker goes alone


def crashed(bench: Workbench, *, price: int = 1):
    """Return a job whose item has crashed once and is ready again."""
    job_id = bench.job_of(price)
    bench.kill_worker(bench.claim_one())
    bench.database.run(lifecycle.reap())
    bench.wake_early()
    return job_id


def test_a_crashed_item_goes_out_by_itself(bench):
    job_id = crashed(bench)
    other = bench.job_of(1, 1, payer=open_account(bench.database), slice_size=9)

    assert taken(bench, 8) == [(job_id, 0)]
    assert taken(bench, 8) == [(other, 0), (other, 1)]


def test_a_crashed_item_is_left_out_of_a_batch(bench):
    other = bench.job_of(1, 1, payer=open_account(bench.database), slice_size=9)
    late = crashed_behind(bench, other)

    assert taken(bench, 8) == [(other, 0), (other, 1)]
    assert taken(bench, 8) == [(late, 0)]


def crashed_behind(bench: Workbench, first):
    """Return a job whose crashed item is ready behind the items of `first`."""
    bench.write("UPDATE item SET state = 'waiting', run_at = now() + interval '1 h' WHERE job_id = %s", first)
    job_id = crashed(bench)
    bench.wake_early()
    return job_id


def test_a_crashed_item_does_not_go_to_a_worker_that_holds_something(bench):
    job_id = crashed(bench)
    fresh = bench.job_of()

    assert taken(bench, 8, alone=False) == [(fresh, 0)]
    assert taken(bench, 8, alone=False) == []
    assert taken(bench, 8, alone=True) == [(job_id, 0)]


def test_a_crashed_item_goes_alone_also_by_age(bench):
    job_id = crashed(bench)
    fresh = bench.job_of()

    assert taken(bench, 8, alone=False, oldest=True) == [(fresh, 0)]
    assert taken(bench, 8, oldest=True) == [(job_id, 0)]


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
