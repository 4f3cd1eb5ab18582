"""Leases: heartbeats, and what is written with them; more credits set aside on the way."""

from workbench import LEASE

from pipeline import lifecycle
from pipeline.database import Statement
from pipeline.lifecycle import Beat


def test_one_heartbeat_serves_several_leases(bench):
    bench.job_of(1, 1)
    items = [bench.claim_one(), bench.claim_one()]

    beats = [Beat(item.lease_id, item.item_id) for item in reversed(items)]

    assert bench.database.run(lifecycle.heartbeat(beats, lease_for=LEASE)) == {item.item_id for item in items}


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
