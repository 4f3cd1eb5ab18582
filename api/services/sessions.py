"""Sessions: the signed-in reader of a request, by cookie."""

import hmac
from datetime import timedelta
from urllib.parse import quote
from uuid import UUID

import falcon
import falcon.asgi

from api.http.cookies import Cookies
from api.http.request_context import context_of
from pipeline.accounts.sessions import Person, Session, begin_session, end_session, find_session, make_token
from pipeline.database import AsyncDatabase
from pipeline.errors import Forbidden
from pipeline.settings.settings import DashboardSettings

COOKIE = "pressroom_session"
CSRF_HEADER = "X-CSRF-Token"
SIGN_IN = "/dashboard/sign-in"
#: A token has 43 characters; longer ones are not looked up.
MAX_TOKEN_LENGTH = 64
#: Methods that change nothing.
SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))


class CsrfTokenInvalid(Forbidden):
    """A request with the cookie may come from another site's page."""

    code = "csrf_token_invalid"
    field = "X-CSRF-Token"
    message = (
        f"To change something with the dashboard's cookie, send the page's CSRF token as {CSRF_HEADER}. "
        "Reload the page and try again."
    )


class Sessions:
    """Finds, begins and ends sessions."""

    def __init__(self, database: AsyncDatabase, settings: DashboardSettings, cookies: Cookies) -> None:
        self._database = database
        self._cookies = cookies
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
        """Return the session of a request. Raises HTTPSeeOther to the sign-in page without one."""
        session = await self.find(req)
        if session is None:
            self._cookies.delete(req, resp, COOKIE)  # its session has ended
            wanted = req.relative_uri if req.method in SAFE_METHODS else "/dashboard"
            raise falcon.HTTPSeeOther(f"{SIGN_IN}?next={quote(wanted, safe='/')}")
        return session

    async def require_operator(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> Session:
        """Return the session of an operator. Raises HTTPSeeOther, Forbidden."""
        session = await self.require(req, resp)
        if not session.is_operator:
            message = "This page is for owners of operators' accounts. `pressroom accounts operator ACCOUNT` makes one."
            raise Forbidden(message, code="operators_only")
        return session

    async def of_api_request(self, req: falcon.asgi.Request) -> Session | None:
        """Return the session of an API request without a key, or None. Raises CsrfTokenInvalid."""
        session = await self.find(req)
        if session is not None and req.method not in SAFE_METHODS:
            check_csrf_token(session.csrf_token, req.get_header(CSRF_HEADER) or "")
        return session

    async def begin(
        self,
        req: falcon.asgi.Request,
        resp: falcon.asgi.Response,
        person_id: UUID,
        account_id: UUID,
        *,
        checked: Person | None = None,
    ) -> bool:
        """Sign a person in with a new token, as the old one may be somebody else's.

        Returns false if the person changed since they were `checked`."""
        await self.end(req, resp)
        token = make_token()
        beginning = begin_session(person_id, account_id, token, lasts=self._lasts, checked=checked)
        begun = await self._database.run(beginning)
        if begun:
            self._cookies.write(req, resp, COOKIE, token, lasts=self._lasts)
        return begun

    async def end(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self.find(req)
        if session is not None:
            await self._database.run(end_session(session.token_hash))
        req.context.session = None
        self._cookies.delete(req, resp, COOKIE)

    async def _look_up(self, token: str | None) -> Session | None:
        if token is None or len(token) > MAX_TOKEN_LENGTH:
            return None
        return await self._database.run(find_session(token, idle=self._idle))


def check_csrf_token(expected: str, sent: str) -> None:
    if not hmac.compare_digest(expected.encode(), sent.encode("utf-8", "replace")):
        raise CsrfTokenInvalid
