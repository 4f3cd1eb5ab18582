"""Sign in: by e-mail and password, or by a link that does so once."""

from datetime import timedelta

import falcon
import falcon.asgi

from api.dashboard.entry.gate import Gate, NotSignedIn
from api.dashboard.forms import Form, read_form_with
from api.dashboard.rendering import HOME, redirect, render
from api.services.resource import Resource
from api.services.services import Services
from api.services.sessions import SIGN_IN, CsrfTokenInvalid
from pipeline.accounts.sessions import Person, csrf_token_of, make_token

IS_PUBLIC = True
LINK = f"{SIGN_IN}/link"
ACCOUNT = "/dashboard/account"
#: A browser that is not signed in yet; sign-in forms belong to it, so that other sites can't send them.
VISITOR_COOKIE = "pressroom_visitor"
VISITOR_LASTS = timedelta(hours=12)


class _SigningIn(Resource):
    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self._gate = Gate(services)

    def _form_token(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> str:
        """Return the token for a form, of the visitor's cookie, which is set where there is none."""
        cookies = self._services.cookies
        visitor = cookies.read(req, VISITOR_COOKIE)
        if visitor is None:
            visitor = make_token()
            cookies.write(req, resp, VISITOR_COOKIE, visitor, lasts=VISITOR_LASTS)
        return csrf_token_of(visitor)

    async def _read_form(self, req: falcon.asgi.Request) -> Form:
        visitor = self._services.cookies.read(req, VISITOR_COOKIE)
        if visitor is None:
            raise CsrfTokenInvalid
        return await read_form_with(req, csrf_token_of(visitor))

    async def _begin(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, person: Person) -> None:
        """Sign in who was let in. Raises NotSignedIn where they have another password by now."""
        if not await self._services.sessions.begin(req, resp, person.id, person.account_id, checked=person):
            raise NotSignedIn("Your account has just been changed. Sign in again.")


class SignIn(_SigningIn):
    """GET and POST /dashboard/sign-in."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        wanted = safe_path(req.get_param("next"))
        if await self._services.sessions.find(req) is not None:
            redirect(req, resp, wanted)
            return
        await self._show(req, resp, wanted)

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        form = await self._read_form(req)
        wanted = safe_path(form.text("next"))
        try:
            # Not form.text: spaces around a password belong to it.
            person = await self._gate.by_password(req, form.text("email"), form.get("password", [""])[-1])
            await self._begin(req, resp, person)
        except NotSignedIn as error:
            resp.status = falcon.HTTP_403
            await self._show(req, resp, wanted, email=form.text("email"), error=error.message)
            return
        redirect(req, resp, wanted)

    async def _show(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, wanted: str, *, email: str = "", error: str = ""
    ) -> None:
        form_token = self._form_token(req, resp)
        await render(req, resp, "sign_in.html", form_token=form_token, next=wanted, email=email, error=error)


class SignInByLink(_SigningIn):
    """GET and POST /dashboard/sign-in/link: the token is in the query string, which no log of ours has."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        form_token, token = self._form_token(req, resp), req.get_param("token") or ""
        await render(req, resp, "sign_in_link.html", form_token=form_token, token=token)

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        form = await self._read_form(req)
        person = await self._gate.by_link(req, form.text("token"))
        await self._begin(req, resp, person)
        if person.password_hash is None:
            redirect(req, resp, ACCOUNT, "Welcome. Choose an e-mail and a password to sign in again.")
        else:
            redirect(req, resp, HOME)


RESOURCES = {SIGN_IN: SignIn, LINK: SignInByLink}


def safe_path(path: str | None) -> str:
    """Return a path of the dashboard; anything else may lead to another site, and is the first page instead."""
    is_ours = path is not None and (path == HOME or path.startswith((f"{HOME}/", f"{HOME}?")))
    if path is None or not is_ours or not path.isascii() or not path.isprintable() or "\\" in path:
        return HOME
    return path
