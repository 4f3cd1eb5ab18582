"""Provider: to the operator's OpenID provider and back, to sign in, or to link it with who is signed in."""

from dataclasses import replace
from uuid import UUID

import falcon.asgi

from api.dashboard.entry.factor_checks import address_of
from api.dashboard.entry.gate import NotSignedIn
from api.dashboard.entry.signing_in import SigningIn, safe_path
from api.dashboard.forms import read_form
from api.dashboard.rendering import redirect, render
from api.services.services import Services
from api.services.sessions import FACTORS, SIGN_IN
from pipeline.accounts.audit import Action, Actor, noted
from pipeline.accounts.sessions import EmailInvalid, Person, find_person, find_person_by_id, read_email
from pipeline.accounts.sign_in import set_password
from pipeline.errors import NotFound
from pipeline.factors.held import has_factor
from pipeline.factors.providers import Identity, Provider, count_identities, find_identity, link_identity
from pipeline.factors.steps import Step

PROVIDER = f"{SIGN_IN}/provider"
RETURN = f"{PROVIDER}/return"


class _AtProvider(SigningIn):
    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._provider = Provider(services.settings)


class ToProvider(_AtProvider):
    """POST /dashboard/sign-in/provider: a page that leads on, since the policy lets no form be sent elsewhere."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        form = await self._read_form(req)
        await self._gate.admit(req)
        await self._leave(req, resp, safe_path(form.text("next")))

    async def _leave(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, wanted: str, person_id: UUID | None = None
    ) -> None:
        if not self._provider.name:
            raise NotFound("No OpenID provider is set. PRESSROOM_OIDC__ISSUER names one.")
        departure = await self._provider.depart(f"{address_of(self._services, req)}{RETURN}")
        await self._steps.begin(req, resp, "provider", {**departure.kept, "next": wanted}, person_id)
        await render(req, resp, "provider.html", url=departure.url, name=self._provider.name)


class LinkProvider(ToProvider):
    """POST /dashboard/sign-in/provider/link: for who is signed in."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require_recent(req, resp, back=FACTORS)
        await read_form(req, session)
        await self._gate.admit(req)
        await self._leave(req, resp, FACTORS, session.person_id)


class FromProvider(_AtProvider):
    """GET /dashboard/sign-in/provider/return."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        step = await self._steps.take(req, resp, "provider")  # used up first, whatever the answer is
        answer = {name: value for name in ("state", "code", "iss", "error") if (value := req.get_param(name))}
        identity = await self._provider.arrive(answer, step.content)
        if step.person_id is not None:
            await self._link(req, resp, step, identity)
            return
        person = await self._whose(identity)
        if person is None:
            raise NotSignedIn(
                f"No person here is linked to this identity at {self._provider.name}. Sign in another way, and link it"
                " on your page Account."
            )
        await self._let_in(req, resp, await self._in_same_account(req, person), step.content["next"])

    async def _link(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, step: Step, identity: Identity) -> None:
        session = await self._services.sessions.require(req, resp)
        if session.person_id != step.person_id:
            raise NotSignedIn("Somebody else has signed in here meanwhile. Start again.")
        linking = link_identity(session.person_id, identity.issuer, identity.subject)
        actor = session.caller.actor
        if not await self._services.database.run(noted(linking, actor, Action.PROVIDER_LINKED, identity.subject)):
            redirect(req, resp, FACTORS, "Somebody else here, or you, is linked with another identity.", "bad")
            return
        redirect(req, resp, FACTORS, f"You can now sign in with {self._provider.name}.")

    async def _whose(self, identity: Identity) -> Person | None:
        """Return whom an identity is linked with, or may be by its e-mail: where the operator trusts its domain."""
        database = self._services.database
        linked = await database.run(find_identity(identity.issuer, identity.subject))
        if linked is not None:
            return await database.run(find_person_by_id(linked))
        try:
            email = read_email(identity.email or "")
        except EmailInvalid:
            return None
        if not email.isascii() or not self._provider.may_vouch_for(email):
            return None
        person = await database.run(find_person(email))
        if person is None:
            return None
        # A factor, or another identity, is worth more than an address: who has one links on the page.
        if await database.run(has_factor(person.id)) or await database.run(count_identities(person.id)) > 0:
            return None
        # The person who made this one may have chosen the password before the address was proven.
        linking = link_identity(person.id, identity.issuer, identity.subject)
        actor = Actor(person.account_id, person.id)
        linking = noted(linking, actor, Action.PROVIDER_LINKED, identity.subject, by_email=True)
        if not (await database.run_together([linking, *set_password(person.id, None)]))[0]:
            return None
        return replace(person, password_hash=None)


RESOURCES = {PROVIDER: ToProvider, f"{PROVIDER}/link": LinkProvider, RETURN: FromProvider}
