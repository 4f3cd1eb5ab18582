"""The second step of signing in: codes, passkeys and recovery codes; who gets past it, and who doesn't."""

import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import UUID

import psycopg
import pytest
from authenticator import Authenticator
from browser import Browser, hidden_field, sign_in
from http_service import Answer, Service, start_service
from payers import Payer, open_account, owner_of
from pyotp import TOTP
from servers import WAITS_FOR_US

from pipeline.accounts.audit import Actor
from pipeline.accounts.sessions import csrf_token_of, make_token
from pipeline.accounts.sign_in import add_link, set_email, set_password
from pipeline.database import Database, Statement
from pipeline.factors.held import lock_person
from pipeline.factors.passkeys import NewPasskey
from pipeline.factors.passkeys import add_passkey as add_passkey_row
from pipeline.factors.recovery import settle_codes, use_code

PASSWORD = "four words in a row"
PATH, SECOND, FACTORS = "/dashboard/sign-in", "/dashboard/sign-in/second", "/dashboard/account/factors"
OPTIONS = f"{PATH}/passkey/options"
ORIGIN = "http://pressroom.test"
ATTEMPTS = 8
CODE = re.compile(r"(?:[0-9a-z]{4}-){5}[0-9a-z]{4}")
addresses, names = count(1), count(1)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, api_database_url: str, redis_server: str) -> Iterator[Service]:
    """An API behind a proxy, at an address of its own."""
    settings = {
        "API__TRUSTED_PROXIES": "127.0.0.0/8",
        "API__PUBLIC_URL": ORIGIN,
        "DASHBOARD__SIGN_INS_PER_MINUTE": str(ATTEMPTS),
    }
    folder = tmp_path_factory.mktemp("service")
    with start_service(folder, database_url=api_database_url, redis_url=redis_server, settings=settings) as running:
        yield running


@dataclass
class Signer:
    """A person who signs in."""

    service: Service
    database: Database
    payer: Payer
    email: str

    @property
    def id(self) -> UUID:
        return owner_of(self.database, self.payer)

    def browser(self) -> Browser:
        """Return a browser with an address that no other has."""
        return Browser(self.service, headers={"X-Forwarded-For": f"203.0.113.{next(addresses)}"})

    def signed_in(self) -> Browser:
        browser = sign_in(self.service, self.database, self.payer)
        browser.headers["X-Forwarded-For"] = f"203.0.113.{next(addresses)}"
        return browser

    def by_password(self, browser: Browser | None = None) -> Browser:
        """Take the first step."""
        browser = browser or self.browser()
        browser.get(f"{PATH}?again=yes")
        form = {"email": self.email, "password": PASSWORD, "next": "/dashboard/keys"}
        assert browser.post(PATH, form, token=visitor_token(browser)).status == 303
        return browser

    def with_app(self) -> tuple[TOTP, list[str]]:
        """Add an authenticator app; return it, and the recovery codes."""
        browser = self.signed_in()
        shown = browser.post(f"{FACTORS}/app", {}).body.decode()
        found = re.search(r"<code>([A-Z2-7]{32})</code>", shown)
        assert found, shown
        totp = TOTP(found[1])
        added = browser.post(f"{FACTORS}/app-confirm", {"code": code_of(totp, -1)}).body.decode()
        return totp, CODE.findall(added)[:10]

    def with_passkey(self) -> Authenticator:
        browser, device = self.signed_in(), Authenticator(ORIGIN)
        assert add_passkey(browser, device).status == 200  # with recovery codes
        return device


@pytest.fixture
def signer(service: Service, api_database: Database) -> Signer:
    return make_signer(service, api_database)


def make_signer(service: Service, database: Database) -> Signer:
    made = Signer(service, database, open_account(database), f"signer{next(names)}@example.com")
    database.run(set_email(made.id, made.email))
    database.run_together(set_password(made.id, PASSWORD))
    return made


def code_of(totp: TOTP, step: int = 0) -> str:
    """Return the code of a time step, counted from now."""
    return totp.at(int(time.time()) + step * 30)


def second(browser: Browser, **form: str) -> Answer:
    """Take the second step."""
    return browser.post(SECOND, dict(form), token=visitor_token(browser))


def visitor_token(browser: Browser) -> str:
    """Return the token of forms for signing in."""
    return csrf_token_of(browser.cookies["pressroom_visitor"])


def options(browser: Browser, path: str = OPTIONS, *, token: str | None = None) -> bytes:
    asked = browser.post(path, {}, token=token, Accept="application/json")
    assert asked.status == 200, asked.body
    return asked.body


def add_passkey(browser: Browser, device: Authenticator) -> Answer:
    made = device.make(options(browser, f"{FACTORS}/passkey-options"))
    return browser.post(f"{FACTORS}/passkey", {"credential": made, "name": "Telephone"})


