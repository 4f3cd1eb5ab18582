"""Account: the e-mail and the password to sign in with, and where one is signed in."""

import falcon
import falcon.asgi
from psycopg.errors import CheckViolation, UniqueViolation

from api.dashboard.entry.gate import Gate
from api.dashboard.forms import Form, read_form
from api.dashboard.page import NavigationSection, Page
from api.dashboard.rendering import redirect, render
from api.services.resource import Resource
from api.services.services import Services
from api.services.sessions import SIGN_IN
from pipeline.accounts.passwords import MAX_LENGTH, MIN_LENGTH, PasswordInvalid
from pipeline.accounts.sessions import EmailInvalid, Person, end_sessions, list_sessions
from pipeline.accounts.sign_in import set_email
from pipeline.errors import InvalidRequest

PAGE = Page("/dashboard/account", "Account", NavigationSection.ACCOUNT, order=100, icon="circle-user")
#: Fields of the form that can be wrong, by the code of what is.
FIELDS = {"password_wrong": "current", "email_invalid": "email", "email_taken": "email"}


class AccountPage(Resource):
    """GET and POST /dashboard/account."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._gate = Gate(services)

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        await self._show(req, resp, {})

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        sessions = self._services.sessions
        session = await sessions.require(req, resp)
        form = await read_form(req, session)
        person = await self._gate.person(req, resp)
        try:
            await self._gate.check_password(req, person, form.get("current", [""])[-1])
            has_new_password = await self._change(person, form)
        except InvalidRequest as error:
            resp.status = error.status
            errors = {FIELDS.get(error.code, "password"): error.message}
            await self._show(req, resp, errors, email=form.text("email"))
            return
        if has_new_password:
            await sessions.begin(req, resp, session.person_id, session.account_id)
        redirect(req, resp, PAGE.path, "Your account was saved.")

    async def _change(self, person: Person, form: Form) -> bool:
        """Change what the form has; return whether the password is new. Raises InvalidRequest."""
        database = self._services.database
        password = form.get("password", [""])[-1]
        setting = await self._gate.new_password(person, password) if password else []
        if not setting and person.password_hash is None:
            raise PasswordInvalid("Choose a password to sign in by e-mail.")
        email = form.text("email")
        try:
            await database.run_together([set_email(person.id, email), *setting])
        except UniqueViolation as error:
            raise InvalidRequest(f"Another person has the e-mail {email}.", code="email_taken") from error
        except CheckViolation as error:
            raise EmailInvalid(f"{email!r} has letters that can't be told apart when small.") from error
        return bool(setting)

    async def _show(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, errors: dict[str, str], *, email: str | None = None
    ) -> None:
        session = await self._services.sessions.require(req, resp)
        idle = self._services.sessions.idle
        found = await self._services.database.run(list_sessions(session.person_id, idle=idle))
        await render(
            req,
            resp,
            "account.html",
            email=(session.email or "") if email is None else email,
            errors=errors,
            sessions=found,
            min_length=MIN_LENGTH,
            max_length=MAX_LENGTH,
        )


class OtherSessions(Resource):
    """POST /dashboard/account/end-others."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require(req, resp)
        await read_form(req, session)
        ended = await self._services.database.run(end_sessions(session.person_id, but=session.token_hash))
        text = f"{ended} other {'session has' if ended == 1 else 'sessions have'} ended."
        redirect(req, resp, PAGE.path, text)


class SignOut(Resource):
    """POST /dashboard/sign-out."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        sessions = self._services.sessions
        await read_form(req, await sessions.require(req, resp))
        await sessions.end(req, resp)
        redirect(req, resp, SIGN_IN, "You are signed out.")


RESOURCES = {
    PAGE.path: AccountPage,
    f"{PAGE.path}/end-others": OtherSessions,
    "/dashboard/sign-out": SignOut,
}
