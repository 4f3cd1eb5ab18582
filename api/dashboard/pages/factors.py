"""Factors: a person's authenticator app, passkeys, recovery codes and identity at the provider."""

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

import falcon
import falcon.asgi
import segno

from api.dashboard.entry.factor_checks import FactorChecks, new_challenge
from api.dashboard.entry.signing_in import StepCookie
from api.dashboard.forms import Form, read_form, read_hex
from api.dashboard.rendering import redirect, render
from api.services.resource import Resource
from api.services.services import Services
from api.services.sessions import FACTORS as PATH
from api.services.sessions import RECENTLY
from pipeline.accounts.audit import Action, noted
from pipeline.accounts.roles import Role
from pipeline.accounts.secret_box import SecretBox
from pipeline.accounts.sessions import Session
from pipeline.database import Statement
from pipeline.errors import Conflict, Forbidden, InvalidRequest, NotFound, PressroomError
from pipeline.factors import passkeys, providers, recovery, totp
from pipeline.factors.held import has_factor, lock_person, require_factors, stop_sign_ins

#: Time since a sign-in within which a person may remove a factor.
LATELY = timedelta(minutes=10)
#: Acts that take something away.
TAKING = frozenset(("app-remove", "passkey-remove", "codes"))
APP = "authenticator app"
ONLY_WAY = "You have no other way to sign in. Choose a password on the page Account first."
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Change:
    """A change to make, and the sentence for it once it is made.

    `refusal` is raised where it changes nothing. A person with a factor and no recovery codes gets `codes`."""

    statement: Statement[Any]
    text: str
    refusal: PressroomError | None = None
    codes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Asked:
    """A form that was sent, and by whom."""

    req: falcon.asgi.Request
    resp: falcon.asgi.Response
    session: Session
    form: Form

    @property
    def person_id(self) -> UUID:
        return self.session.person_id

    def noted(self, change: Statement[Result], action: Action, subject: str = "") -> Statement[Result]:
        return noted(change, self.session.caller.actor, action, subject)


