"""Invitation: somebody who was invited joins an account, with the e-mail that the link is for."""

from urllib.parse import quote
from uuid import uuid4

import falcon
import falcon.asgi
from psycopg.errors import UniqueViolation

from api.dashboard.entry.signing_in import SigningIn
from api.dashboard.forms import Form, read_form
from api.dashboard.members import read_name
from api.dashboard.rendering import HOME, redirect, render
from api.services.sessions import SIGN_IN
from pipeline.accounts.passwords import MIN_LENGTH
from pipeline.accounts.people import MAX_NAME, Invitation, accept, add_person, find_invitation
from pipeline.accounts.sessions import Session
from pipeline.errors import Forbidden, InvalidRequest

INVITATION = "/dashboard/invitation"


class InvitationInvalid(Forbidden):
    """The link was used or withdrawn, or has expired."""

    code = "invitation_invalid"
    message = "This invitation was used or withdrawn, or has expired. Ask an owner of the account for another."


class InvitationPage(SigningIn):
    """GET and POST /dashboard/invitation: the token is in the query string, which no log of ours has."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        token = req.get_param("token") or ""
        await self._show(req, resp, await self._find(token), token)

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.find(req)
        form = await (read_form(req, session) if session else self._read_form(req))
        token = form.text("token")
        invitation = await self._find(token)
        try:
            await self._join(req, resp, invitation, token, form, session)
        except InvalidRequest as error:
            resp.status = error.status
            return await self._show(req, resp, invitation, token, name=form.text("name"), error=error.message)
        return redirect(req, resp, HOME, f"Welcome to {invitation.account_name}.")

    async def _join(
        self,
        req: falcon.asgi.Request,
        resp: falcon.asgi.Response,
        invitation: Invitation,
        token: str,
        form: Form,
        session: Session | None,
    ) -> None:
        """Let the person join, and sign them in. Raises InvalidRequest, Forbidden."""
        if session is not None:
            require_invited(session, invitation)
            person_id, made = session.person_id, []
        elif invitation.is_known:
            raise Forbidden(f"Sign in as {invitation.email} first, and open the link again.", code="sign_in_first")
        else:
            password_hash = await self._gate.hashed(form.get("password", [""])[-1])
            person_id = uuid4()
            made = [add_person(token, person_id, read_name(form.text("name")), password_hash)]
        try:
            results = await self._services.database.run_together([*made, *accept(invitation, token, person_id)])
        except UniqueViolation as error:
            raise InvitationInvalid from error
        if not results[-2]:
            raise InvitationInvalid
        sessions = self._services.sessions
        if session is not None:
            await sessions.move(session, invitation.account_id)
        else:
            await sessions.begin(req, resp, person_id, invitation.account_id)

    async def _find(self, token: str) -> Invitation:
        found = await self._services.database.run(find_invitation(token))
        if found is None:
            raise InvitationInvalid
        return found

    async def _show(
        self,
        req: falcon.asgi.Request,
        resp: falcon.asgi.Response,
        invitation: Invitation,
        token: str,
        *,
        name: str = "",
        error: str = "",
    ) -> None:
        session = await self._services.sessions.find(req)
        if session is not None:
            require_invited(session, invitation)
        here = quote(f"{INVITATION}?token={token}", safe="/")
        await render(
            req,
            resp,
            "invitation.html",
            invitation=invitation,
            token=token,
            form_token=session.csrf_token if session else self._form_token(req, resp),
            sign_in=f"{SIGN_IN}?next={here}",
            name=name,
            error=error,
            min_length=MIN_LENGTH,
            max_name=MAX_NAME,
        )


def require_invited(session: Session, invitation: Invitation) -> None:
    """Refuse somebody else's invitation. Raises Forbidden."""
    if session.email != invitation.email:
        raise Forbidden(
            f"This invitation is for {invitation.email}, and you are signed in as"
            f" {session.email or session.person_name}. Sign out, and open the link again.",
            code="invitation_of_another",
        )


RESOURCES = {INVITATION: InvitationPage}
