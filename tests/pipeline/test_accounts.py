"""Accounts: tiers, and the first account of a fresh system."""

from models.account import TIERS
from models.job import JOB_STATES
from pipeline import accounts, jobs
from pipeline.database import Database
from pipeline.keys import find_caller, hash_key


def test_the_tiers_with_limits_are_those_that_the_table_takes() -> None:
    assert accounts.TIERS == TIERS


def test_the_states_that_readers_know_are_those_of_the_table() -> None:
    assert jobs.JOB_STATES == JOB_STATES


def test_a_fresh_system_gets_one_first_account(database: Database) -> None:
    secret = accounts.create_first_account(database)

    assert secret is not None
    caller = database.run(find_caller(hash_key(secret)))
    assert caller is not None
    assert caller.tier == "enterprise"
    assert accounts.create_first_account(database) is None
