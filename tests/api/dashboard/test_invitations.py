"""Invitations: joining an account once, as the one who was invited; and the log of what people have done."""

import csv
import io
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest
from browser import Browser, hidden_field, sign_in
from http_service import Answer, Service
from payers import Payer, add_person, open_account, owner_of
from servers import WAITS_FOR_US

from pipeline.accounts.audit import Actor, forget_events
from pipeline.accounts.people import accept, find_invitation, withdraw
from pipeline.accounts.people import add_person as make_person
from pipeline.database import Database, Statement

PASSWORD = "four words in a row"
PEOPLE = "/dashboard/people"


@pytest.fixture
def owner(service: Service, api_database: Database, client: Payer) -> Browser:
    return sign_in(service, api_database, client)


def invite(owner: Browser, email: str, role: str = "editor") -> str:
    """Return the link's path."""
    page = owner.post(PEOPLE, {"change": "invite", "email": email, "role": role}).body.decode()
    return re.findall(r"(/dashboard/invitation\?token=[\w-]+)<", page)[0]


def join(browser: Browser, link: str, **fields: str) -> Answer:
    """Open a link, and send its form."""
    page = browser.get(link)
    if page.status != 200:
        return page
    form = {"token": hidden_field(page, "token"), "name": "Ann", "password": PASSWORD, **fields}
    return browser.post("/dashboard/invitation", form, token=hidden_field(page, "csrf_token"))


def an_email() -> str:
    return f"{uuid4().hex}@example.com"


def test_somebody_new_joins_once_with_name_and_password(owner: Browser, service: Service) -> None:
    email = an_email()
    link = invite(owner, email.upper())
    assert email in owner.get(PEOPLE).body.decode()
    assert link.partition("=")[2] not in owner.get(PEOPLE).body.decode() + service.log.read_text()

    browser = Browser(service)
    assert "10 to 1,000 characters" in join(browser, link, password="short").body.decode()
    assert join(browser, link).headers["location"] == "/dashboard"
    page = browser.get("/dashboard/account").body.decode()
    assert (email in page, "<dd>editor</dd>" in page) == (True, True)
    assert "was used" in join(Browser(service), link).body.decode()
    assert "is in this account already" in owner.get(owner.post(
        PEOPLE, {"change": "invite", "email": email, "role": "owner"}
    ).headers["location"]).body.decode()  # fmt: skip


def test_who_signs_in_already_joins_as_themselves_alone(
    owner: Browser, service: Service, api_database: Database
) -> None:
    email = an_email()
    home = open_account(api_database)
    person = add_person(api_database, home, "owner", email)
    link = invite(owner, email, "viewer")

    nobody = Browser(service)
    assert f"Sign in as {email} to join" in nobody.get(link).body.decode()
    token = hidden_field(nobody.get("/dashboard/sign-in"), "csrf_token")
    form = {"token": link.partition("=")[2], "name": "Eve", "password": PASSWORD}
    assert nobody.post("/dashboard/invitation", form, token=token).status == 403
    other = sign_in(service, api_database, home)
    assert "This invitation is for" in join(other, link).body.decode()
    refused = other.post("/dashboard/invitation", {"token": link.partition("=")[2]})
    assert (refused.status, "signed in as" in refused.body.decode()) == (403, True)

    invited = sign_in(service, api_database, home, person_id=person)
    assert join(invited, link).status == 303
    assert "Tester" in invited.get("/dashboard/account").body.decode()
    assert invited.get(PEOPLE).status == 403
    assert "was used" in join(invited, link).body.decode()


@pytest.mark.parametrize("end", ["withdrawn", "replaced", "expired", "suspended", "role", "remove"])
def test_an_invitation_ends(owner: Browser, service: Service, api_database: Database, client: Payer, end: str) -> None:
    email = an_email()
    link = invite(owner, email)
    if end == "withdrawn":
        owner.post(PEOPLE, {"change": "withdraw", "email": email})
    elif end == "replaced":
        invite(owner, email, "viewer")
    elif end in ("role", "remove"):  # of who has invited
        inviter = str(owner_of(api_database, client))
        other = sign_in(service, api_database, client, person_id=add_person(api_database, client, "owner"))
        other.post(PEOPLE, {"change": end, "person": inviter, "role": "editor"})
    else:
        sql = {
            "expired": "UPDATE invitation SET expires_at = now() WHERE account_id = %(account)s RETURNING 1",
            "suspended": "UPDATE account SET suspended_at = now() WHERE id = %(account)s RETURNING 1",
        }[end]
        api_database.run(Statement(sql, {"account": client.account_id}))
    assert "was used or withdrawn, or has expired" in join(Browser(service), link).body.decode()


def test_an_invitation_that_is_withdrawn_while_somebody_joins_leaves_nobody_in_no_account(
    owner: Browser, api_database: Database, api_database_url: str, client: Payer
) -> None:
    email, person = an_email(), uuid4()
    token = invite(owner, email).partition("=")[2]
    invitation = api_database.run(find_invitation(token))
    assert invitation
    with ThreadPoolExecutor() as threads, Database(api_database_url) as other:
        with api_database.transaction() as joining:
            joining.run(make_person(token, person, "Ann", "hash"))
            withdrawing = threads.submit(other.run, withdraw(Actor(client.account_id), email))
            while not joining.run(Statement(WAITS_FOR_US)):
                assert not withdrawing.done()
            is_in, _ = [joining.run(one) for one in accept(invitation, token, person)]
        assert (is_in, withdrawing.result(timeout=60)) == (True, False)


