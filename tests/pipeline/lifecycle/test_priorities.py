"""Priorities: they order an account's own items, and nobody else waits longer for them."""

import random

import pytest
from open_counts import MISCOUNTED
from payers import open_account

from pipeline import lifecycle


def rounds(bench, job_id):
    return [item["round"] for item in bench.items(job_id)]


def test_priorities_take_the_turns_of_lower_ones(bench):
    low = bench.job_of(*[1] * 4, priority="low", slice_size=2)
    assert rounds(bench, low) == [0, 0, 1, 1]
    normal = bench.job_of(*[1] * 4, slice_size=2)
    assert (rounds(bench, normal), sorted(rounds(bench, low))) == ([0, 0, 1, 1], [3, 3, 4, 4])

    high = bench.job_of(1, 1, priority="high", slice_size=2)

    # One for one: what it overtakes goes before what is lower still, and that to the end.
    assert rounds(bench, high) == [0, 0]
    assert sorted(rounds(bench, normal)) == [1, 1, 3, 3]
    assert sorted(rounds(bench, low)) == [4, 4, 6, 6]
    order = [item.job_id for _ in range(10) for item in bench.claim()]
    assert order == [high] * 2 + [normal] * 4 + [low] * 4
    assert bench.database.run(MISCOUNTED) == []


def test_a_priority_says_nothing_of_items_that_are_out_or_of_other_kinds(bench):
    bench.job_of(1, 1, slice_size=1)
    song = bench.job_of(1, 1, kind="song", slice_size=1)
    (out,) = bench.claim(1)

    high = bench.job_of(1, priority="high", slice_size=1)

    assert bench.item(out.item_id)["round"] == 0
    assert rounds(bench, high) == [1]
    assert rounds(bench, song) == [0, 1]


@pytest.mark.parametrize("seed", range(8))
def test_nobody_else_waits_behind_more_items_of_an_account_for_its_priorities(bench, seed):
    chance = random.Random(seed)
    mine, theirs = bench.payer, open_account(bench.database)
    wanted = [
        (chance.choice([mine, mine, theirs]), chance.randint(1, 7), chance.choice(["low", "normal", "high"]))
        for _ in range(25)
    ]

    def ahead(priorities):
        """Return how many items of mine are before each of theirs."""
        jobs = [
            bench.job_of(*[0] * number, payer=payer, priority=priority if priorities and payer is mine else "normal",
                         slice_size=3)
            for payer, number, priority in wanted
        ]  # fmt: skip
        order = bench.read(
            "SELECT j.account_id, j.id, i.index FROM item i JOIN job j ON j.id = i.job_id WHERE j.id = ANY(%s)"
            " ORDER BY round, i.id",
            jobs,
        )
        for job_id in jobs:
            bench.database.run(lifecycle.cancel(job_id, None))
        bench.database.run(lifecycle.uncount())
        found, seen = {}, 0
        for row in order:
            seen += row["account_id"] == mine.account_id
            if row["account_id"] == theirs.account_id:
                found[jobs.index(row["id"]), row["index"]] = seen
        return found

    plain, ordered = ahead(priorities=False), ahead(priorities=True)

    assert plain.keys() == ordered.keys()
    assert all(ordered[item] <= plain[item] for item in plain)
