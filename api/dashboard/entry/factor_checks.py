"""Factor checks: codes and passkeys of a person, as a request proves them."""

import asyncio
import secrets
from uuid import UUID

import falcon.asgi

from api.http.address import base_url
from api.services.services import Services
from pipeline.accounts.secret_box import SecretBox
from pipeline.factors.passkeys import (
    CHALLENGE_BYTES,
    NewPasskey,
    PasskeyRefused,
    RelyingParty,
    credential_id,
    find_passkey,
    use_passkey,
)
from pipeline.factors.recovery import use_code
from pipeline.factors.steps import Step
from pipeline.factors.totp import find_totp, step_of, use_totp_step

CODE_LENGTH = 6


class FactorChecks:
    """Checks codes and passkeys; `Gate.admit` counts the attempts before."""

    def __init__(self, services: Services) -> None:
        self._database = services.database
        self._services = services

    async def is_code(self, person_id: UUID, text: str) -> bool:
        """Use up a code of the authenticator app, or a recovery code; return whether it was good.

        Raises SecretsUnavailable."""
        if not _is_of_app(text):
            return await self._database.run(use_code(person_id, text))
        step = await self.app_step(person_id, text, confirmed=True)
        return step is not None and await self._database.run(use_totp_step(person_id, step))

    async def app_step(self, person_id: UUID, text: str, *, confirmed: bool) -> int | None:
        """Return the time step of a code of a person's app, one that is confirmed or one that is not.

        Raises SecretsUnavailable."""
        secret = await self._open_secret(person_id, confirmed=confirmed) if _is_of_app(text) else None
        return step_of(secret, _digits(text)) if secret else None

    async def _open_secret(self, person_id: UUID, *, confirmed: bool) -> str | None:
        """Return the secret of a person's app; None where there is none that is confirmed, or that is not.

        Raises SecretsUnavailable."""
        totp = await self._database.run(find_totp(person_id))
        if totp is None or totp.is_confirmed is not confirmed:
            return None
        box = SecretBox(self._services.settings)
        return (await asyncio.to_thread(box.open, totp.secret)).decode()

    async def check_passkey(
        self, req: falcon.asgi.Request, credential: str, step: Step, person_id: UUID | None = None
    ) -> UUID:
        """Return the person whose passkey answers the challenge of a step. Raises PasskeyRefused.

        With `person_id` it has to be a passkey of theirs."""
        passkey = await self._database.run(find_passkey(credential_id(credential)))
        if passkey is None or person_id not in (None, passkey.person_id):
            raise PasskeyRefused("This passkey is not known here; it may have been removed. Choose another way.")
        count = self.party(req).check_request(credential, passkey, challenge_of(step))
        if not await self._database.run(use_passkey(passkey, count)):
            raise PasskeyRefused("This passkey has just been used elsewhere, or removed. Try again.")
        return passkey.person_id

    def check_new_passkey(self, req: falcon.asgi.Request, credential: str, step: Step) -> NewPasskey:
        """Return the passkey that a browser has made, by the challenge of its step. Raises PasskeyRefused."""
        return self.party(req).check_creation(credential, challenge_of(step))

    def party(self, req: falcon.asgi.Request) -> RelyingParty:
        return RelyingParty(address_of(self._services, req))


def _digits(text: str) -> str:
    return "".join(text.split())


def _is_of_app(text: str) -> bool:
    digits = _digits(text)
    return len(digits) == CODE_LENGTH and digits.isascii() and digits.isdigit()


def new_challenge() -> bytes:
    return secrets.token_bytes(CHALLENGE_BYTES)


def challenge_of(step: Step) -> bytes:
    """Return the challenge that a step waits for. Raises PasskeyRefused."""
    try:
        return bytes.fromhex(step.content["challenge"])
    except KeyError:
        raise PasskeyRefused("No passkey was asked for. Start again.") from None


def address_of(services: Services, req: falcon.asgi.Request) -> str:
    """Return the address that people open this service by."""
    return (services.settings.api.public_url or base_url(req, services.proxies)).rstrip("/")
