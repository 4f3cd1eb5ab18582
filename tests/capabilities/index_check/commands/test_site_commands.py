"""`pressroom search-console`: access is asked for, kept encrypted, listed and forgotten."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from payers import Payer
from ran import Ran
from site_services import EMAIL, SiteServices, site_services

from capabilities.index_check.sites import connections
from pipeline.accounts.secret_box import SecretBox
from pipeline.database import Database
from pipeline.settings import Settings

Pressroom = Callable[..., Ran]
DOMAIN, PREFIX = "sc-domain:e.example", "https://e.example/blog/"


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch) -> Iterator[SiteServices]:
    with site_services() as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        running.sites |= {DOMAIN: "siteOwner", PREFIX: "siteFullUser", "https://not.example/": "siteUnverifiedUser"}
        yield running


@pytest.fixture
def key_file(services: SiteServices, tmp_path: Path) -> str:
    file = tmp_path / "key.json"
    file.write_text(json.dumps(services.service_account()))
    return str(file)


@pytest.fixture
def connect(pressroom: Pressroom, services: SiteServices, key_file: str, payer: Payer) -> Pressroom:
    """A function that connects the service account."""
    return partial(pressroom, "search-console", "connect", "--service-account", key_file)


def stored(database: Database, tmp_path: Path) -> dict[str, Any]:
    """Return the credentials of the only connection."""
    (connection,) = database.run(connections.list_connections())
    found: dict[str, Any] = json.loads(SecretBox(Settings(data=tmp_path)).open(connection.credentials))
    return found


def test_a_service_account_is_connected_with_the_properties_that_it_may_use(
    connect: Pressroom, pressroom: Pressroom, database: Database, payer: Payer, tmp_path: Path
) -> None:
    ran = connect()

    assert ran.code == 0
    (connection,) = database.run(connections.list_connections())
    assert (connection.name, connection.account_id) == (EMAIL, payer.account_id)
    assert connection.properties == (PREFIX, DOMAIN)
    assert stored(database, tmp_path)["client_email"] == EMAIL
    assert b"PRIVATE KEY" not in connection.credentials
    assert "PRIVATE KEY" not in ran.out + ran.err
    listed = pressroom("search-console", "list").out
    assert [line.split("\t")[3:] for line in listed.splitlines()[1:]] == [
        [PREFIX, "2,000 of 2,000 requests left today"],
        [DOMAIN, "2,000 of 2,000 requests left today"],
    ]


def test_two_connections_of_an_account_are_told_apart_by_their_names(connect: Pressroom, database: Database) -> None:
    for name, site in (("Ann", DOMAIN), ("Bob", PREFIX)):
        assert connect("--name", name, "--site", site).code == 0

    found = database.run(connections.list_connections())
    assert [(one.name, one.properties) for one in found] == [("Ann", (DOMAIN,)), ("Bob", (PREFIX,))]


@pytest.mark.parametrize("content", ["nonsense", "[]", "{}", '{"type": "service_account"}'])
def test_files_that_are_none_are_refused_with_a_reason(
    pressroom: Pressroom, services: SiteServices, tmp_path: Path, payer: Payer, content: str
) -> None:
    file = tmp_path / "wrong.json"
    file.write_text(content)

    ran = pressroom("search-console", "connect", "--service-account", str(file))

    assert ran.code == 1
    assert "Traceback" not in ran.err
    assert services.grants == []


def test_an_account_without_a_property_is_told_what_to_do(
    connect: Pressroom, services: SiteServices, database: Database
) -> None:
    services.sites.clear()

    ran = connect()

    assert ran.code == 1
    assert f"{EMAIL} has access to no site. In Search Console, Settings, Users and permissions" in ran.err
    assert database.run(connections.list_connections()) == []


def test_a_site_that_is_named_has_to_be_one_of_those(connect: Pressroom) -> None:
    ran = connect("--site", "https://other.example/")

    assert ran.code == 1
    assert "no access to https://other.example/" in ran.err


def test_one_of_several_accounts_has_to_be_named(connect: Pressroom, pressroom: Pressroom, database: Database) -> None:
    other = pressroom("accounts", "create", "Other", "--json")
    account = json.loads(other.out)["account_id"]

    assert "--account" in connect().err
    unknown = connect("--account", str(uuid4()))
    assert "There is no account" in unknown.err
    assert connect("--account", account).code == 0
    (connection,) = database.run(connections.list_connections())
    assert str(connection.account_id) == account


def test_what_is_disconnected_is_gone_with_its_credentials(
    connect: Pressroom, pressroom: Pressroom, database: Database, payer: Payer
) -> None:
    connect()
    (connection,) = database.run(connections.list_connections())

    assert EMAIL in pressroom("search-console", "disconnect", str(connection.id)).out

    assert database.run(connections.list_connections()) == []
    assert database.run(connections.sites_of(payer.account_id)) == []
    assert pressroom("search-console", "disconnect", str(connection.id)).code == 1


def test_the_doctor_tells_of_connected_sites_their_quota_and_faults(
    connect: Pressroom, pressroom: Pressroom, database: Database, tmp_path: Path
) -> None:
    connect("--site", DOMAIN)

    def said() -> str:
        return " ".join(pressroom("doctor").out.replace("│", " ").split())

    assert f"ok search_console: {DOMAIN} 2,000 of 2,000 requests left today ({EMAIL}, account" in said()
    key = (tmp_path / "secrets.key").read_text()
    (tmp_path / "secrets.key").write_text("A" * 43 + "=")
    assert f"-- search_console: {DOMAIN} Stored credentials were encrypted with another key" in said()
    (tmp_path / "secrets.key").write_text(key)
    (connection,) = database.run(connections.list_connections())
    database.run(connections.note_fault(connection, "access_revoked: Google gives no token"))
    assert "access_revoked: Google gives no token; connect again" in said()
