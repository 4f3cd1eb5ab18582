"""Signing in by an OpenID provider, a real one: who is linked gets in, and nobody by an address that is not theirs."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from itertools import count
from urllib.parse import urlencode
from uuid import UUID

import pytest
from browser import Browser, sign_in
from http_service import Answer, Service, start_service
from openid_provider import CLIENT, SECRET, OpenIdProvider, real_provider
from payers import open_account, owner_of

from pipeline.accounts.sessions import csrf_token_of
from pipeline.accounts.sign_in import set_email, set_password
from pipeline.database import Database, Statement
from pipeline.errors import PressroomError
from pipeline.factors.providers import Identity, Provider
from pipeline.settings import Settings
from pipeline.settings.settings import OidcSettings

ORIGIN, PATH, FACTORS = "http://pressroom.test", "/dashboard/sign-in", "/dashboard/account/factors"
RETURN = f"{PATH}/provider/return"
addresses, names = count(1), count(1)


@dataclass(frozen=True)
class Site:
    """A service with its provider, and a person of an account there."""

    service: Service
    provider: OpenIdProvider
    database: Database
    name: str
    person: UUID
    here: Browser

    def browser(self) -> Browser:
        return Browser(self.service, headers={"X-Forwarded-For": f"192.0.2.{next(addresses)}"})

    def leave(self, browser: Browser, path: str = f"{PATH}/provider") -> str:
        """Press the button; return the provider's address that the page leads to."""
        browser.get(PATH)
        token = browser.csrf_token or csrf_token_of(browser.cookies["pressroom_visitor"])
        page = browser.post(path, {"next": "/dashboard/jobs"}, token=token)
        assert page.status == 200, page.body
        return unescape(page.body.decode().partition("0; url=")[2].partition('"')[0])

    def visit(self, name: str, browser: Browser, path: str = f"{PATH}/provider") -> Answer:
        """Go to the provider, sign in there, and come back."""
        sent = self.provider.sign_in(self.leave(browser, path), name)
        return browser.get(f"{RETURN}?{urlencode(sent)}")

    def linked(self) -> int:
        sql = "SELECT count(*) AS linked FROM provider_identity WHERE person_id = %(id)s"
        found: int = self.database.run(Statement(sql, {"id": self.person}))[0]["linked"]
        return found


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenIdProvider]:
    with real_provider(tmp_path_factory.mktemp("provider"), ORIGIN + RETURN) as running:
        yield running


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, api_database_url: str, redis_server: str, provider: OpenIdProvider
) -> Iterator[Service]:
    settings = {
        "API__TRUSTED_PROXIES": "127.0.0.0/8",
        "API__PUBLIC_URL": ORIGIN,
        "OIDC__ISSUER": provider.issuer,
        "OIDC__CLIENT_ID": CLIENT,
        "OIDC__CLIENT_SECRET": SECRET,
        "OIDC__NAME": "Newsroom ID",
        "OIDC__TRUSTED_DOMAINS": "example.com",
        "OIDC__ALLOW_NETWORKS": "127.0.0.0/8",
    }
    folder = tmp_path_factory.mktemp("service")
    with start_service(folder, database_url=api_database_url, redis_url=redis_server, settings=settings) as running:
        yield running


@pytest.fixture
def site(service: Service, provider: OpenIdProvider, api_database: Database) -> Site:
    payer, name = open_account(api_database), f"reporter{next(names)}"
    person = owner_of(api_database, payer)
    api_database.run(set_email(person, f"{name}@example.com"))
    api_database.run_together(set_password(person, "four words in a row"))
    return Site(service, provider, api_database, name, person, sign_in(service, api_database, payer))


def is_signed_in(browser: Browser) -> bool:
    return browser.get("/dashboard").status == 200


def test_who_has_linked_an_identity_signs_in_with_it_whatever_its_address(site: Site) -> None:
    name = f"{site.name}@elsewhere.example"
    assert site.visit(name, site.here, f"{PATH}/provider/link").headers["location"] == FACTORS
    assert "linked" in site.here.get(FACTORS).body.decode()
    browser = site.browser()
    assert site.visit(name, browser).headers["location"] == "/dashboard/jobs"
    assert is_signed_in(browser)
    assert site.here.post(f"{FACTORS}/provider-remove", {}).status == 303
    assert site.visit(name, site.browser()).status == 403


def test_a_trusted_address_links_once_and_what_was_there_before_is_shut_out(site: Site) -> None:
    browser = site.browser()
    assert site.visit(site.name, browser).headers["location"] == "/dashboard/jobs"
    assert (is_signed_in(browser), site.linked()) == (True, 1)
    assert not is_signed_in(site.here)
    sql = "SELECT password_hash FROM person WHERE id = %(id)s"
    assert site.database.run(Statement(sql, {"id": site.person})) == [{"password_hash": None}]


