"""Second step: a code of the authenticator app, a recovery code or a passkey, after the first factor."""

from dataclasses import replace
from uuid import UUID

import falcon
import falcon.asgi

from api.dashboard.entry.factor_checks import FactorChecks
from api.dashboard.entry.gate import NotSignedIn
from api.dashboard.entry.signing_in import SECOND_STEP, SigningIn
from api.dashboard.rendering import redirect, render
from api.services.services import Services
from api.services.sessions import SIGN_IN
from pipeline.accounts.audit import Action, Actor, note
from pipeline.accounts.sessions import Person, find_person_by_id
from pipeline.factors.passkeys import PasskeyRefused, list_passkeys
from pipeline.factors.steps import Step
from pipeline.factors.totp import find_totp


class SecondStep(SigningIn):
    """GET and POST /dashboard/sign-in/second."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._checks = FactorChecks(services)

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        step = await self._steps.find(req, "second")
        if step is None:
            redirect(req, resp, SIGN_IN)
            return
        await self._show(req, resp, step)

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        form = await self._read_form(req)
        step = await self._steps.find(req, "second")
        person = await self._person(step)
        if step is None or person is None:
            redirect(req, resp, SIGN_IN, "Your sign-in took too long. Start again.", "bad")
            return
        await self._gate.admit(req, f"second step {person.id}")
        try:
            if credential := form.text("credential"):
                await self._checks.check_passkey(req, credential, step, person.id)
            elif not await self._checks.is_code(person.id, form.text("code")):
                raise NotSignedIn("This code is wrong, or was used before. Wait for the next one.")
            await self._steps.take(req, resp, "second")
            await self._begin(req, resp, person)
        except (NotSignedIn, PasskeyRefused) as error:
            failed = note(Actor(person.account_id, person.id), Action.SIGN_IN_FAILED, "second step")
            await self._services.database.run(failed)
            resp.status = falcon.HTTP_403
            await self._show(req, resp, step, error=error.message)
            return
        redirect(req, resp, step.content["next"])

    async def _person(self, step: Step | None) -> Person | None:
        """Return the person of a step, as they were before the factor is checked."""
        if step is None or step.person_id is None:
            return None
        person = await self._services.database.run(find_person_by_id(step.person_id))
        return person and replace(person, account_id=UUID(step.content["account"]))

    async def _show(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, step: Step, *, error: str = "") -> None:
        if step.person_id is None:
            raise NotSignedIn("Start again.")
        totp = await self._services.database.run(find_totp(step.person_id))
        passkeys = await self._services.database.run(list_passkeys(step.person_id))
        await render(
            req,
            resp,
            "second_step.html",
            form_token=self._form_token(req, resp),
            has_app=totp is not None and totp.is_confirmed,
            has_passkeys=bool(passkeys),
            error=error,
        )


RESOURCES = {SECOND_STEP: SecondStep}
