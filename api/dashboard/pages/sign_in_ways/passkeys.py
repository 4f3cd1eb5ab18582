"""Passkeys: what a browser is asked to prove, and signing in by a passkey alone."""

import falcon.asgi

from api.dashboard.entry.factor_checks import FactorChecks, new_challenge
from api.dashboard.entry.gate import NotSignedIn
from api.dashboard.entry.signing_in import SigningIn, safe_path
from api.dashboard.rendering import redirect
from api.services.services import Services
from api.services.sessions import SIGN_IN
from pipeline.accounts.sessions import find_person_by_id
from pipeline.factors import steps
from pipeline.factors.passkeys import list_passkeys

PASSKEY = f"{SIGN_IN}/passkey"


class _Passkeys(SigningIn):
    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._checks = FactorChecks(services)


class PasskeyOptions(_Passkeys):
    """POST /dashboard/sign-in/passkey/options: a challenge, for the second step where one is open."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        await self._read_form(req)
        await self._gate.admit(req)
        challenge = new_challenge()
        content = {"challenge": challenge.hex()}
        step = await self._steps.find(req, "second")
        known = []
        if step is None or step.person_id is None:
            await self._steps.begin(req, resp, "passkey", content)
        else:
            known = await self._services.database.run(list_passkeys(step.person_id))
            await self._services.database.run(steps.add_to_step(self._steps.token(req), "second", content))
        resp.content_type = falcon.MEDIA_JSON
        resp.text = self._checks.party(req).request_options(known, challenge)


class SignInByPasskey(_Passkeys):
    """POST /dashboard/sign-in/passkey: it has verified its user, so there is no second step."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        form = await self._read_form(req)
        step = await self._steps.take(req, resp, "passkey")
        person_id = await self._checks.check_passkey(req, form.text("credential"), step)
        person = await self._services.database.run(find_person_by_id(person_id))
        if person is None:
            raise NotSignedIn("You no longer have an account here.")
        await self._begin(req, resp, await self._in_same_account(req, person))
        redirect(req, resp, safe_path(form.text("next")))


RESOURCES = {PASSKEY: SignInByPasskey, f"{PASSKEY}/options": PasskeyOptions}