class FactorsPage(Resource):
    """GET /dashboard/account/factors."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        await show(self._services, req, resp)


class FactorChange(Resource):
    """POST /dashboard/account/factors/{act}: one of the page's forms. A change ends the person's other sessions.

    Each act returns its change, or None where it has answered by itself, and raises PressroomError."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._checks = FactorChecks(services)
        self._steps = StepCookie(services)
        self._acts = {
            "app": self._begin_app,
            "app-confirm": self._confirm_app,
            "app-remove": self._remove_app,
            "passkey-options": self._begin_passkey,
            "passkey": self._add_passkey,
            "passkey-remove": self._remove_passkey,
            "codes": self._renew_codes,
            "provider-remove": self._remove_provider,
            "requirement": self._require,
        }

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, act: str) -> None:
        if act not in self._acts:
            raise NotFound(f"There is no form {act!r} on this page.")
        within = LATELY if act in TAKING else RECENTLY
        session = await self._services.sessions.require_recent(req, resp, within=within, back=PATH)
        asked = Asked(req, resp, session, await read_form(req, session))
        try:
            change = await self._acts[act](asked)
            if change is None:
                return
            codes = await self._carry_out(session, change)
        except PressroomError as error:
            redirect(req, resp, PATH, error.message, "bad")
            return
        if codes:
            await show(self._services, req, resp, codes=codes, done=change.text)
        else:
            redirect(req, resp, PATH, change.text)

    async def _carry_out(self, session: Session, change: Change) -> list[str]:
        """Make a change, settle the recovery codes and end other sessions, together; return new codes."""
        person_id = session.person_id
        _, is_made, *_, has_new_codes = await self._services.database.run_together(
            [
                lock_person(person_id),
                change.statement,
                *stop_sign_ins(person_id, but=session.token_hash),
                *recovery.settle_codes(person_id, change.codes, session.caller.actor),
            ]
        )
        if not is_made and change.refusal:
            raise change.refusal
        return change.codes if has_new_codes else []

    async def _begin_app(self, asked: Asked) -> None:
        """Show a new secret, which a code has to confirm."""
        secret = totp.new_secret()
        sealed = await asyncio.to_thread(SecretBox(self._services.settings).seal, secret.encode())
        if not await self._services.database.run(totp.begin_totp(asked.person_id, sealed)):
            raise Conflict("You have an authenticator app. Remove it before you add another.")
        await show(self._services, asked.req, asked.resp, secret=secret)

    async def _confirm_app(self, asked: Asked) -> Change:
        wrong = InvalidRequest("This code is wrong: the app was not added. Check your device's clock, and start again.")
        step = await self._checks.app_step(asked.person_id, asked.form.text("code"), confirmed=False)
        if step is None:
            raise wrong
        confirming = asked.noted(totp.use_totp_step(asked.person_id, step, confirms=True), Action.FACTOR_ADDED, APP)
        return Change(confirming, "The authenticator app was added.", wrong, recovery.make_codes())

    async def _remove_app(self, asked: Asked) -> Change:
        removing = asked.noted(totp.remove_totp(asked.person_id), Action.FACTOR_REMOVED, APP)
        return Change(removing, "The authenticator app was removed.")

    async def _begin_passkey(self, asked: Asked) -> None:
        """Tell the browser what it makes a passkey by."""
        challenge, known = new_challenge(), await self._services.database.run(passkeys.list_passkeys(asked.person_id))
        content = {"challenge": challenge.hex()}
        await self._steps.begin(asked.req, asked.resp, "new_passkey", content, asked.person_id)
        name = asked.session.email or asked.session.person_name
        asked.resp.content_type = falcon.MEDIA_JSON
        asked.resp.text = self._checks.party(asked.req).creation_options(asked.person_id, name, known, challenge)

    async def _add_passkey(self, asked: Asked) -> Change:
        step = await self._steps.take(asked.req, asked.resp, "new_passkey")
        if step.person_id != asked.person_id:
            raise Forbidden("Somebody else has begun this. Start again.")
        made = self._checks.check_new_passkey(asked.req, asked.form.text("credential"), step)
        name = asked.form.text("name")[: passkeys.MOST_NAME_LENGTH] or "Passkey"
        adding = passkeys.add_passkey(asked.person_id, made, name)
        many = Conflict(f"This passkey is here already, or you have {passkeys.MOST}, the most. Remove one first.")
        noting = asked.noted(adding, Action.FACTOR_ADDED, f"passkey {name}")
        return Change(noting, "The passkey was added.", many, recovery.make_codes())

    async def _remove_passkey(self, asked: Asked) -> Change:
        removing = passkeys.remove_passkey(asked.person_id, read_hex(asked.form.text("id")))
        noting = asked.noted(removing, Action.FACTOR_REMOVED, "passkey")
        gone = InvalidRequest("You no longer have this passkey, or no other way to sign in. Choose a password first.")
        return Change(noting, "The passkey was removed.", gone)

    async def _renew_codes(self, asked: Asked) -> Change:
        if not await self._services.database.run(has_factor(asked.person_id)):
            raise Conflict("Recovery codes stand in for a factor. Add an authenticator app or a passkey first.")
        text = "Here are new recovery codes. The old ones no longer work."
        return Change(recovery.remove_codes(asked.person_id), text, codes=recovery.make_codes())

    async def _remove_provider(self, asked: Asked) -> Change:
        removing = asked.noted(providers.unlink_identities(asked.person_id), Action.PROVIDER_UNLINKED)
        return Change(removing, "The link with the provider was removed.", Conflict(ONLY_WAY))

    async def _require(self, asked: Asked) -> Change:
        """Let an owner say whether everybody needs a second factor."""
        if asked.session.role is not Role.OWNER:
            raise Forbidden("Only owners of the account can set this.")
        needed = asked.form.is_ticked("needed")
        requiring = require_factors(asked.session.account_id, needed=needed)
        text = "Everybody needs a second factor now." if needed else "A second factor is up to each person."
        return Change(asked.noted(requiring, Action.FACTOR_REQUIRED, "yes" if needed else "no"), text)


async def show(
    services: Services,
    req: falcon.asgi.Request,
    resp: falcon.asgi.Response,
    *,
    secret: str = "",
    codes: list[str] | None = None,
    done: str = "",
) -> None:
    """Show the page, with the secret of a new app or with new codes, which are shown once."""
    session = await services.sessions.require(req, resp)
    run, person = services.database.run, session.person_id
    app = await run(totp.find_totp(person))
    uri = totp.enrolment_uri(secret, session.email or session.person_name) if secret else ""
    await render(
        req,
        resp,
        "factors.html",
        has_app=app is not None and app.is_confirmed,
        passkeys=await run(passkeys.list_passkeys(person)),
        codes_left=await run(recovery.count_codes(person)),
        linked=await run(providers.count_identities(person)),
        provider=services.settings.oidc.name if services.settings.oidc.issuer else "",
        secret=secret,
        picture=segno.make(uri).svg_data_uri(scale=5, dark="#000", light="#fff") if uri else "",
        codes=codes or [],
        done=done,
    )


RESOURCES = {PATH: FactorsPage, f"{PATH}/{{act}}": FactorChange}
