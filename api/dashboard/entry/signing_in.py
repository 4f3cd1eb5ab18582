"""Signing in: what the pages have in common by which somebody comes in, in one step or two."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import falcon.asgi

from api.dashboard.entry.gate import Gate, NotSignedIn
from api.dashboard.forms import Form, read_form_with
from api.dashboard.rendering import HOME, redirect
from api.services.resource import Resource
from api.services.services import Services
from api.services.sessions import SIGN_IN, CsrfTokenInvalid
from pipeline.accounts.sessions import Person, csrf_token_of, make_token
from pipeline.factors import steps
from pipeline.factors.held import has_factor
from pipeline.factors.steps import Purpose, Step

SECOND_STEP = f"{SIGN_IN}/second"
#: A browser that is not signed in yet; sign-in forms belong to it, so that other sites can't send them.
VISITOR_COOKIE = "pressroom_visitor"
VISITOR_LASTS = timedelta(hours=12)
#: The cookie of an unfinished sign-in (`pipeline.factors.steps`).
STEP_COOKIE = "pressroom_step"


class StepCookie:
    """The sign-in that this browser has begun, by its cookie."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def token(self, req: falcon.asgi.Request) -> str:
        return self._services.cookies.read(req, STEP_COOKIE) or ""

    async def begin(
        self,
        req: falcon.asgi.Request,
        resp: falcon.asgi.Response,
        purpose: Purpose,
        content: dict[str, Any],
        person_id: UUID | None = None,
    ) -> None:
        token = make_token()
        await self._services.database.run(steps.add_step(token, purpose, content, person_id=person_id))
        self._services.cookies.write(req, resp, STEP_COOKIE, token, lasts=steps.LASTS)

    async def find(self, req: falcon.asgi.Request, purpose: Purpose) -> Step | None:
        return await self._services.database.run(steps.find_step(self.token(req), purpose))

    async def take(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, purpose: Purpose) -> Step:
        """Use a step up. Raises NotSignedIn where it was used or has ended."""
        step = await self._services.database.run(steps.take_step(self.token(req), purpose))
        self._services.cookies.delete(req, resp, STEP_COOKIE)
        if step is None:
            raise NotSignedIn("This took longer than ten minutes, or was done in another tab. Start again.")
        return step


class SigningIn(Resource):
    """A page for somebody who is not signed in."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._gate = Gate(services)
        self._steps = StepCookie(services)

    def _form_token(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> str:
        """Return the token for a form, of the visitor's cookie, which is set where there is none."""
        cookies = self._services.cookies
        visitor = cookies.read(req, VISITOR_COOKIE)
        if visitor is None:
            visitor = make_token()
            cookies.write(req, resp, VISITOR_COOKIE, visitor, lasts=VISITOR_LASTS)
        return csrf_token_of(visitor)

    async def _read_form(self, req: falcon.asgi.Request) -> Form:
        visitor = self._services.cookies.read(req, VISITOR_COOKIE)
        if visitor is None:
            raise CsrfTokenInvalid
        return await read_form_with(req, csrf_token_of(visitor))

    async def _in_same_account(self, req: falcon.asgi.Request, person: Person) -> Person:
        """Return a person in the account in which they are signed in already, if they are."""
        session = await self._services.sessions.find(req)
        if session is None or session.person_id != person.id:
            return person
        return replace(person, account_id=session.account_id)

    async def _let_in(
        self,
        req: falcon.asgi.Request,
        resp: falcon.asgi.Response,
        person: Person,
        wanted: str,
        text: str | None = None,
    ) -> None:
        """Sign in who has proven one factor, or ask for the second where they have one. Raises NotSignedIn."""
        if await self._services.database.run(has_factor(person.id)):
            content = {"next": wanted, "account": str(person.account_id)}
            await self._steps.begin(req, resp, "second", content, person.id)
            redirect(req, resp, SECOND_STEP)
            return
        await self._begin(req, resp, person)
        redirect(req, resp, wanted, text)

    async def _begin(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, person: Person) -> None:
        """Sign in who was let in. Raises NotSignedIn where they have another password by now, or are suspended."""
        if not await self._services.sessions.begin(req, resp, person.id, person.account_id, checked=person):
            raise NotSignedIn("Your account has just been changed, or is suspended. Sign in again.")


def safe_path(path: str | None) -> str:
    """Return a path of the dashboard; anything else may lead to another site, and is the first page instead."""
    is_ours = path is not None and (path == HOME or path.startswith((f"{HOME}/", f"{HOME}?")))
    if path is None or not is_ours or not path.isascii() or not path.isprintable() or "\\" in path:
        return HOME
    return path