@pytest.mark.parametrize("wrong", [{"email": "nobody"}, {"role": "king"}, {"change": "anything"}])
def test_a_wrong_invitation_is_refused_in_words(owner: Browser, wrong: dict[str, str]) -> None:
    assert owner.post(PEOPLE, {"change": "invite", "email": an_email(), "role": "editor", **wrong}).status == 303
    assert re.search("is not an e-mail address|There is no (role|change)", owner.get(PEOPLE).body.decode())


def exported(owner: Browser, query: str = "") -> list[list[str]]:
    answer = owner.get(f"{PEOPLE}/log/export{query}")
    assert answer.status == 200
    header, *rows = csv.reader(io.StringIO(answer.body.decode()))
    assert header == ["at", "who", "action", "subject", "detail", "address"]
    return rows[::-1]


def test_the_log_tells_a_day_of_an_account(
    owner: Browser, service: Service, api_database: Database, client: Payer
) -> None:
    email = an_email()
    link = invite(owner, email, "owner")
    ann = Browser(service)
    join(ann, link)
    ann.post("/dashboard/sign-out", {})
    form = {"email": email, "password": "not the password", "next": ""}
    for password in ("not the password", PASSWORD):
        token = hidden_field(ann.get("/dashboard/sign-in"), "csrf_token")
        ann.post("/dashboard/sign-in", {**form, "password": password}, token=token)
    ann.post("/dashboard/account", {"email": email, "password": PASSWORD + "s", "current": PASSWORD})
    ann.post("/dashboard/keys", {"name": "=Shop"})
    key = re.findall(r"/dashboard/keys/([0-9a-f-]{36})/delete", ann.get("/dashboard/keys").body.decode())[-1]
    ann.post(f"/dashboard/keys/{key}", {"name": "Shop", "credits_per_month": "5"})
    ann.post(f"/dashboard/keys/{key}/delete", {})
    ann.post("/dashboard/webhooks", {"webhook_url": "https://hooks.example.org/", "webhook_events": "job.failed"})
    job = service.submit({"text": "hi"}, client.api_key)
    ann.post("/dashboard/jobs", {"action": "cancel", "ids": job})
    service.request("DELETE", f"/jobs/{job}", headers={"X-API-Key": client.api_key})
    person = re.findall(rf"{email}.*?name=\"person\" value=\"([^\"]+)\"", owner.get(PEOPLE).body.decode(), re.DOTALL)[0]
    owner.post(PEOPLE, {"change": "role", "person": person, "role": "viewer"})
    owner.post(PEOPLE, {"change": "remove", "person": person})

    rows = exported(owner)
    assert [(row[1], row[2], row[3]) for row in rows] == [
        ("Tester", "signed in", ""),
        ("Tester", "person invited", email),
        (email, "person joined", email),
        (email, "signed in", ""),
        (email, "signed out", ""),
        (email, "sign-in failed", ""),
        (email, "signed in", ""),
        (email, "password changed", ""),
        (email, "signed in", ""),
        (email, "key created", "'=Shop"),
        (email, "key changed", "'=Shop"),
        (email, "key deleted", "Shop"),
        (email, "webhook changed", "https://hooks.example.org/"),
        (email, "job cancelled", job),
        ("key test", "job deleted", job),
        ("Tester", "role changed", email),
        ("Tester", "person removed", email),
        ("Tester", "exported", "log"),
    ]
    assert {row[5] for row in rows} <= {"127.0.0.1", ""}
    assert "credits_per_month 5" in rows[10][4]
    assert [row[2] for row in exported(owner, "?action=job+deleted&q=key+test")] == ["job deleted"]
    assert exported(owner, "?to=2020-01-01") == []
    page = owner.get(f"{PEOPLE}/log?action=role+changed").body.decode()
    assert ("role viewer, before owner" in page, "signed in" in page.partition("<tbody>")[2]) == (True, False)
    stranger = sign_in(service, api_database, open_account(api_database))
    assert len(exported(stranger)) == 2

    answer = service.get("/account/audit?limit=2&q=Tester", client.api_key)
    assert [(one["action"], one["subject"]) for one in answer.json] == [("exported", "log")] * 2
    further = service.get(re.findall("<(.+)>", answer.headers["link"])[0], client.api_key)
    assert [one["action"] for one in further.json] == ["exported", "person removed"]
    limited = service.post("/keys", {"name": "l", "requests_per_minute": 9}, client.api_key).json["api_key"]
    assert service.get("/account/audit", limited).status == 403


def test_the_log_is_only_added_to_and_forgets_what_is_old(
    owner: Browser, api_database: Database, api_database_url: str, client: Payer
) -> None:
    with psycopg.connect(api_database_url, autocommit=True) as connection:
        for change in ("UPDATE audit_event SET actor = 'nobody'", "DELETE FROM audit_event", "TRUNCATE audit_event"):
            with pytest.raises(psycopg.errors.RestrictViolation):
                connection.execute(change)
    assert api_database.run(forget_events(older_than=timedelta(days=1), limit=1_000)) == 0
    assert len(exported(owner)) == 2
    while api_database.run(forget_events(older_than=timedelta(0), limit=1_000)):
        pass
    assert [row[2] for row in exported(owner)] == ["exported"]
