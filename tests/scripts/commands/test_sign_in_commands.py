"""`pressroom accounts`: e-mail, password, sign-in link and operator."""

import io
import json
import sys
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from ran import Ran

from pipeline.accounts.passwords import is_password
from pipeline.accounts.sessions import find_person
from pipeline.accounts.sign_in import use_link
from pipeline.database import Database, Statement
from pipeline.factors.held import has_factor
from pipeline.factors.providers import count_identities

PASSWORD = "four words in a row"


def is_operator(database: Database, account_id: UUID) -> bool:
    (row,) = database.run(Statement("SELECT is_operator FROM account WHERE id = %(id)s", {"id": account_id}))
    return bool(row["is_operator"])


def test_an_account_is_made_with_an_email_for_an_operator(pressroom: Callable[..., Ran], database: Database) -> None:
    made = json.loads(pressroom("accounts", "create", "Ann", "--email", "Ann@Example.com", "--operator", "--json").out)
    owner = database.run(find_person("ann@example.com"))
    assert str(owner.account_id) == made["account_id"]
    assert is_operator(database, owner.account_id)
    assert "ann@example.com" in pressroom("accounts", "list").out
    assert len(pressroom("keys", "list", "ann@example.com").out.splitlines()) == 2
    assert pressroom("jobs", "list", "--account", "ann@example.com").code == 0
    pressroom("accounts", "operator", "ann@example.com", "--no-longer")
    assert not is_operator(database, owner.account_id)


def test_an_email_belongs_to_one_account(pressroom: Callable[..., Ran], database: Database) -> None:
    pressroom("accounts", "create", "Ben", "--email", "ben@example.com")
    again = pressroom("accounts", "create", "Benjamin", "--email", "BEN@example.com")
    assert again.code == 1
    assert "Another person has the e-mail ben@example.com" in again.err
    assert "Benjamin" not in pressroom("accounts", "list").out
    assert "is not an e-mail address" in pressroom("accounts", "create", "Bo", "--email", "bo").err


def test_a_password_is_read_from_standard_input(
    pressroom: Callable[..., Ran], database: Database, monkeypatch: Any
) -> None:
    pressroom("accounts", "create", "Cleo", "--email", "cleo@example.com")
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{PASSWORD}\n"))
    ran = pressroom("accounts", "set-password", "cleo@example.com", "--email", "cleo@example.org")
    assert ran.out == "password set; 0 sessions ended\n"
    owner = database.run(find_person("cleo@example.org"))
    assert is_password(PASSWORD, owner.password_hash)
    monkeypatch.setattr(sys, "stdin", io.StringIO("short\n"))
    assert "10 to 1,000 characters" in pressroom("accounts", "set-password", "cleo@example.org").err


def test_a_link_signs_in_as_the_account_that_it_was_made_for(pressroom: Callable[..., Ran], database: Database) -> None:
    made = json.loads(pressroom("accounts", "create", "Dan", "--json").out)
    link = pressroom("accounts", "sign-in-link", made["account_id"]).out.strip()
    address, token = link.split("?token=")
    assert address.endswith("/dashboard/sign-in/link")
    owner = database.run(use_link(token))
    assert str(owner.account_id) == made["account_id"]
    noted = database.run(Statement("SELECT subject FROM audit_event WHERE action = 'account changed'"))
    assert noted == [{"subject": "sign-in link"}]


@pytest.mark.parametrize("command", ["set-password", "sign-in-link", "operator"])
def test_an_account_that_is_not_there_is_named(pressroom: Callable[..., Ran], command: str) -> None:
    for account in ("nobody@example.com", "123e4567-e89b-12d3-a456-426614174000"):
        ran = pressroom("accounts", command, account)
        assert ran.code == 1
        assert f"There is no account {account}" in ran.err


def test_factors_are_reset_and_noted(pressroom: Callable[..., Ran], database: Database) -> None:
    pressroom("accounts", "create", "Eve", "--email", "eve@example.com")
    person = database.run(find_person("eve@example.com"))
    assert person
    rows = {"id": person.id, "hash": person.id.bytes}
    identity = "provider_identity VALUES ('https://id.example', 'eve', %(id)s)"
    for added in ("passkey VALUES (%(hash)s, %(id)s, 'x', '', 0)", "recovery_code VALUES (%(hash)s, %(id)s)", identity):
        database.run(Statement(f"INSERT INTO {added} RETURNING 1", rows))
    ran = pressroom("accounts", "reset-factors", "eve@example.com")
    assert ran.out == "removed: 0 app, 1 passkeys, 1 recovery codes; 0 sessions ended\n"
    assert not database.run(has_factor(person.id))
    assert database.run(count_identities(person.id)) == 0
    sql = "SELECT actor, subject FROM audit_event WHERE account_id = %(id)s AND action = 'second factors reset'"
    noted = database.run(Statement(sql, {"id": person.account_id}))
    assert noted == [{"actor": "pressroom", "subject": "eve@example.com"}]


def test_people_are_listed_and_invited(pressroom: Callable[..., Ran]) -> None:
    pressroom("accounts", "create", "Eve", "--email", "eve@example.com")
    ran = pressroom("accounts", "invite", "Eve", "Finn@example.com", "--role", "viewer")
    assert "/dashboard/invitation?token=" in ran.out
    assert "owner" in pressroom("accounts", "people", "eve@example.com").out
    assert "is in this account already" in pressroom("accounts", "invite", "Eve", "eve@example.com").err
