"""Accounts: tiers, and the first account of a fresh system."""

from datetime import timedelta

import pytest

from pipeline.accounts import accounts
from pipeline.accounts.first_account import FirstAccount
from pipeline.accounts.keys import find_caller, hash_key
from pipeline.accounts.sign_in import use_link
from pipeline.database import Database, Statement
from pipeline.lifecycle import jobs


@pytest.mark.parametrize(("table", "known"), [("account", accounts.TIERS), ("job", jobs.JOB_STATES)])
def test_readers_know_the_tiers_and_states_that_the_table_takes(
    database: Database, table: str, known: tuple[str, ...]
) -> None:
    rules = Statement("SELECT prosrc FROM pg_proc WHERE proname = %(name)s", {"name": f"{table}_holds_to_rules"})
    (row,) = database.run(rules)

    assert f"IN ({', '.join(map(repr, known))})" in row["prosrc"]


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
