"""Notices in the dashboard: choosing them, and stopping them by a mail's link."""

import pytest
from browser import Browser, sign_in
from http_service import Service
from payers import add_person, open_account, owner_of

from pipeline.database import Database, Statement
from pipeline.notices.choices import read_choices, read_low_balance
from pipeline.notices.outbox import add_mail, list_mails

PATH = "/dashboard/account/notices"
STOP = "/dashboard/notices/stop"


def token_of(database: Database, person: object) -> str:
    read: Statement[str] = Statement(
        "SELECT token FROM notice_choice WHERE person_id = %(person)s",
        {"person": person},
        lambda rows: rows[0]["token"],
    )
    return str(database.run(read))


def test_choices_are_saved_and_shown_and_ended_by_the_link_of_a_mail(service: Service, api_database: Database) -> None:
    payer = open_account(api_database)
    person = owner_of(api_database, payer)
    browser = sign_in(service, api_database, payer)
    saved = browser.post(PATH, {"job.failed": "daily", "account.signed_in": "", "low_balance": "500"})
    assert saved.status == 303
    assert api_database.run(read_choices(payer.account_id, person)) == {"job.failed": "daily"}
    assert api_database.run(read_low_balance(payer.account_id)) == 500
    page = browser.get(PATH).body.decode()
    assert '<option value="daily" selected>' in page
    assert 'value="500"' in page

    link, stranger = f"{STOP}?token={token_of(api_database, person)}", Browser(service)
    assert "The daily e-mail about Tester ends." in stranger.get(link).body.decode()
    assert api_database.run(read_choices(payer.account_id, person))  # looking at it ends nothing
    for _ in range(2):
        answer = stranger.request("POST", link, b"List-Unsubscribe=One-Click")
        assert (answer.status, b"You get no more of these e-mails" in answer.body) == (200, True)
    assert api_database.run(read_choices(payer.account_id, person)) == {}


@pytest.mark.parametrize("credits", ["0", "-1", "1.5", "many", "9" * 20])
def test_a_limit_that_is_none_is_refused_by_name(service: Service, api_database: Database, credits: str) -> None:
    payer = open_account(api_database)
    browser = sign_in(service, api_database, payer)
    browser.post(PATH, {"low_balance": credits})
    assert f"{credits!r} is not a number of credits" in browser.get(PATH).body.decode().replace("&#39;", "'")
    assert api_database.run(read_low_balance(payer.account_id)) is None


def test_a_test_is_written_for_the_person_alone_and_not_again_at_once(service: Service, api_database: Database) -> None:
    payer = open_account(api_database)
    browser, said = sign_in(service, api_database, payer), ""
    for _ in range(3):
        assert browser.post(f"{PATH}/test", {}).status == 303
        said += browser.get(PATH).body.decode()
    assert "Wait ten minutes" in said
    mails = api_database.run(list_mails(payer.account_id, owner_of(api_database, payer), limit=5))
    assert {one["subject"] for one in mails} == {"A test from Pressroom"}
    assert len(mails) < 3  # two where ten minutes ended meanwhile


def test_who_is_removed_from_an_account_gets_none_of_its_mails(service: Service, api_database: Database) -> None:
    payer, other = open_account(api_database), open_account(api_database)
    person = add_person(api_database, payer, "viewer")
    joined = "INSERT INTO membership (account_id, person_id, role) VALUES (%(a)s, %(p)s, 'viewer') RETURNING 1"
    api_database.run(Statement(joined, {"a": other.account_id, "p": person}))
    for account in (payer.account_id, other.account_id):
        api_database.run(add_mail(person, account, "Failed jobs: 1", "The harbour"))
    sign_in(service, api_database, payer).post("/dashboard/people", {"change": "remove", "person": str(person)})
    assert api_database.run(list_mails(payer.account_id, person, limit=5)) == []
    assert len(api_database.run(list_mails(other.account_id, person, limit=5))) == 1


@pytest.mark.parametrize("token", ["", "x", "00000000-0000-0000-0000-000000000000"])
def test_a_link_with_a_wrong_token_ends_nothing(service: Service, token: str) -> None:
    answer = Browser(service).request("POST", f"{STOP}?token={token}", b"")
    assert answer.status == (200 if len(token) == 36 else 404)
