"""Gate: passwords and links, checked; attempts counted before, and hashes made a few at a time."""

import asyncio
import hashlib
from datetime import timedelta
from typing import Any

import falcon.asgi

from api.http.address import counted_address
from api.services.services import Services
from pipeline.accounts.passwords import is_password
from pipeline.accounts.sessions import EmailInvalid, Owner, find_owner, find_owner_by_id, read_email
from pipeline.accounts.sign_in import set_password, use_link
from pipeline.database import Statement
from pipeline.errors import Forbidden, InvalidRequest, RateLimitExceeded, ServiceUnavailable
from pipeline.limits.counts import SharedCounts, Use
from pipeline.wakes.redis_away import REDIS_AWAY

#: Hashes at once in a process: each takes 64 MiB, and a core.
AT_ONCE = 2


class NotSignedIn(Forbidden):
    """The sign-in failed; the answer doesn't say whether the e-mail or the password was wrong."""

    code = "sign_in_refused"


class Gate:
    """Says who may come in."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._counts = SharedCounts(services.client)
        self._hashing = asyncio.Semaphore(AT_ONCE)

    async def by_password(self, req: falcon.asgi.Request, email: str, password: str) -> Owner:
        """Return whose e-mail and password these are. Raises NotSignedIn, RateLimitExceeded, ServiceUnavailable."""
        try:
            email = read_email(email)
        except EmailInvalid:
            email = ""  # nobody has it; it is counted and takes as long as any other
        await self._admit(self._address(req), f"email {email}")
        owner = await self._services.database.run(find_owner(email))
        if not await self._is_password(password, owner) or owner is None:
            raise NotSignedIn("E-mail and password don't belong together. Check both and try again.")
        return _admitted(owner)

    async def by_link(self, req: falcon.asgi.Request, token: str) -> Owner:
        """Use a link up, and return whom it signs in. Raises NotSignedIn, RateLimitExceeded, ServiceUnavailable."""
        await self._admit(self._address(req))
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
        await self._admit(self._address(req), f"account {owner.account_id}")
        if not await self._is_password(password, owner):
            raise InvalidRequest("This is not your current password.", code="password_wrong")

    async def owner(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> Owner:
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

    async def _admit(self, *names: str) -> None:
        """Count one attempt for each name, such as an address. Raises RateLimitExceeded, ServiceUnavailable."""
        settings = self._services.settings.dashboard
        per_minute, per_day = settings.sign_ins_per_minute, settings.sign_ins_per_day
        for name in names:
            key = f"sign-in:{hashlib.sha256(name.encode()).hexdigest()}"
            try:
                count = await self._counts.use(Use(key, per_minute, per_day, 1))
            except REDIS_AWAY as error:
                raise ServiceUnavailable(
                    "Sign-in is closed while attempts can't be counted. Try again in a few seconds.",
                    code="sign_in_unavailable",
                    retry_after=timedelta(seconds=5),
                ) from error
            if not count.minute_admitted:
                raise RateLimitExceeded(
                    f"There were {per_minute:,} attempts to sign in within a minute. Try again in a minute.",
                    code="too_many_sign_ins",
                    retry_after=timedelta(minutes=1),
                )
            if not count.day_admitted:
                raise RateLimitExceeded(
                    f"There were {per_day:,} attempts to sign in today. Try again tomorrow, or have an operator make a "
                    "link with `pressroom accounts sign-in-link`.",
                    code="too_many_sign_ins",
                    retry_after=timedelta(hours=1),
                )

    def _address(self, req: falcon.asgi.Request) -> str:
        return f"address {counted_address(req, self._services.proxies)}"


def _admitted(owner: Owner) -> Owner:
    if owner.is_suspended:
        raise NotSignedIn("This account is suspended. Contact the operator of this service.", code="account_suspended")
    return owner
