"""Gate: passwords and links, checked; attempts counted before, and hashes made a few at a time."""

import asyncio
import hashlib
from datetime import timedelta
from typing import Any

import falcon.asgi

from api.http.address import counted_address
from api.services.services import Services
from pipeline.accounts.audit import Action, Actor, note
from pipeline.accounts.passwords import hash_password, is_password
from pipeline.accounts.sessions import EmailInvalid, Person, find_person, find_person_by_id, read_email
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
    """Checks who signs in."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._counts = SharedCounts(services.client)
        self._hashing = asyncio.Semaphore(AT_ONCE)
        self._noting: set[asyncio.Task[None]] = set()

    async def by_password(self, req: falcon.asgi.Request, email: str, password: str) -> Person:
        """Return the person by e-mail and password. Raises NotSignedIn, RateLimitExceeded, ServiceUnavailable."""
        try:
            email = read_email(email)
        except EmailInvalid:
            email = ""  # nobody has it; it is counted and takes as long as any other
        await self.admit(req, f"email {email}")
        person = await self._services.database.run(find_person(email))
        if not await self._is_password(password, person) or person is None:
            self._note_failure(person)
            raise NotSignedIn("E-mail and password don't belong together. Check both and try again.")
        return _admitted(person)

    async def by_link(self, req: falcon.asgi.Request, token: str) -> Person:
        """Use a link up, and return whom it signs in. Raises NotSignedIn, RateLimitExceeded, ServiceUnavailable."""
        await self.admit(req)
        person = await self._services.database.run(use_link(token))
        if person is None:
            raise NotSignedIn(
                "This link was used or has expired. `pressroom accounts sign-in-link ACCOUNT` prints another."
            )
        return _admitted(person)

    async def check_password(self, req: falcon.asgi.Request, person: Person, password: str) -> None:
        """Check the password of who is signed in, where there is one. Raises InvalidRequest, RateLimitExceeded."""
        await self.admit(req, f"person {person.id}")
        if person.password_hash is not None and not await self._is_password(password, person):
            raise InvalidRequest("This is not your current password.", code="password_wrong")

    async def person(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> Person:
        session = await self._services.sessions.require(req, resp)
        person = await self._services.database.run(find_person_by_id(session.person_id))
        if person is None:
            raise NotSignedIn("You no longer have an account here.")
        return person

    async def hashed(self, password: str) -> str:
        """Return the hash of a new person's password. Raises PasswordInvalid."""
        async with self._hashing:
            return await asyncio.to_thread(hash_password, password)

    async def new_password(self, person: Person, password: str) -> list[Statement[Any]]:
        """Return the statements that set a password and sign all browsers out. Raises PasswordInvalid."""
        async with self._hashing:
            return await asyncio.to_thread(set_password, person.id, password)

    def _note_failure(self, person: Person | None) -> None:
        """Note a wrong password, after the answer: waiting for it would tell that there is such a person."""
        if person is not None:
            noting = note(Actor(person.account_id, person.id), Action.SIGN_IN_FAILED)
            task = asyncio.create_task(self._services.database.run(noting))
            self._noting.add(task)
            task.add_done_callback(self._noting.discard)

    async def _is_password(self, password: str, person: Person | None) -> bool:
        password_hash = person.password_hash if person else None
        async with self._hashing:
            return await asyncio.to_thread(is_password, password, password_hash)

    async def admit(self, req: falcon.asgi.Request, *names: str) -> None:
        """Count one attempt for the address, and for each name. Raises RateLimitExceeded, ServiceUnavailable."""
        settings = self._services.settings.dashboard
        per_minute, per_day = settings.sign_ins_per_minute, settings.sign_ins_per_day
        for name in (self._address(req), *names):
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


def _admitted(person: Person) -> Person:
    if person.is_suspended:
        raise NotSignedIn("This account is suspended. Contact the operator of this service.", code="account_suspended")
    return person