def by_passkey(browser: Browser, device: Authenticator, *, proof: str = "") -> Answer:
    """Sign in with a passkey alone."""
    browser.get(PATH)
    token = visitor_token(browser)
    asked = options(browser, token=token)
    form = {"credential": proof or device.prove(asked), "next": "/dashboard/jobs"}
    return browser.post(f"{PATH}/passkey", form, token=token)


def is_signed_in(browser: Browser) -> bool:
    return browser.get("/dashboard").status == 200


def age_sessions(signer: Signer, age: timedelta) -> None:
    sql = "UPDATE session SET proven_at = now() - %(age)s WHERE account_id = %(account)s RETURNING 1"
    signer.database.run(Statement(sql, {"age": age, "account": signer.payer.account_id}))


def test_an_app_is_asked_for_after_the_password_and_each_code_is_good_once(signer: Signer) -> None:
    elsewhere = signer.signed_in()
    totp, codes = signer.with_app()
    assert len(set(codes)) == 10
    assert not is_signed_in(elsewhere)  # a new factor ends the other sessions

    browser = signer.by_password()
    assert not is_signed_in(browser)
    assert second(browser, code="000000").status == 403
    right = code_of(totp)
    done = second(browser, code=f"{right[:3]} {right[3:]}")
    assert (done.status, done.headers["location"]) == (303, "/dashboard/keys")
    assert is_signed_in(browser)

    again = signer.by_password()
    refused = second(again, code=right)
    assert (refused.status, is_signed_in(again)) == (403, False)
    assert "used before" in refused.body.decode()
    assert second(again, code=code_of(totp, -1)).status == 403  # of a step before the last
    assert second(again, code=code_of(totp, 1)).status == 303

    sql = "SELECT action, subject FROM audit_event WHERE account_id = %(id)s ORDER BY id"
    noted = [tuple(one.values()) for one in signer.database.run(Statement(sql, {"id": signer.payer.account_id}))]
    assert ("second factor added", "authenticator app") in noted
    assert ("recovery codes made", "") in noted
    assert noted.count(("sign-in failed", "second step")) == 3


def test_an_app_counts_only_once_a_code_has_confirmed_it(signer: Signer) -> None:
    browser = signer.signed_in()
    browser.post(f"{FACTORS}/app", {})
    assert browser.post(f"{FACTORS}/app-confirm", {"code": "000000"}).status == 303
    assert "the app was not added" in browser.get(FACTORS).body.decode()
    assert is_signed_in(signer.by_password())


def test_a_recovery_code_is_good_once_and_new_ones_replace_the_old(signer: Signer) -> None:
    _, codes = signer.with_app()
    browser = signer.by_password()
    assert second(browser, code=codes[0].upper().replace("-", " ")).status == 303
    assert "9 left" in browser.get(FACTORS).body.decode()
    again = signer.by_password()
    assert second(again, code=codes[0]).status == 403

    fresh = CODE.findall(browser.post(f"{FACTORS}/codes", {}).body.decode())
    assert again.get(SECOND).headers["location"] == PATH  # the sign-in in progress has ended
    assert second(signer.by_password(again), code=codes[1]).status == 403
    assert second(again, code=fresh[1]).status == 303


def test_a_code_can_not_be_tried_a_million_times(signer: Signer) -> None:
    totp, _ = signer.with_app()
    browser = signer.by_password()
    token = visitor_token(browser)
    for attempt in range(ATTEMPTS):  # each from another address
        browser.headers["X-Forwarded-For"] = f"203.0.113.{next(addresses)}"
        assert browser.post(SECOND, {"code": f"{attempt:06d}"}, token=token).status == 403
    browser.headers["X-Forwarded-For"] = f"203.0.113.{next(addresses)}"
    refused = browser.post(SECOND, {"code": code_of(totp)}, token=token)
    assert (refused.status, is_signed_in(browser)) == (429, False)


def test_a_link_of_an_operator_still_asks_for_the_second_step(signer: Signer) -> None:
    totp, _ = signer.with_app()
    link, browser = make_token(), signer.browser()
    signer.database.run(add_link(signer.payer.account_id, link, lasts=timedelta(hours=1)))
    page = browser.get(f"{PATH}/link?token={link}")
    sent = browser.post(f"{PATH}/link", {"token": link}, token=hidden_field(page, "csrf_token"))
    assert (sent.headers["location"], is_signed_in(browser)) == (SECOND, False)
    assert second(browser, code=code_of(totp)).status == 303
    assert is_signed_in(browser)


