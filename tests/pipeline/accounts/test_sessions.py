"""Passwords, and the sessions that they begin and end."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from argon2 import extract_parameters
from payers import Payer, owner_of
from servers import WAITS_FOR_US

from pipeline import lifecycle
from pipeline.accounts.passwords import (
    MAX_LENGTH,
    MIN_LENGTH,
    PasswordInvalid,
    _nobodys_hash,
    hash_password,
    is_password,
)
from pipeline.accounts.sessions import Person, begin_session, find_owner, make_token
from pipeline.accounts.sign_in import add_link, set_password, use_link
from pipeline.database import Database, Statement
from pipeline.notices.outbox import tell_of_sign_in
from pipeline.webhooks.accounts import NewWebhook, add_to_webhooks

LASTS = timedelta(hours=1)
OLD, NEW = "four words in a row", "five words in a row"


def checked(database: Database, payer: Payer) -> Person:
    """Return what signing in reads of the owner before it checks the password."""
    owner = database.run(find_owner(payer.account_id))
    assert owner is not None
    return owner


def sessions(database: Database) -> int:
    return len(database.run(Statement("SELECT 1 AS one FROM session")))


@pytest.fixture
def owned(database: Database, payer: Payer) -> Payer:
    database.run_together(set_password(owner_of(database, payer), OLD))
    return payer


@pytest.mark.parametrize("change", ["password", "suspended"])
def test_a_password_that_has_changed_since_it_was_checked_signs_nobody_in(
    database: Database, owned: Payer, change: str
) -> None:
    owner = checked(database, owned)
    if change == "password":
        database.run_together(set_password(owner_of(database, owned), NEW))
    else:
        database.run(lifecycle.suspend_account(owned.account_id, suspended=True))

    assert not database.run(begin_session(owner.id, owned.account_id, make_token(), lasts=LASTS, checked=owner))
    assert sessions(database) == 0


def test_webhooks_are_told_of_the_first_sign_in_from_an_address_and_of_none_that_failed(
    database: Database, owned: Payer
) -> None:
    database.run_together(add_to_webhooks(NewWebhook(owned.account_id, "https://hooks.example.org/"), most=1))
    owner = checked(database, owned)
    stale = replace(owner, password_hash="of another")
    for person in (owner, stale, owner):
        beginning = begin_session(owner.id, owned.account_id, make_token(), lasts=LASTS, checked=person)
        database.run_together([beginning, tell_of_sign_in(owned.account_id, owner.id, "Firefox")])
    assert database.run(Statement("SELECT event FROM webhook_delivery")) == [{"event": "account.signed_in"}]


def test_a_new_password_waits_for_who_is_just_signing_in_and_signs_them_out(
    database: Database, database_url: str, owned: Payer
) -> None:
    owner = checked(database, owned)
    with ThreadPoolExecutor() as threads, Database(database_url) as other:
        with database.transaction() as signing_in:
            assert signing_in.run(begin_session(owner.id, owned.account_id, make_token(), lasts=LASTS, checked=owner))
            changing = threads.submit(other.run_together, set_password(owner.id, NEW))
            while not signing_in.run(Statement(WAITS_FOR_US)):
                assert not changing.done()
        *_, ended = changing.result(timeout=60)

    assert ended == 1
    assert sessions(database) == 0


def test_a_new_password_ends_links_that_sign_in(database: Database, owned: Payer) -> None:
    token = make_token()
    database.run(add_link(owned.account_id, token, lasts=LASTS))
    database.run_together(set_password(owner_of(database, owned), NEW))
    assert database.run(use_link(token)) is None


def test_a_password_is_known_by_its_hash_alone() -> None:
    stored = hash_password("four words in a row")
    assert stored.startswith("$argon2id$")
    assert is_password("four words in a row", stored)
    assert not is_password("four words in a roW", stored)
    assert not is_password("x" * 100_000, stored)
    assert not is_password("four words in a row", "not a hash")


def test_nobody_has_no_password_and_finding_out_is_the_same_work() -> None:
    assert not is_password("", None)
    assert extract_parameters(_nobodys_hash()) == extract_parameters(hash_password("four words in a row"))


@pytest.mark.parametrize("length", [0, MIN_LENGTH - 1, MAX_LENGTH + 1])
def test_a_password_is_neither_short_nor_endless(length: int) -> None:
    with pytest.raises(PasswordInvalid, match=f"has {length:,}"):
        hash_password("x" * length)
