"""A browser as far as the dashboard needs one: it keeps cookies, and sends the tokens of the forms that it got."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http.cookies import SimpleCookie
from urllib.parse import urlencode
from uuid import UUID

from http_service import Answer, Service
from payers import Payer, owner_of

from pipeline.accounts.sessions import begin_session, csrf_token_of, make_token
from pipeline.database import Database, Statement

FORM = "application/x-www-form-urlencoded"


@dataclass
class Browser:
    """One browser; nothing follows redirects by itself, so that tests see them."""

    service: Service
    cookies: dict[str, str] = field(default_factory=dict)
    #: Sent with each request, as a proxy would.
    headers: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **headers: str) -> Answer:
        return self.request("GET", path, **headers)

    def post(self, path: str, form: dict[str, str | list[str]], *, token: str | None = None, **headers: str) -> Answer:
        """Send a form, with the session's CSRF token or another."""
        body = urlencode({"csrf_token": self.csrf_token if token is None else token, **form}, doseq=True).encode()
        return self.request("POST", path, body, Content_Type=FORM, **headers)

    def request(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookies:
            named["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        connection = self.service.connect()
        connection.request(method, path, body, {"Accept": "text/html", **self.headers, **named})
        response = connection.getresponse()
        pairs = response.getheaders()
        answer = Answer(response.status, {name.lower(): value for name, value in pairs}, response.read())
        connection.close()
        for name, value in pairs:
            if name.lower() == "set-cookie":
                self._keep(value)
        return answer

    @property
    def csrf_token(self) -> str:
        """The token of who is signed in."""
        return next((csrf_token_of(value) for name, value in self.cookies.items() if name.endswith("session")), "")

    def _keep(self, cookie: str) -> None:
        for name, morsel in SimpleCookie(cookie).items():
            if parsedate_to_datetime(morsel["expires"]) < datetime.now(UTC):
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = morsel.value


def sign_in(
    service: Service, database: Database, payer: Payer, *, operator: bool = False, person_id: UUID | None = None
) -> Browser:
    """Return a browser in which an account's owner, or another person, is signed in, without the page that does it."""
    token = make_token()
    sql = "UPDATE account SET is_operator = %(operator)s WHERE id = %(account)s RETURNING id"
    database.run(Statement(sql, {"operator": operator, "account": payer.account_id}))
    person = person_id or owner_of(database, payer)
    database.run(begin_session(person, payer.account_id, token, lasts=timedelta(hours=1)))
    return Browser(service, {"pressroom_session": token})


def hidden_field(answer: Answer, name: str) -> str:
    """Return the value of a hidden field of a page."""
    found = re.search(rf'name="{name}" value="([^"]*)"', answer.body.decode())
    assert found, answer.body
    return found[1]