@pytest.mark.parametrize("how", ["another browser", "ten minutes", "a new password", "other sessions ended"])
def test_the_first_step_is_of_one_browser_and_soon_over(signer: Signer, how: str) -> None:
    totp, _ = signer.with_app()
    browser = signer.by_password()
    token = visitor_token(browser)
    if how == "another browser":
        browser.cookies["pressroom_step"] = make_token()
    elif how == "ten minutes":
        sql = "UPDATE sign_in_step SET expires_at = now() WHERE person_id = %(id)s RETURNING 1"
        signer.database.run(Statement(sql, {"id": signer.id}))
    elif how == "other sessions ended":
        signer.signed_in().post("/dashboard/account/end-others", {})
    else:
        signer.database.run_together(set_password(signer.id, "five words in a row"))
    sent = browser.post(SECOND, {"code": code_of(totp)}, token=token)
    assert (sent.headers["location"], is_signed_in(browser)) == (PATH, False)


def test_a_passkey_signs_in_alone_and_as_the_second_step(signer: Signer) -> None:
    device = signer.with_passkey()
    browser = signer.browser()
    assert by_passkey(browser, device).headers["location"] == "/dashboard/jobs"
    assert is_signed_in(browser)

    stepping = signer.by_password()
    token = visitor_token(stepping)
    proof = device.prove(options(stepping, token=token))
    assert second(stepping, credential=proof).status == 303
    assert is_signed_in(stepping)


def test_a_passkey_that_is_not_proven_signs_nobody_in(signer: Signer) -> None:
    device = signer.with_passkey()
    stranger = Authenticator(ORIGIN)
    elsewhere = Authenticator("http://pressroom.test.example", id=device.id, key=device.key)
    unverified = Authenticator(ORIGIN, verifies=False, id=device.id, key=device.key)
    forged = Authenticator(ORIGIN, id=device.id)
    for bad in (stranger, elsewhere, unverified, forged):
        browser = signer.browser()
        assert (by_passkey(browser, bad).status, is_signed_in(browser)) == (403, False)
    for garbage in ("", "null", "{}", '{"rawId": 7}', '{"rawId": "%"}', "[" * 100_000, '{"rawId": "AA"}'):
        assert by_passkey(signer.browser(), device, proof=garbage or "x").status == 403

    browser = signer.browser()
    browser.get(PATH)
    token = visitor_token(browser)
    proof = device.prove(options(browser, token=token))
    cookies = dict(browser.cookies)
    assert browser.post(f"{PATH}/passkey", {"credential": proof}, token=token).status == 303
    browser.cookies = cookies  # sent again
    assert browser.post(f"{PATH}/passkey", {"credential": proof}, token=token).status == 403

    device.count = 0  # a copy that counts anew
    assert by_passkey(signer.browser(), device).status == 403


def test_a_broken_passkey_is_refused_in_one_line(signer: Signer) -> None:
    device = signer.with_passkey()
    whole = device.prove(b'{"rpId": "pressroom.test", "challenge": "AA"}')
    for cut in range(0, len(whole), 37):
        browser = signer.browser()
        assert by_passkey(browser, device, proof=whole[:cut] + "A" + whole[cut:]).status == 403


def test_another_persons_passkey_is_no_second_step_and_not_to_be_removed(signer: Signer) -> None:
    other = make_signer(signer.service, signer.database)
    device, _ = other.with_passkey(), signer.with_app()
    stepping = signer.by_password()
    token = visitor_token(stepping)
    assert second(stepping, credential=device.prove(options(stepping, token=token))).status == 403
    assert not is_signed_in(stepping)

    signer.signed_in().post(f"{FACTORS}/passkey-remove", {"id": device.id.hex()})
    assert by_passkey(other.browser(), device).status == 303
    assert add_passkey(signer.signed_in(), device).status == 303  # refused: somebody has it
    assert second(signer.by_password(), credential=device.prove(options(stepping, token=token))).status == 403


def test_the_last_factor_goes_only_after_a_fresh_sign_in_and_takes_the_codes_along(signer: Signer) -> None:
    device = signer.with_passkey()
    browser = signer.signed_in()
    age_sessions(signer, timedelta(minutes=11))
    sent = browser.post(f"{FACTORS}/passkey-remove", {"id": device.id.hex()})
    assert sent.headers["location"] == f"{PATH}?again=yes&next={FACTORS}"
    assert "sign in again" in browser.get(sent.headers["location"]).body.decode()
    signer.by_password(browser)
    token = visitor_token(browser)
    assert second(browser, credential=device.prove(options(browser, token=token))).status == 303
    browser.post(f"{FACTORS}/passkey-remove", {"id": device.id.hex()})
    sql = "SELECT count(*) AS left FROM recovery_code WHERE person_id = %(id)s"
    assert signer.database.run(Statement(sql, {"id": signer.id})) == [{"left": 0}]
    assert is_signed_in(signer.by_password())


