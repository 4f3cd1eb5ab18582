"""Notices: what happens becomes one mail for who wants it, and a real SMTP server takes it, late or never."""

import socket
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from mail_host import MailHost, mail_host
from payers import owner_of
from workbench import Workbench

from pipeline.accounts.audit import ADDRESS, Action, Actor, note
from pipeline.accounts.sign_in import set_email
from pipeline.database import Database, Statement
from pipeline.notices.choices import AT_ONCE, DAILY, choose, end_choice, find_choice, set_low_balance
from pipeline.notices.outbox import add_mail, claim_mails, list_mails
from pipeline.notices.sending import MailSending, MailServer
from pipeline.notices.sources import BALANCE, FAILED_JOBS, SIGN_INS, sources
from pipeline.settings import Settings
from pipeline.webhooks.events import MONITOR_CHANGED

URL = "https://press.example.org"
#: Columns that become older as time passes.
MOMENTS = (
    "notice_choice.told_until", "notice_choice.next_at", "mail.next_at", "mail.created_at", "account.low_since",
    "job.finished_at", "audit_event.at",
)  # fmt: skip


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MailHost]:
    with mail_host(tmp_path_factory.mktemp("mail")) as made:
        yield made


@pytest.fixture
def host(running: MailHost) -> MailHost:
    running.messages.clear()
    running.answers.clear()
    running.raw.clear()
    return running


class Person:
    """The owner of the workbench's account, who is told of things."""

    def __init__(self, bench: Workbench, connection: psycopg.Connection[Any]) -> None:
        self.database: Database = bench.database
        self.connection = connection
        self.account = bench.payer.account_id
        self.id: UUID = owner_of(self.database, bench.payer)
        self.database.run(set_email(self.id, "ada@example.org"))

    def wants(self, how: str, *events: str) -> None:
        self.database.run_together(choose(self.account, self.id, dict.fromkeys(events, how)))

    def let_time_pass(self, hours: float = 0.5) -> None:
        """Make all that was noted older."""
        self.connection.execute("ALTER TABLE audit_event DISABLE TRIGGER USER")  # it is only added to
        for column in MOMENTS:
            table, name = column.split(".")
            self.connection.execute(f"UPDATE {table} SET {name} = {name} - %s", [timedelta(hours=hours)])
        self.connection.execute("ALTER TABLE audit_event ENABLE TRIGGER USER")

    def mails(self) -> list[tuple[str, str | None]]:
        found = self.database.run(list_mails(self.account, self.id, limit=10))
        return [(one["state"], one["error"]) for one in found]


@pytest.fixture
def person(bench: Workbench, bench_url: str) -> Iterator[Person]:
    with psycopg.connect(bench_url, autocommit=True) as connection:
        yield Person(bench, connection)
        connection.execute("DELETE FROM index_monitor")


def sending(server: MailHost, **changes: Any) -> MailSending:
    return MailSending(Settings(mail=server.settings() | changes, api={"public_url": f"{URL}/"}))


def let_balance_fall(person: Person) -> None:
    """Let the balance fall below a limit, and be seen to."""
    person.wants(AT_ONCE, BALANCE.event)
    person.database.run(set_low_balance(person.account, 2_000))


def test_a_low_balance_is_told_once(person: Person, host: MailHost) -> None:
    let_balance_fall(person)
    for _ in range(4):
        sending(host).work(person.database)
        person.let_time_pass()
    (message,) = host.messages
    assert (message["To"], message["Subject"]) == ("ada@example.org", "The balance is low (Tester)")
    body = message.get_content()
    assert ["- 1000 credits are left; the limit is 2000.", f"  {URL}/dashboard/usage"] == body.splitlines()[2:4]
    assert f"{URL}/dashboard/account/notices" in body
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert f"\nList-Unsubscribe: <{URL}/".encode() in host.raw[0].replace(b"\r", b"")  # not folded, not encoded
    stop = message["List-Unsubscribe"].strip("<>")
    assert stop.startswith(f"{URL}/dashboard/notices/stop?token=")
    token = UUID(stop.partition("token=")[2])
    assert person.database.run(find_choice(token))
    assert person.database.run(end_choice(token)) == 1
    assert person.database.run(find_choice(token)) is None


def test_events_of_each_source_come_in_one_daily_mail(person: Person, bench: Workbench, host: MailHost) -> None:
    assert set(sources()) == {BALANCE.event, FAILED_JOBS.event, SIGN_INS.event, MONITOR_CHANGED}
    person.wants(DAILY, *sources())
    person.database.run(set_low_balance(person.account, 2_000))
    for _ in range(21):
        bench.job_of(1)
        bench.report(bench.claim_one(), "failed")
    actor = Actor(person.account, person.id)
    ADDRESS.set("198.51.100.7")
    person.database.run(note(actor, Action.SIGNED_IN))
    person.database.run(note(actor, Action.SIGNED_IN))  # from a known address
    monitor = watch_a_page(person, bench)
    sending(host).work(person.database)
    assert host.messages == []
    for _ in range(13):
        person.let_time_pass(hours=2)
        sending(host).work(person.database)
    (message,) = host.messages
    assert message["Subject"] == "Today in Tester"
    body = message.get_content()
    assert "Failed jobs: 21" in body
    assert "- and 1 more" in body
    assert body.count("New sign-in") == 1
    assert body.count("198.51.100.7") == 1
    assert "https://example.com/post is no longer listed by google" in body
    assert f"{URL}/dashboard/indexing/monitors/{monitor}" in body
    assert "The balance is low" in body


