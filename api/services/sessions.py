"""Sessions: the signed-in reader of a request, by cookie."""

import hmac
from datetime import timedelta
from urllib.parse import quote
from uuid import UUID

import falcon
import falcon.asgi

from api.http.address import Network, client_address
from api.http.cookies import Cookies
from api.http.request_context import context_of
from api.services.permissions import SAFE_METHODS, require_role
from pipeline.accounts.audit import Action
from pipeline.accounts.sessions import (
    Person,
    Session,
    begin_session,
    end_session,
    find_session,
    make_token,
    move_session,
)
from pipeline.database import AsyncDatabase
from pipeline.errors import Forbidden
from pipeline.notices.outbox import tell_of_sign_in
from pipeline.settings.settings import DashboardSettings

COOKIE = "pressroom_session"
CSRF_HEADER = "X-CSRF-Token"
SIGN_IN = "/dashboard/sign-in"
SIGN_OUT = "/dashboard/sign-out"
#: The page to add a second factor. A person who lacks one that the account requires can open no other page.
FACTORS = "/dashboard/account/factors"
#: Longest time since the sign-in for changes that a stranger at an open browser must not make.
RECENTLY = timedelta(hours=1)
#: A token has 43 characters; longer ones are not looked up.
MAX_TOKEN_LENGTH = 64


class CsrfTokenInvalid(Forbidden):
    """A request with the cookie may come from another site's page."""

    code = "csrf_token_invalid"
    field = "X-CSRF-Token"
    message = (
        f"To change something with the dashboard's cookie, send the page's CSRF token as {CSRF_HEADER}. "
        "Reload the page and try again."
    )


class FactorMissing(Forbidden):
    """The account needs a second factor, and the person has none."""

    code = "second_factor_missing"
    message = f"Your account needs a second factor. Add one at {FACTORS}."


class SignInTooOld(Forbidden):
    """The session was begun too long ago for what is asked for."""

    code = "sign_in_too_old"
    message = f"For this, sign in again: the dashboard's cookie does for an hour. {SIGN_IN}?again=yes"


