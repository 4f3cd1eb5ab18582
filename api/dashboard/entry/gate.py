"""Gate: passwords and links, checked; attempts counted before, and hashes made a few at a time."""

import asyncio
from typing import Any

import falcon.asgi

from api.dashboard.entry.sign_in_limits import SignInLimits
from api.http.address import counted_address
from api.services.services import Services
from pipeline.accounts.passwords import is_password
from pipeline.accounts.sessions import EmailInvalid, Owner, find_owner, find_owner_by_id, read_email
from pipeline.accounts.sign_in import set_password, use_link
from pipeline.database import Statement
from pipeline.errors import Forbidden, InvalidRequest

#: Hashes at once in a process: each takes 64 MiB, and a core.
AT_ONCE = 2


class NotSignedIn(Forbidden):
    """The sign-in failed; the answer doesn't say whether the e-mail or the password was wrong."""

    code = "sign_in_refused"


class Gate:
    """Says who may come in."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._limits = SignInLimits(services.client, services.settings.dashboard)
        self._hashing = asyncio.Semaphore(AT_ONCE)

    async def by_password(self, req: falcon.asgi.Request, email: str, password: str) -> Owner:
        """Return whose e-mail and password these are. Raises NotSignedIn, TooManySignIns, SignInUnavailable."""
        try:
            email = read_email(email)
        except EmailInvalid:
            email = ""  # nobody has it; it is counted and takes as long as any other
        await self._limits.admit(self._address(req), f"email {email}")
        owner = await self._services.database.run(find_owner(email))
        if not await self._is_password(password, owner) or owner is None:
            raise NotSignedIn("E-mail and password don't belong together. Check both and try again.")
        return _admitted(owner)

    async def by_link(self, req: falcon.asgi.Request, token: str) -> Owner:
        """Use a link up, and return whom it signs in. Raises NotSignedIn, TooManySignIns, SignInUnavailable."""
        await self._limits.admit(self._address(req))
        owner = await self._services.database.run(use_link(token))
        if owner is None:
            raise NotSignedIn(
                "This link was used or has expired. `pressroom accounts sign-in-link ACCOUNT` prints another."
            )
        return _admitted(owner)

    async def check_password(self, req: falcon.asgi.Request, owner: Owner, password: str) -> None:
        """Check the password of who is signed in; one who has none yet passes. Raises InvalidRequest."""
        if owner.password_hash is None:
            return
        await self._limits.admit(self._address(req), f"account {owner.account_id}")
        if not await self._is_password(password, owner):
            raise InvalidRequest("This is not your current password.", code="password_wrong")

    async def owner(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> Owner:
        """Return who is signed in. Raises NotSignedIn."""
        session = await self._services.sessions.require(req, resp)
        owner = await self._services.database.run(find_owner_by_id(session.account_id))
        if owner is None:
            raise NotSignedIn("This account no longer exists.")
        return owner

    async def new_password(self, owner: Owner, password: str) -> list[Statement[Any]]:
        """Return what sets a password and signs all browsers out, for one transaction. Raises PasswordInvalid."""
        async with self._hashing:
            return await asyncio.to_thread(set_password, owner.account_id, password)

    async def _is_password(self, password: str, owner: Owner | None) -> bool:
        password_hash = owner.password_hash if owner else None
        async with self._hashing:
            return await asyncio.to_thread(is_password, password, password_hash)

    def _address(self, req: falcon.asgi.Request) -> str:
        return f"address {counted_address(req, self._services.proxies)}"


def _admitted(owner: Owner) -> Owner:
    if owner.is_suspended:
        raise NotSignedIn("This account is suspended. Contact the operator of this service.", code="account_suspended")
    return owner