def watch_a_page(person: Person, bench: Workbench) -> UUID:
    """Have a watched page be dropped by a search engine; return its monitor."""
    monitor, job = uuid4(), bench.job_of(1)
    bench.report(bench.claim_one(), "done")
    person.connection.execute(
        "INSERT INTO index_monitor (id, account_id, api_key_id, every, request, urls)"
        " VALUES (%s, %s, %s, 'day', '{}', '[]')",
        [monitor, person.account, bench.payer.api_key_id],
    )
    person.connection.execute(
        "INSERT INTO index_monitor_change (monitor_id, job_id, url, change, index, provider, checked_at, before_at)"
        " VALUES (%s, %s, 'https://example.com/post', 'dropped', 'google', 'serper', now(), now())",
        [monitor, job],
    )
    return monitor


@pytest.mark.parametrize(("answer", "state"), [("451 try again later", "sent"), ("550 no such person here", "failed")])
def test_a_mail_that_is_not_taken_is_sent_again_unless_that_is_in_vain(
    person: Person, host: MailHost, answer: str, state: str
) -> None:
    let_balance_fall(person)
    sending(host).work(person.database)
    person.let_time_pass()
    host.answers.append(answer)
    sending(host).work(person.database)
    assert person.mails() == [("pending" if state == "sent" else "failed", answer)]
    person.let_time_pass()
    sending(host).work(person.database)
    assert [one for one, _ in person.mails()] == [state]
    assert len(host.messages) == (state == "sent")


def test_a_sender_that_dies_before_it_notes_a_mail_repeats_it_with_the_same_id(person: Person, host: MailHost) -> None:
    let_balance_fall(person)
    sending(host, host=None).work(person.database)
    person.let_time_pass()
    sender = sending(host, port=1)
    sender.work(person.database)
    person.let_time_pass()
    (mail,) = person.database.run(claim_mails(5, lease_for=timedelta(minutes=1)))
    with MailServer(Settings(mail=host.settings(), api={"public_url": URL}).mail) as server:
        server.send(sender.message(mail))
    assert person.database.run(claim_mails(5, lease_for=timedelta(minutes=1))) == []
    person.let_time_pass()
    sending(host).work(person.database)
    first, second = host.messages
    assert first["Message-ID"] == second["Message-ID"] == f"<{mail.id}@example.org>"


def test_a_server_that_hangs_up_is_called_again_for_the_other_mails(person: Person, host: MailHost) -> None:
    for number in range(3):
        person.database.run(add_mail(person.id, person.account, f"Mail {number}", "Hello"))
    host.answers.append("421 closing the connection")

    sending(host).work(person.database)

    assert len(host.messages) == 1
    assert sorted(state for state, _ in person.mails()) == ["pending", "pending", "sent"]


def test_an_address_that_is_none_costs_no_other_mail(person: Person, host: MailHost) -> None:
    let_balance_fall(person)
    person.database.run(set_email(person.id, "a..b@example.org"))
    for _ in range(2):
        sending(host).work(person.database)
        person.let_time_pass()
    ((state, error),) = person.mails()
    assert state == "failed"
    assert "Nobody can be written to at 'a..b@example.org'" in (error or "")


def test_a_server_that_hangs_or_lies_about_itself_costs_a_try(person: Person, host: MailHost, tmp_path: Path) -> None:
    let_balance_fall(person)
    sending(host, host=None).work(person.database)
    person.let_time_pass()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        sending(host, port=silent.getsockname()[1], timeout_seconds=0.2).work(person.database)
    ((state, error),) = person.mails()
    assert (state, error) == ("pending", "127.0.0.1 did not take it: Connection unexpectedly closed: timed out")
    for wrong, why in (
        ({"ca_file": None}, "CERTIFICATE_VERIFY_FAILED"),
        ({"password": "wrong"}, "535"),
    ):
        person.let_time_pass()
        sending(host, **wrong).work(person.database)
        ((state, error),) = person.mails()
        assert state == "pending"
        assert why in (error or "")
    assert host.messages == []


def test_texts_of_others_add_no_header_and_no_line(person: Person, host: MailHost) -> None:
    let_balance_fall(person)
    person.database.run(
        Statement(
            "UPDATE account SET name = %(name)s WHERE id = %(id)s RETURNING id",
            {"name": "Eve\r\nBcc: all@example.org\u2028" + "x" * 100, "id": person.account},
        )
    )
    for _ in range(2):
        sending(host).work(person.database)
        person.let_time_pass()
    (message,) = host.messages
    assert message["Bcc"] is None
    assert message["Subject"].startswith("The balance is low (Eve Bcc: all@example.org xxx")
    assert message["Subject"].endswith("x…)")


def test_choices_go_with_the_membership(person: Person) -> None:
    person.wants(AT_ONCE, BALANCE.event)
    person.connection.execute("DELETE FROM membership WHERE person_id = %s", [person.id])
    found = person.connection.execute("SELECT count(*) AS number FROM notice_choice").fetchone()
    assert found == (0,)