@pytest.mark.parametrize("kind", ["unverified", "untrusted", "nobody", "second factor"])
def test_an_address_that_proves_nothing_lets_nobody_in(site: Site, kind: str) -> None:
    name = site.name
    if kind == "unverified":
        name = "liar"
        site.database.run(Statement("DELETE FROM person WHERE email = 'liar@example.com' RETURNING 1", {}))
        site.database.run(set_email(site.person, "liar@example.com"))
    elif kind == "untrusted":
        name = f"{site.name}@example.com.elsewhere.example"
        site.database.run(set_email(site.person, name))
    elif kind == "nobody":
        name = f"not-{site.name}"
    else:
        sql = "INSERT INTO passkey VALUES (%(key)s, %(id)s, 'x', '', 0) RETURNING 1"
        site.database.run(Statement(sql, {"key": site.person.bytes, "id": site.person}))
    browser = site.browser()
    refused = site.visit(name, browser)
    assert refused.status == 403
    assert "No person here is linked" in refused.body.decode()
    assert (is_signed_in(browser), site.linked(), is_signed_in(site.here)) == (False, 0, True)


def test_an_answer_is_good_once_and_in_the_browser_that_asked(site: Site) -> None:
    browser, other = site.browser(), site.browser()
    sent = urlencode(site.provider.sign_in(site.leave(browser), site.name))
    site.leave(other)
    assert other.get(f"{RETURN}?{sent}").status == 403  # of another browser, which has begun as well
    cookies = dict(browser.cookies)
    assert browser.get(f"{RETURN}?{sent}").status == 303
    replayed = Browser(site.service, cookies=cookies, headers=browser.headers)
    assert replayed.get(f"{RETURN}?{sent}").status == 403
    assert not is_signed_in(replayed)


def test_a_code_is_good_once_and_for_the_browser_that_asked_for_it(provider: OpenIdProvider) -> None:
    named = {"issuer": provider.issuer, "client_id": CLIENT, "client_secret": SECRET, "allow_networks": "127.0.0.0/8"}
    ours = Provider(Settings(oidc=OidcSettings(**named)))
    first, other = (asyncio.run(ours.depart(ORIGIN + RETURN)) for _ in range(2))
    answer = provider.sign_in(first.url, "ann")
    assert asyncio.run(ours.arrive(answer, first.kept)) == Identity(provider.issuer, "ann", "ann@example.com")
    stolen = provider.sign_in(first.url, "ann") | {"state": other.kept["state"]}
    for again, departure in ((answer, first), (stolen, other)):  # the second: PKCE
        with pytest.raises(PressroomError, match="invalid_grant"):
            asyncio.run(ours.arrive(again, departure.kept))


def test_the_second_step_is_asked_for_after_the_provider(site: Site) -> None:
    site.visit(site.name, site.here, f"{PATH}/provider/link")
    sql = "INSERT INTO passkey VALUES (%(key)s, %(id)s, 'x', '', 0) RETURNING 1"
    site.database.run(Statement(sql, {"key": site.person.bytes, "id": site.person}))
    browser = site.browser()
    assert site.visit(site.name, browser).headers["location"] == f"{PATH}/second"
    assert not is_signed_in(browser)


def test_a_link_that_is_the_only_way_to_sign_in_stays(site: Site) -> None:
    browser = site.browser()
    site.visit(site.name, browser)  # by the address, which takes the password
    browser.post(f"{FACTORS}/provider-remove", {})
    assert "no other way to sign in" in browser.get(FACTORS).body.decode()
    assert site.linked() == 1
    site.database.run_together(set_password(site.person, "five words in a row")[:1])
    browser.post(f"{FACTORS}/provider-remove", {})
    assert site.linked() == 0


def test_an_identity_is_one_persons_and_linked_only_by_who_has_begun(site: Site, api_database: Database) -> None:
    site.visit(site.name, site.here, f"{PATH}/provider/link")
    stranger = sign_in(site.service, api_database, open_account(api_database))
    site.visit(site.name, stranger, f"{PATH}/provider/link")
    assert "linked with another identity" in stranger.get(FACTORS).body.decode()

    sent = site.provider.sign_in(site.leave(stranger, f"{PATH}/provider/link"), "somebody")
    stranger.cookies["pressroom_session"] = site.here.cookies["pressroom_session"]
    assert stranger.get(f"{RETURN}?{urlencode(sent)}").status == 403
    assert stranger.post(f"{PATH}/provider/link", {}, token="x").status == 403
