"""Members: the people of an account with their roles, and invitations of others."""

from datetime import timedelta

import falcon.asgi

from api.dashboard.forms import Form, read_form
from api.dashboard.members import change_role, read_role, remove
from api.dashboard.pages.links.invitation import INVITATION
from api.dashboard.rendering import NavigationSection, Page, redirect, render
from api.http.address import base_url
from api.services.resource import Resource
from pipeline.accounts.people import invite, list_invitations, list_people, withdraw
from pipeline.accounts.roles import Role
from pipeline.accounts.sessions import Session, make_token, read_email
from pipeline.errors import Conflict, InvalidRequest, PressroomError

PAGE = Page("/dashboard/people", "People", NavigationSection.ACCOUNT, order=60, icon="users")
#: Each role in a sentence.
ROLES = {
    Role.VIEWER: "sees jobs, results and usage",
    Role.EDITOR: "does all work",
    Role.OWNER: "also manages people, keys, webhooks and sites",
}


class People(Resource):
    """GET and POST /dashboard/people."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        await self._show(req, resp)

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require_recent(req, resp, back=PAGE.path)
        form = await read_form(req, session)
        try:
            if form.text("change") == "invite":
                email, token = await self._invite(session, form)
                return await self._show(req, resp, invited=email, link=self._link(req, token))
            text = await self._change(session, form)
        except PressroomError as error:
            return redirect(req, resp, PAGE.path, error.message, "bad")
        return redirect(req, resp, PAGE.path, text)

    async def _invite(self, session: Session, form: Form) -> tuple[str, str]:
        """Invite somebody; return the e-mail and the link's token. Raises InvalidRequest, Conflict."""
        email, role, token = read_email(form.text("email")), read_role(form.text("role")), make_token()
        lasts = timedelta(days=self._services.settings.dashboard.invitation_days)
        *_, invited = await self._services.database.run_together(
            invite(session.caller.actor, email, role, token, lasts=lasts)
        )
        if not invited:
            message = f"{email} is in this account already, or you are no longer its owner."
            raise Conflict(message, code="person_is_member")
        return email, token

    async def _change(self, session: Session, form: Form) -> str:
        """Change a role, remove a person, or withdraw an invitation; return what was done. Raises PressroomError."""
        match form.text("change"):
            case "role":
                role = read_role(form.text("role"))
                member = await change_role(self._services, session, form.text("person"), role)
                return f"{member.email or member.name} is now {role}."
            case "remove":
                member = await remove(self._services, session, form.text("person"))
                return f"{member.email or member.name} was removed."
            case "withdraw":
                await self._services.database.run(withdraw(session.caller.actor, form.text("email")))
                return "The invitation was withdrawn."
            case other:
                raise InvalidRequest(f"There is no change {other[:20]!r}.")

    async def _show(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, *, invited: str = "", link: str = ""
    ) -> None:
        session = await self._services.sessions.require(req, resp)
        people, invitations = await self._services.database.run_together(
            [list_people(session.account_id), list_invitations(session.account_id)]
        )
        await render(
            req,
            resp,
            "people/people.html",
            people=people,
            invitations=invitations,
            roles=[(role.value, f"{role.value}: {words}") for role, words in ROLES.items()],
            invited=invited,
            link=link,
            hours=self._services.settings.dashboard.invitation_days * 24,
        )

    def _link(self, req: falcon.asgi.Request, token: str) -> str:
        address = self._services.settings.api.public_url or base_url(req, self._services.proxies)
        return f"{address.rstrip('/')}{INVITATION}?token={token}"


RESOURCES = {PAGE.path: People}
