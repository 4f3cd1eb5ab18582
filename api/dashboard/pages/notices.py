"""Notices: what the person is told by e-mail, and the last mails."""

import time
from uuid import uuid5

import falcon
import falcon.asgi

from api.dashboard.forms import read_form
from api.dashboard.rendering import NavigationSection, Page, redirect, render
from api.services.resource import Resource
from pipeline.accounts.roles import Role
from pipeline.errors import InvalidRequest
from pipeline.notices.choices import AT_ONCE, DAILY, choose, read_choices, read_low_balance, set_low_balance
from pipeline.notices.gathering import AT_MOST_EVERY
from pipeline.notices.outbox import add_mail, list_mails
from pipeline.notices.sources import sources

PAGE = Page("/dashboard/account/notices", "Notices", NavigationSection.ACCOUNT, order=90, icon="inbox")
#: Values of a choice in the form, in a reader's words.
HOW = (("", "Never"), (AT_ONCE, "At once"), (DAILY, "In a daily e-mail"))
LAST_MAILS = 10
MAX_LOW_BALANCE = 10**12


class NoticesPage(Resource):
    """GET and POST /dashboard/account/notices."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require(req, resp)
        choices, low_balance, mails = await self._services.database.run_together(
            [
                read_choices(session.account_id, session.person_id),
                read_low_balance(session.account_id),
                list_mails(session.account_id, session.person_id, limit=LAST_MAILS),
            ]
        )
        await render(
            req,
            resp,
            "notices.html",
            sources=sources().values(),
            choices=choices,
            how=HOW,
            low_balance=low_balance,
            may_set_low_balance=session.role.includes(Role.OWNER),
            mails=mails,
            is_set_up=self._services.settings.mail.host is not None,
            max_low_balance=MAX_LOW_BALANCE,
        )

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require(req, resp)
        form = await read_form(req, session)
        wanted = {event: how for event in sources() if (how := form.text(event)) in (AT_ONCE, DAILY)}
        statements = choose(session.account_id, session.person_id, wanted)
        if "low_balance" in form and session.role.includes(Role.OWNER):
            try:
                statements.append(set_low_balance(session.account_id, _credits(form.text("low_balance"))))
            except InvalidRequest as error:
                redirect(req, resp, PAGE.path, error.message, "bad")
                return
        await self._services.database.run_together(statements)
        redirect(req, resp, PAGE.path, "Your choices were saved.")


class TestMail(Resource):
    """POST /dashboard/account/notices/test."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require(req, resp)
        await read_form(req, session)
        text = "This is the test that you asked for. Notices will arrive like it."
        # Nobody has verified the address: it may be a stranger's.
        one = uuid5(session.person_id, f"test {time.time() // AT_MOST_EVERY.total_seconds()}")
        test = add_mail(session.person_id, session.account_id, "A test from Pressroom", text, id=one)
        if await self._services.database.run(test):
            redirect(req, resp, PAGE.path, "A test is on its way. See below whether the mail server takes it.")
        else:
            redirect(req, resp, PAGE.path, "You have just had a test. Wait ten minutes for the next one.", "bad")


def _credits(text: str) -> int | None:
    """Return the limit, None where the field is empty. Raises InvalidRequest."""
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= MAX_LOW_BALANCE:
        raise InvalidRequest(
            f"{text[:20]!r} is not a number of credits from 1 to {MAX_LOW_BALANCE:,}.", code="low_balance_invalid"
        )
    return int(text)


RESOURCES = {PAGE.path: NoticesPage, f"{PAGE.path}/test": TestMail}