class Sessions:
    """Finds, begins and ends sessions."""

    def __init__(
        self, database: AsyncDatabase, settings: DashboardSettings, cookies: Cookies, proxies: list[Network]
    ) -> None:
        self._database = database
        self._cookies = cookies
        self._proxies = proxies
        self._idle = timedelta(hours=settings.session_idle_hours)
        self._lasts = timedelta(days=settings.session_days)

    @property
    def idle(self) -> timedelta:
        """Longest time without use."""
        return self._idle

    async def find(self, req: falcon.asgi.Request) -> Session | None:
        """Return the session of a request, or None; looked up once."""
        if not hasattr(req.context, "session"):
            context = context_of(req)
            req.context.session = await self._look_up(self._cookies.read(req, COOKIE))
            if req.context.session is not None:
                context.caller = req.context.session.caller
        found: Session | None = req.context.session
        return found

    async def require(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> Session:
        """Return the session of a request. Raises HTTPSeeOther to the sign-in page without one.

        A person who lacks a required second factor is redirected to add it."""
        session = await self.find(req)
        if session is None:
            self._cookies.delete(req, resp, COOKIE)  # its session has ended
            wanted = req.relative_uri if req.method in SAFE_METHODS else "/dashboard"
            raise falcon.HTTPSeeOther(f"{SIGN_IN}?next={quote(wanted, safe='/')}")
        if session.lacks_factor and req.path != SIGN_OUT and not req.path.startswith(FACTORS):
            raise falcon.HTTPSeeOther(FACTORS)
        return session

    async def require_recent(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, *, back: str, within: timedelta = RECENTLY
    ) -> Session:
        """Return the session of who has signed in lately. Raises HTTPSeeOther: they sign in again and get to `back`."""
        session = await self.require(req, resp)
        if session.proven_ago > within:
            raise falcon.HTTPSeeOther(f"{SIGN_IN}?again=yes&next={quote(back, safe='/')}")
        return session

    async def require_operator(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> Session:
        """Return the session of an operator. Raises HTTPSeeOther, Forbidden."""
        session = await self.require(req, resp)
        if not session.is_operator:
            message = "This page is for owners of operators' accounts. `pressroom accounts operator ACCOUNT` makes one."
            raise Forbidden(message, code="operators_only")
        return session

    async def of_api_request(self, req: falcon.asgi.Request) -> Session | None:
        """Return the session of an API request without a key, or None.

        Raises CsrfTokenInvalid, RoleInsufficient, FactorMissing."""
        session = await self.find(req)
        if session is None:
            return None
        if session.lacks_factor:
            raise FactorMissing
        require_role(session, req.method, context_of(req).route)
        if req.method not in SAFE_METHODS:
            check_csrf_token(session.csrf_token, req.get_header(CSRF_HEADER) or "")
        return session

    def check_recent(self, req: falcon.asgi.Request) -> None:
        """Raise SignInTooOld for an API request by a session that is not a recent one."""
        session: Session | None = getattr(req.context, "session", None)
        if session is not None and session.proven_ago > RECENTLY:
            raise SignInTooOld

    async def begin(
        self,
        req: falcon.asgi.Request,
        resp: falcon.asgi.Response,
        person_id: UUID,
        account_id: UUID,
        *,
        checked: Person | None = None,
        action: Action = Action.SIGNED_IN,
    ) -> bool:
        """Sign a person in with a new token, as the old one may be somebody else's.

        Returns false if the person changed since they were `checked`."""
        await self.end(req, resp)
        token, browser = make_token(), name_browser(req.user_agent or "")
        beginning = begin_session(
            person_id,
            account_id,
            token,
            lasts=self._lasts,
            checked=checked,
            action=action,
            browser=browser,
            address=client_address(req, self._proxies),
        )
        telling = tell_of_sign_in(account_id, person_id, browser)
        begun: bool = (await self._database.run_together([beginning, telling]))[0]
        if begun:
            self._cookies.write(req, resp, COOKIE, token, lasts=self._lasts)
        return begun

    async def move(self, session: Session, account_id: UUID) -> bool:
        """Go on in another account of the session's person; false if they may not open it."""
        return await self._database.run(move_session(session.token_hash, session.person_id, account_id))

    async def end(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self.find(req)
        if session is not None:
            await self._database.run(end_session(session.token_hash, session.caller.actor))
        req.context.session = None
        self._cookies.delete(req, resp, COOKIE)

    async def _look_up(self, token: str | None) -> Session | None:
        if token is None or len(token) > MAX_TOKEN_LENGTH:
            return None
        return await self._database.run(find_session(token, idle=self._idle))


def check_csrf_token(expected: str, sent: str) -> None:
    if not hmac.compare_digest(expected.encode(), sent.encode("utf-8", "replace")):
        raise CsrfTokenInvalid


#: By the first word that the header has, since browsers name those that they resemble as well.
_BROWSERS = {
    "Edg": "Edge", "OPR/": "Opera", "Firefox/": "Firefox", "FxiOS/": "Firefox", "CriOS/": "Chrome",
    "Chrome/": "Chrome", "Safari/": "Safari", "Mozilla/": "Another browser",
}  # fmt: skip
_SYSTEMS = {
    "Android": "Android", "iPhone": "iOS", "iPad": "iPadOS", "CrOS": "ChromeOS",
    "Windows": "Windows", "Mac OS X": "macOS", "Linux": "Linux",
}  # fmt: skip


def name_browser(user_agent: str) -> str:
    """Return a browser's family and system, as in "Firefox on Linux"; the header may lie."""
    browser = next((name for mark, name in _BROWSERS.items() if mark in user_agent), "A program")
    system = next((name for mark, name in _SYSTEMS.items() if mark in user_agent), "")
    return f"{browser} on {system}" if system else browser
