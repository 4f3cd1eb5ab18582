"""Account: the e-mail and the password to sign in with, where one is signed in, and in which accounts one is."""

from typing import Any

import falcon
import falcon.asgi
from psycopg.errors import CheckViolation, UniqueViolation

from api.dashboard.entry.gate import Gate
from api.dashboard.forms import Form, read_form, read_hex
from api.dashboard.members import LastOwner, read_name, remove
from api.dashboard.rendering import HOME, NavigationSection, Page, redirect, render
from api.services.resource import Resource
from api.services.services import Services
from api.services.sessions import SIGN_IN, SIGN_OUT
from pipeline.accounts.audit import Action, note, noted
from pipeline.accounts.passwords import MAX_LENGTH, MIN_LENGTH, PasswordInvalid
from pipeline.accounts.people import MAX_NAME, list_memberships, rename_person
from pipeline.accounts.sessions import EmailInvalid, Person, Session, end_own_session, list_sessions
from pipeline.accounts.sign_in import set_email
from pipeline.database import Statement
from pipeline.errors import InvalidRequest, NotFound
from pipeline.factors.held import stop_sign_ins

PAGE = Page("/dashboard/account", "Account", NavigationSection.ACCOUNT, order=100, icon="circle-user")
#: Fields of the form that can be wrong, by the code of what is.
FIELDS = {"password_wrong": "current", "email_invalid": "email", "email_taken": "email", "name_invalid": "name"}


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
        if person.password_hash is None:  # a stranger at an open browser must not choose one
            await sessions.require_recent(req, resp, back=PAGE.path)
        try:
            await self._gate.check_password(req, person, form.get("current", [""])[-1])
            has_new_password = await self._change(session, person, form)
        except InvalidRequest as error:
            resp.status = error.status
            errors = {FIELDS.get(error.code, "password"): error.message}
            await self._show(req, resp, errors, email=form.text("email"))
            return
        if has_new_password:
            await sessions.begin(req, resp, session.person_id, session.account_id)
        redirect(req, resp, PAGE.path, "Your account was saved.")

    async def _change(self, session: Session, person: Person, form: Form) -> bool:
        """Save the form; return whether the password is new. Raises InvalidRequest."""
        database = self._services.database
        password = form.get("password", [""])[-1]
        setting = await self._gate.new_password(person, password) if password else []
        if not setting and person.password_hash is None:
            raise PasswordInvalid("Choose a password to sign in by e-mail.")
        email, name = form.text("email"), read_name(form.text("name") or session.person_name)
        changes: list[Statement[Any]] = [set_email(person.id, email), rename_person(person.id, name), *setting]
        actor = session.caller.actor
        if setting:
            changes.append(note(actor, Action.PASSWORD_CHANGED))
        if email.lower() != session.email:
            changes.append(note(actor, Action.EMAIL_CHANGED, session.email or "", to=email.lower()))
        try:
            await database.run_together(changes)
        except UniqueViolation as error:
            raise InvalidRequest(f"Another person has the e-mail {email}.", code="email_taken") from error
        except CheckViolation as error:
            raise EmailInvalid(f"{email!r} has letters that look alike in lower case.") from error
        return bool(setting)

    async def _show(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, errors: dict[str, str], *, email: str | None = None
    ) -> None:
        session = await self._services.sessions.require(req, resp)
        idle = self._services.sessions.idle
        found, accounts = await self._services.database.run_together(
            [list_sessions(session.person_id, idle=idle), list_memberships(session.person_id)]
        )
        await render(
            req,
            resp,
            "account.html",
            email=(session.email or "") if email is None else email,
            errors=errors,
            sessions=found,
            accounts=accounts,
            max_name=MAX_NAME,
            min_length=MIN_LENGTH,
            max_length=MAX_LENGTH,
        )


class OtherSessions(Resource):
    """POST /dashboard/account/end-others."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require(req, resp)
        await read_form(req, session)
        unfinished, others = stop_sign_ins(session.person_id, but=session.token_hash)
        ending = [unfinished, noted(others, session.caller.actor, Action.SESSIONS_ENDED)]
        _, ended = await self._services.database.run_together(ending)
        text = f"{ended} other {'session has' if ended == 1 else 'sessions have'} ended."
        redirect(req, resp, PAGE.path, text)


class OneSession(Resource):
    """POST /dashboard/account/end: the session in the form."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require(req, resp)
        form = await read_form(req, session)
        ending = end_own_session(session.person_id, read_hex(form.text("session")))
        noting = noted(ending, session.caller.actor, Action.SESSIONS_ENDED)
        ended = await self._services.database.run(noting)
        redirect(req, resp, PAGE.path, "The session has ended." if ended else "This session had ended before.")


class ChangeAccount(Resource):
    """POST /dashboard/account/change."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require(req, resp)
        wanted = (await read_form(req, session)).text("account")
        own = await self._services.database.run(list_memberships(session.person_id))
        found = next((one for one in own if str(one.account_id) == wanted), None)
        if found is None or not await self._services.sessions.move(session, found.account_id):
            raise NotFound("You don't belong to that account.", code="account_not_found")
        redirect(req, resp, HOME, f"This is {found.name}.")


class Leave(Resource):
    """POST /dashboard/account/leave."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require(req, resp)
        await read_form(req, session)
        try:
            await remove(self._services, session, str(session.person_id))
        except LastOwner as error:
            redirect(req, resp, PAGE.path, error.message, "bad")
            return
        redirect(req, resp, SIGN_IN, f"You have left {session.account_name}.")


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
    f"{PAGE.path}/end": OneSession,
    f"{PAGE.path}/change": ChangeAccount,
    f"{PAGE.path}/leave": Leave,
    SIGN_OUT: SignOut,
}
