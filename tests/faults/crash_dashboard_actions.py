"""Requests to the dashboard of an API whose process dies."""

import re
from datetime import timedelta
from urllib.parse import urlencode
from uuid import uuid4

from crash_actions import CREDITS, Action
from http_service import Answer
from payers import Payer, open_account, owner_of

from pipeline.accounts.sessions import begin_session, csrf_token_of, make_token
from pipeline.accounts.sign_in import set_email, set_password

FORM = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}
PASSWORD = "four words in a row"
NEW_PASSWORD = "five words in a row"


class OfDashboard(Action):
    """A request of a browser that is signed in."""

    def sign_in(self, payer: Payer) -> None:
        self.token = make_token()
        self.begin(payer, self.token)

    def begin(self, payer: Payer, token: str) -> None:
        owner = owner_of(self.world.database, payer)
        self.world.database.run(begin_session(owner, payer.account_id, token, lasts=timedelta(hours=1)))

    def submit(self, path: str, **fields: str) -> tuple[str, str, bytes | None, dict[str, str]]:
        """Return a form as the browser sends it."""
        form = urlencode({"csrf_token": csrf_token_of(self.token), **fields}).encode()
        return "POST", path, form, {**FORM, "Cookie": f"pressroom_session={self.token}"}


class OfOperators(OfDashboard):
    """A change of an account by an operator."""

    def prepare(self) -> None:
        operator = open_account(self.world.database)
        set_up = "UPDATE account SET is_operator = true WHERE id = %(operator)s RETURNING id"
        self.world.rows(set_up, operator=operator.account_id)
        self.sign_in(operator)

    def change(self, **fields: str) -> tuple[str, str, bytes | None, dict[str, str]]:
        return self.submit(f"/dashboard/operators/accounts/{self.world.payer.account_id}", **fields)


class TopUp(OfOperators):
    """Credits are added once or not at all; a person who got no page looks at the balance first."""

    decisive = "postgres: grant_credits"
    is_repeated = False

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return self.change(change="top-up", credits="5")

    def check(self, first: Answer | None, again: Answer | None) -> None:
        if first is not None:
            assert first.status == 303
        assert self.world.available() in ((CREDITS, CREDITS + 5) if first is None else (CREDITS + 5,))


class Suspend(OfOperators):
    """A suspended account is refused, and nobody stays signed in there: not for when it goes on, either."""

    decisive = "postgres: end of pipeline"

    def prepare(self) -> None:
        self.begin(self.world.payer, make_token())
        super().prepare()

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return self.change(change="suspend")

    def check(self, first: Answer | None, again: Answer | None) -> None:
        assert {answer.status for answer in (first, again) if answer} == {303}
        assert self.world.sessions() == []
        answer = self.world.api.ask_until_answered("POST", "/made-up", b'{"count": 1}', self.world.keyed())
        assert (answer.status, answer.json["code"]) == (403, "account_suspended")


class SignIn(Action):
    """Signing in again works."""

    decisive = "postgres: end of pipeline"

    def prepare(self) -> None:
        self.email = f"{uuid4().hex}@example.com"
        self.world.database.run(set_email(self.world.owner, self.email))
        self.world.database.run_together(set_password(self.world.owner, PASSWORD))
        page = self.world.api.ask_until_answered("GET", "/dashboard/sign-in", None, {"Accept": "text/html"})
        found = re.search(r'name="csrf_token" value="([^"]*)"', page.body.decode())
        assert found
        self.token, self.cookie = found[1], page.headers["set-cookie"].split(";")[0]

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        form = {"csrf_token": self.token, "email": self.email, "password": PASSWORD, "next": ""}
        return "POST", "/dashboard/sign-in", urlencode(form).encode(), {**FORM, "Cookie": self.cookie}

    def check(self, first: Answer | None, again: Answer | None) -> None:
        answers = [answer for answer in (first, again) if answer]
        assert [answer.status for answer in answers] == [303] * len(answers)
        session = answers[-1].headers["set-cookie"].split(";")[0]
        assert session.startswith("pressroom_session=")
        page = self.world.api.ask_until_answered("GET", "/dashboard", None, {"Accept": "text/html", "Cookie": session})
        assert page.status == 200


class ChangePassword(OfDashboard):
    """A new password ends the sessions of the old one."""

    decisive = "postgres: end of pipeline"

    def prepare(self) -> None:
        self.email = f"{uuid4().hex}@example.com"
        self.world.database.run(set_email(self.world.owner, self.email))
        self.world.database.run_together(set_password(self.world.owner, PASSWORD))
        self.begin(self.world.payer, make_token())
        (elsewhere,) = self.world.sessions()
        self.elsewhere = elsewhere["token_hash"]
        self.old = self.world.password_hash()
        self.sign_in(self.world.payer)

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return self.submit("/dashboard/account", email=self.email, password=NEW_PASSWORD, current=PASSWORD)

    def check(self, first: Answer | None, again: Answer | None) -> None:
        # The second is sent to the page for signing in where the first has come that far.
        assert {answer.status for answer in (first, again) if answer} == {303}
        assert self.world.password_hash() != self.old
        here = self.world.sessions()
        assert len(here) <= 1
        assert self.elsewhere not in {session["token_hash"] for session in here}


class SignOut(OfDashboard):
    """Signing out ends the session."""

    decisive = "postgres: WITH done AS (DELETE FROM session"

    def prepare(self) -> None:
        self.sign_in(self.world.payer)

    def request(self) -> tuple[str, str, bytes | None, dict[str, str]]:
        return self.submit("/dashboard/sign-out")

    def check(self, first: Answer | None, again: Answer | None) -> None:
        assert {answer.status for answer in (first, again) if answer} == {303}
        assert self.world.sessions() == []


DASHBOARD_ACTIONS: tuple[type[Action], ...] = (TopUp, Suspend, SignIn, ChangePassword, SignOut)
