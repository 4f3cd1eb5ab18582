"""Sign in: by e-mail and password, or by a link that does so once."""

import falcon
import falcon.asgi

from api.dashboard.entry.gate import NotSignedIn
from api.dashboard.entry.signing_in import SigningIn, safe_path
from api.dashboard.rendering import HOME, redirect, render
from api.services.sessions import SIGN_IN

IS_PUBLIC = True
LINK = f"{SIGN_IN}/link"
ACCOUNT = "/dashboard/account"


class SignIn(SigningIn):
    """GET and POST /dashboard/sign-in."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        wanted = safe_path(req.get_param("next"))
        is_signed_in = await self._services.sessions.find(req) is not None
        if is_signed_in and not req.has_param("again"):
            redirect(req, resp, wanted)
            return
        await self._show(req, resp, wanted, error="For this, sign in again." if is_signed_in else "")

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        form = await self._read_form(req)
        wanted = safe_path(form.text("next"))
        try:
            # Not form.text: spaces around a password belong to it.
            person = await self._gate.by_password(req, form.text("email"), form.get("password", [""])[-1])
            await self._let_in(req, resp, await self._in_same_account(req, person), wanted)
        except NotSignedIn as error:
            resp.status = falcon.HTTP_403
            await self._show(req, resp, wanted, email=form.text("email"), error=error.message)

    async def _show(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, wanted: str, *, email: str = "", error: str = ""
    ) -> None:
        oidc, form_token = self._services.settings.oidc, self._form_token(req, resp)
        provider = oidc.name if oidc.issuer else ""
        shown = {"form_token": form_token, "next": wanted, "email": email, "error": error, "provider": provider}
        await render(req, resp, "sign_in.html", **shown)


class SignInByLink(SigningIn):
    """GET and POST /dashboard/sign-in/link: the token is in the query string, which no log of ours has."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        form_token, token = self._form_token(req, resp), req.get_param("token") or ""
        await render(req, resp, "sign_in_link.html", form_token=form_token, token=token)

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        form = await self._read_form(req)
        person = await self._gate.by_link(req, form.text("token"))
        if person.password_hash is None:
            welcome = "Welcome. Choose an e-mail and a password to sign in again."
            await self._let_in(req, resp, person, ACCOUNT, welcome)
        else:
            await self._let_in(req, resp, person, HOME)


RESOURCES = {SIGN_IN: SignIn, LINK: SignInByLink}
