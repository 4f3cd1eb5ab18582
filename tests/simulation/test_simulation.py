"""Interleavings drawn from seeds: every invariant holds after each commit, and each mutation is found by its seed."""

import psycopg
import pytest
from planted_mistakes import MUTATIONS
from planting import planted
from simulate import Seeds

SEEDS = 8
#: A change of lifecycle.sql may need another seed, soon after the one that found a mutation.
NEXT_SEEDS = 30


@pytest.fixture(scope="module")
def url(make_database):
    url = make_database()
    with psycopg.connect(url, autocommit=True) as connection:
        for number, mutation in enumerate(MUTATIONS):
            connection.execute(planted(mutation.name, mutation.changes, f"mutation_{number}"))
    return url


@pytest.fixture(scope="module")
def seeds(url):
    with Seeds(url) as seeds:
        yield seeds


@pytest.mark.timeout(600)
def test_every_invariant_holds_whatever_comes_between(seeds):
    seeds.run_all(range(SEEDS))


def test_a_seed_can_be_replayed(seeds):
    assert seeds.run(1) == seeds.run(1)


@pytest.mark.parametrize("number", range(len(MUTATIONS)), ids=[mutation.name for mutation in MUTATIONS])
def test_a_seed_finds_that(seeds, number):
    first = MUTATIONS[number].seed
    with pytest.raises((AssertionError, KeyError, psycopg.Error)):
        seeds.run_all(range(first, first + NEXT_SEEDS), schema=f"mutation_{number}")