def test_a_factor_goes_together_with_the_sessions_that_it_let_in_or_stays(
    signer: Signer, api_database_url: str
) -> None:
    device, here, there = signer.with_passkey(), signer.signed_in(), signer.signed_in()
    with psycopg.connect(api_database_url, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no session ends'; END $$;"
            "CREATE TRIGGER fails BEFORE DELETE ON session FOR EACH ROW"
            f" WHEN (OLD.person_id = '{signer.id}') EXECUTE FUNCTION fail()"
        )
        assert here.post(f"{FACTORS}/passkey-remove", {"id": device.id.hex()}).status == 500
        connection.execute("DROP FUNCTION fail CASCADE")
    assert by_passkey(signer.browser(), device).status == 303
    assert here.post(f"{FACTORS}/passkey-remove", {"id": device.id.hex()}).status == 303
    assert (by_passkey(signer.browser(), device).status, is_signed_in(there)) == (403, False)


def test_two_factors_added_at_once_bring_one_set_of_recovery_codes(signer: Signer, api_database_url: str) -> None:
    actor = Actor(signer.payer.account_id, signer.id)

    def adding(number: int) -> list[Statement[Any]]:
        made = NewPasskey(signer.id.bytes + bytes([number]), b"", 0)
        codes = [f"{number}-{signer.id}"]
        return [lock_person(signer.id), add_passkey_row(signer.id, made, "x"), *settle_codes(signer.id, codes, actor)]

    with ThreadPoolExecutor() as threads, Database(api_database_url) as other:
        with signer.database.transaction() as first:
            *_, has_codes = [first.run(one) for one in adding(1)]
            second_one = threads.submit(other.run_together, adding(2))
            while not first.run(Statement(WAITS_FOR_US)):
                assert not second_one.done()
        assert (has_codes, second_one.result(timeout=60)[-1]) == (True, False)
    assert signer.database.run(use_code(signer.id, f"1-{signer.id}"))


def test_a_passkey_that_is_the_only_way_to_sign_in_stays(signer: Signer) -> None:
    device = signer.with_passkey()
    signer.database.run_together(set_password(signer.id, None))
    here = signer.signed_in()
    here.post(f"{FACTORS}/passkey-remove", {"id": device.id.hex()})
    assert "no other way to sign in" in here.get(FACTORS).body.decode()
    assert by_passkey(signer.browser(), device).status == 303


def test_a_new_key_wants_a_sign_in_within_the_hour(signer: Signer) -> None:
    browser = signer.signed_in()
    age_sessions(signer, timedelta(minutes=61))
    assert is_signed_in(browser)
    sent = browser.post("/dashboard/keys", {"name": "late"})
    assert sent.headers["location"] == f"{PATH}?again=yes&next=/dashboard/keys"
    asked = {"Content_Type": "application/json", "X_CSRF_Token": browser.csrf_token, "Accept": "application/json"}
    by_api = browser.request("POST", "/keys", b'{"name": "late"}', **asked)
    assert (by_api.status, b"sign_in_too_old" in by_api.body) == (403, True)
    signer.by_password(browser)
    assert browser.post("/dashboard/keys", {"name": "late"}).status == 200


def test_an_owner_can_have_everybody_need_a_second_factor(signer: Signer) -> None:
    browser = signer.signed_in()
    browser.post(f"{FACTORS}/requirement", {"needed": "yes"})
    for path in ("/dashboard", "/dashboard/keys", "/dashboard/account"):
        assert browser.get(path).headers["location"] == FACTORS
    assert browser.request("GET", "/jobs", Accept="application/json").status == 403
    assert "Your account needs a second factor" in browser.get(FACTORS).body.decode()
    assert add_passkey(browser, Authenticator(ORIGIN)).status == 200
    assert is_signed_in(browser)
    browser.post(f"{FACTORS}/requirement", {})
    assert "up to each person" in browser.get(FACTORS).body.decode()


def test_sessions_are_told_apart_and_ended_one_by_one(signer: Signer) -> None:
    firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    there = signer.browser()
    there.headers["User-Agent"] = firefox
    signer.by_password(there)
    here = signer.signed_in()
    page = here.get("/dashboard/account").body.decode()
    assert "Firefox on Linux" in page
    assert there.headers["X-Forwarded-For"] in page
    one = hidden_field(here.get("/dashboard/account"), "session")

    stranger = make_signer(signer.service, signer.database).signed_in()
    stranger.post("/dashboard/account/end", {"session": one})
    assert is_signed_in(there)
    here.post("/dashboard/account/end", {"session": "no hash"})
    here.post("/dashboard/account/end", {"session": one})
    assert not is_signed_in(there)
    assert is_signed_in(here)
