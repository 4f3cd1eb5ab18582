"""Signing in at the dashboard: who gets in, who doesn't, and what can't be tried."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from urllib.parse import quote

import pytest
from browser import Browser, hidden_field, sign_in
from http_service import Answer, Service, start_service
from payers import Payer, open_account, owner_of

from pipeline import lifecycle
from pipeline.accounts.sessions import csrf_token_of, hash_token, make_token
from pipeline.accounts.sign_in import add_link, set_email, set_password
from pipeline.database import Database, Statement

PASSWORD = "four words in a row"
ATTEMPTS = 4
PATH = "/dashboard/sign-in"
addresses = count(1)


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory, api_database_url: str, redis_server: str) -> Iterator[Service]:
    """An API behind a proxy, which says where requests come from and whether by https."""
    settings = {"API__TRUSTED_PROXIES": "127.0.0.0/8", "DASHBOARD__SIGN_INS_PER_MINUTE": str(ATTEMPTS)}
    folder = tmp_path_factory.mktemp("service")
    with start_service(folder, database_url=api_database_url, redis_url=redis_server, settings=settings) as running:
        yield running


@pytest.fixture
def browser(proxied: Service) -> Browser:
    """A browser with an address that no other test has."""
    return Browser(proxied, headers={"X-Forwarded-For": f"198.51.100.{next(addresses)}"})


def owner(database: Database, email: str, *, password: str = PASSWORD) -> Payer:
    """Make an account with an e-mail and a password."""
    payer = open_account(database)
    person = owner_of(database, payer)
    database.run(set_email(person, email))
    database.run_together(set_password(person, password))
    return payer


def send(browser: Browser, email: str, password: str, *, next: str = "") -> Answer:
    """Fill in the form for signing in, and send it."""
    form_token = hidden_field(browser.get(f"{PATH}?next={quote(next)}"), "csrf_token")
    return browser.post(PATH, {"email": email, "password": password, "next": next}, token=form_token)


def link_for(database: Database, payer: Payer, *, lasts: timedelta = timedelta(hours=1)) -> str:
    token = make_token()
    database.run(add_link(payer.account_id, token, lasts=lasts))
    return token


def follow(browser: Browser, token: str) -> Answer:
    """Open a link, and press its button."""
    page = browser.get(f"{PATH}/link?token={token}")
    return browser.post(f"{PATH}/link", {"token": hidden_field(page, "token")}, token=hidden_field(page, "csrf_token"))


def test_an_owner_signs_in_by_email_and_password(browser: Browser, api_database: Database) -> None:
    owner(api_database, "ann@example.com")
    answer = send(browser, " Ann@Example.com ", PASSWORD, next="/dashboard/account")
    assert (answer.status, answer.headers["location"]) == (303, "/dashboard/account")
    assert browser.get("/dashboard").status == 200
    assert browser.get(PATH).headers["location"] == "/dashboard"


def test_over_https_the_cookie_is_of_this_host_alone(browser: Browser, api_database: Database) -> None:
    owner(api_database, "cleo@example.com")
    browser.headers["X-Forwarded-Proto"] = "https"
    flags = send(browser, "cleo@example.com", PASSWORD).headers["set-cookie"]
    assert flags.startswith("__Host-pressroom_session=")
    assert {"HttpOnly", "SameSite=Lax", "Path=/", "Secure"} <= set(flags.split("; "))
    assert browser.get("/dashboard").status == 200
    browser.headers.pop("X-Forwarded-Proto")
    assert browser.get("/dashboard").status == 303


def test_an_unknown_email_and_a_wrong_password_get_the_same_answer(browser: Browser, api_database: Database) -> None:
    owner(api_database, "dan@example.com")
    wrong = send(browser, "dan@example.com", "five words in a row")
    unknown = send(browser, "nobody.at.all@example.com", "five words in a row")
    assert wrong.status == unknown.status == 403
    assert wrong.body.replace(b"dan@example.com", b"") == unknown.body.replace(b"nobody.at.all@example.com", b"")


def test_no_session_that_was_there_before_is_taken_over(browser: Browser, api_database: Database) -> None:
    victim, attacker = owner(api_database, "eve@example.com"), open_account(api_database)
    planted = sign_in(browser.service, api_database, attacker).cookies["pressroom_session"]
    for token in (planted, make_token()):
        browser.cookies = {"pressroom_session": token}
        browser.cookies["pressroom_visitor"] = visitor = make_token()
        form = {"email": "eve@example.com", "password": PASSWORD}
        assert browser.post(PATH, form, token=csrf_token_of(visitor)).status == 303
        assert browser.cookies["pressroom_session"] != token
        sql = "SELECT account_id FROM session WHERE token_hash = %(hash)s"
        assert api_database.run(Statement(sql, {"hash": hash_token(token)})) == []
        now = {"hash": hash_token(browser.cookies["pressroom_session"])}
        assert api_database.run(Statement(sql, now)) == [{"account_id": victim.account_id}]


def test_another_site_can_sign_nobody_in(browser: Browser, api_database: Database) -> None:
    owner(api_database, "finn@example.com")
    form = {"email": "finn@example.com", "password": PASSWORD}
    assert browser.post(PATH, form, token=csrf_token_of(make_token())).status == 403
    browser.get(PATH)
    assert browser.post(PATH, form, token=csrf_token_of(make_token())).status == 403
    assert "pressroom_session" not in browser.cookies


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://example.com/",
        "//example.com",
        "/\\example.com",
        "/dashboard\\..",
        "/dashboards",
        "javascript:1",
        "/jobs",
    ],
)
def test_signing_in_leads_nowhere_else(browser: Browser, elsewhere: str) -> None:
    assert hidden_field(browser.get(f"{PATH}?next={quote(elsewhere)}"), "next") == "/dashboard"


def test_an_address_may_not_try_many_accounts(browser: Browser, api_database: Database) -> None:
    owner(api_database, "gil@example.com")
    for attempt in range(ATTEMPTS):
        assert send(browser, f"nobody{attempt}@example.org", "x").status == 403
    refused = send(browser, "gil@example.com", PASSWORD)
    assert (refused.status, refused.headers["retry-after"]) == (429, "60")
    assert "too_many_sign_ins" in refused.body.decode()


def test_many_addresses_may_not_try_one_account(browser: Browser, api_database: Database) -> None:
    owner(api_database, "hal@example.com")
    for _ in range(ATTEMPTS):
        browser.headers["X-Forwarded-For"] = f"198.51.100.{next(addresses)}"
        assert send(browser, "hal@example.com", "x").status == 403
    browser.headers["X-Forwarded-For"] = f"198.51.100.{next(addresses)}"
    assert send(browser, "hal@example.com", PASSWORD).status == 429


def test_all_addresses_of_an_ipv6_network_count_as_one(browser: Browser, api_database: Database) -> None:
    owner(api_database, "ivy@example.com")
    network = f"2001:db8:0:{next(addresses):x}"
    for attempt in range(ATTEMPTS):
        browser.headers["X-Forwarded-For"] = f"{network}:{attempt + 1:x}::{attempt:x}"
        assert send(browser, f"nobody{attempt}@example.org", "x").status == 403
    browser.headers["X-Forwarded-For"] = f"{network}:ffff::1"
    assert send(browser, "ivy@example.com", PASSWORD).status == 429
    browser.headers["X-Forwarded-For"] = f"2001:db8:1:{next(addresses):x}::1"
    assert send(browser, "ivy@example.com", PASSWORD).status == 303


def test_nobody_may_try_while_attempts_can_not_be_counted(
    service_without_redis: Service, api_database: Database
) -> None:
    owner(api_database, "ida@example.com")
    refused = send(Browser(service_without_redis), "ida@example.com", PASSWORD)
    assert refused.status == 503
    assert "sign_in_unavailable" in refused.body.decode()


def test_a_link_signs_in_once(browser: Browser, api_database: Database) -> None:
    payer = open_account(api_database)
    token = link_for(api_database, payer)
    browser.get(f"{PATH}/link?token={token}")  # looking at it uses nothing up
    assert follow(browser, token).headers["location"] == "/dashboard/account"
    assert browser.get("/dashboard").status == 200
    again = follow(Browser(browser.service, headers=browser.headers), token)
    assert again.status == 403
    assert "was used" in again.body.decode()
    assert token not in browser.service.log.read_text()


def test_a_link_ends(browser: Browser, api_database: Database) -> None:
    token = link_for(api_database, open_account(api_database), lasts=timedelta(seconds=-1))
    assert follow(browser, token).status == 403


def test_a_suspended_account_gets_in_nowhere(browser: Browser, api_database: Database) -> None:
    payer = owner(api_database, "jo@example.com")
    signed_in = sign_in(browser.service, api_database, payer)
    sql = "UPDATE account SET suspended_at = now() WHERE id = %(id)s RETURNING id"
    api_database.run(Statement(sql, {"id": payer.account_id}))
    assert signed_in.get("/dashboard").status == 303
    assert "suspended" in send(browser, "jo@example.com", PASSWORD).body.decode()
    assert "suspended" in follow(browser, link_for(api_database, payer)).body.decode()


def test_who_was_signed_in_at_a_suspended_account_is_signed_out_for_good(
    browser: Browser, api_database: Database
) -> None:
    payer = owner(api_database, "joan@example.com")
    signed_in = sign_in(browser.service, api_database, payer)
    assert signed_in.get("/dashboard").status == 200
    for suspended in (True, False):
        assert api_database.run(lifecycle.suspend_account(payer.account_id, suspended=suspended))
    assert signed_in.get("/dashboard").status == 303
    assert send(browser, "joan@example.com", PASSWORD).status == 303


@pytest.mark.parametrize("change", ["last_seen_at = now() - interval '25 hours'", "expires_at = now()"])
def test_a_session_ends(browser: Browser, api_database: Database, change: str) -> None:
    signed_in = sign_in(browser.service, api_database, open_account(api_database))
    found = {"hash": hash_token(signed_in.cookies["pressroom_session"])}
    api_database.run(Statement(f"UPDATE session SET {change} WHERE token_hash = %(hash)s RETURNING 1", found))
    assert signed_in.get("/dashboard").status == 303
    assert "pressroom_session" not in signed_in.cookies


def test_using_a_session_keeps_it(browser: Browser, api_database: Database) -> None:
    signed_in = sign_in(browser.service, api_database, open_account(api_database))
    found = {"hash": hash_token(signed_in.cookies["pressroom_session"])}
    api_database.run(
        Statement(
            "UPDATE session SET last_seen_at = now() - interval '2 hours' WHERE token_hash = %(hash)s RETURNING 1",
            found,
        )
    )
    assert signed_in.get("/dashboard").status == 200
    sql = "SELECT last_seen_at > now() - interval '1 hour' AS kept FROM session WHERE token_hash = %(hash)s"
    assert api_database.run(Statement(sql, found)) == [{"kept": True}]


def test_a_new_password_wants_the_old_one_and_ends_other_sessions(browser: Browser, api_database: Database) -> None:
    payer = owner(api_database, "kim@example.com")
    here, elsewhere = (sign_in(browser.service, api_database, payer) for _ in range(2))
    form = {"email": "kim@example.com", "password": "five words in a row", "current": "a guess"}
    refused = here.post("/dashboard/account", form)
    assert refused.status == 400
    assert "not your current password" in refused.body.decode()
    old = here.cookies["pressroom_session"]
    assert here.post("/dashboard/account", {**form, "current": PASSWORD}).status == 303
    assert here.cookies["pressroom_session"] != old
    assert here.get("/dashboard").status == 200
    assert elsewhere.get("/dashboard").status == 303
    assert send(browser, "kim@example.com", PASSWORD).status == 403
    assert send(browser, "kim@example.com", "five words in a row").status == 303


def test_a_first_password_wants_a_sign_in_within_the_hour(browser: Browser, api_database: Database) -> None:
    payer = open_account(api_database)
    signed_in = sign_in(browser.service, api_database, payer)
    sql = "UPDATE session SET proven_at = now() - interval '61 minutes' WHERE account_id = %(account)s RETURNING 1"
    api_database.run(Statement(sql, {"account": payer.account_id}))
    sent = signed_in.post("/dashboard/account", {"email": "lou@example.com", "password": PASSWORD})
    assert sent.headers["location"] == f"{PATH}?again=yes&next=/dashboard/account"
    assert send(browser, "lou@example.com", PASSWORD).status == 403


def test_a_person_has_an_email_of_their_own(browser: Browser, api_database: Database) -> None:
    owner(api_database, "lea@example.com")
    signed_in = sign_in(browser.service, api_database, open_account(api_database))
    signed_in.headers = {"X-Forwarded-For": f"198.51.100.{next(addresses)}"}
    form = {"email": "LEA@example.com", "password": PASSWORD}
    refused = signed_in.post("/dashboard/account", form)
    assert refused.status == 400
    assert "Another person has the e-mail" in refused.body.decode()
    assert signed_in.post("/dashboard/account", {**form, "email": "no address"}).status == 400
    assert signed_in.post("/dashboard/account", {"email": "lee@example.com", "password": ""}).status == 400
    assert signed_in.post("/dashboard/account", {**form, "email": "lee@example.com"}).status == 303
    assert signed_in.post("/dashboard/account", form).status == 429  # nobody tries who has which address
    assert send(browser, "lee@example.com", PASSWORD).status == 303


def test_other_sessions_can_be_ended(browser: Browser, api_database: Database) -> None:
    payer = open_account(api_database)
    here, elsewhere = (sign_in(browser.service, api_database, payer) for _ in range(2))
    assert "End all other sessions" in here.get("/dashboard/account").body.decode()
    assert here.post("/dashboard/account/end-others", {}).status == 303
    assert "1 other session has ended." in here.get("/dashboard/account").body.decode()
    assert elsewhere.get("/dashboard").status == 303
    assert here.get("/dashboard").status == 200
