"""Accounts: tiers, and the first account of a fresh system."""

from datetime import timedelta

import pytest

from models.accounts import TIERS
from models.jobs import JOB_STATES
from pipeline.accounts import accounts
from pipeline.accounts.first_account import FirstAccount
from pipeline.accounts.keys import find_caller, hash_key
from pipeline.accounts.sign_in import use_link
from pipeline.database import Database, Statement
from pipeline.lifecycle import jobs


def test_the_tiers_with_limits_are_those_that_the_table_takes() -> None:
    assert accounts.TIERS == TIERS


def test_the_states_that_readers_know_are_those_of_the_table() -> None:
    assert jobs.JOB_STATES == JOB_STATES


def test_a_fresh_system_gets_one_first_account(database: Database) -> None:
    kept: list[FirstAccount] = []
    first = accounts.create_first_account(database, kept.append, link_lasts=timedelta(hours=1))

    assert first is not None
    assert kept == [first]
    caller = database.run(find_caller(hash_key(first.api_key)))
    assert caller is not None
    assert caller.tier == "enterprise"
    owner = database.run(use_link(first.sign_in_token))
    assert owner is not None
    assert owner.account_id == caller.account_id
    sql = "SELECT is_operator FROM account WHERE id = %(id)s"
    assert database.run(Statement(sql, {"id": owner.account_id})) == [{"is_operator": True}]
    assert accounts.create_first_account(database, kept.append, link_lasts=timedelta(hours=1)) is None
    assert kept == [first]


def test_what_can_not_be_kept_makes_no_account(database: Database) -> None:
    def keep(_: FirstAccount) -> None:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        accounts.create_first_account(database, keep, link_lasts=timedelta(hours=1))

    assert database.run(Statement("SELECT id FROM account")) == []
