"""OpenID providers: a certified one from npm, and one of our own that can lie."""

import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import tools
from aiohttp import web
from joserfc import jwt
from joserfc.jwk import RSAKey
from loopback import served

#: The newest that runs under Node 20.
PACKAGE = "oidc-provider@8.8.1"
CLIENT, SECRET = "pressroom", "a secret: of % the client"
SCRIPT = Path(__file__).with_suffix(".mjs")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


@dataclass
class OpenIdProvider:
    """A provider that runs."""

    issuer: str

    def sign_in(self, url: str, name: str) -> dict[str, str]:
        """Sign in as a browser would, and consent; return the parameters with which it is sent back."""
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()), _NoRedirect)
        body: bytes | None = None
        for _ in range(12):
            try:
                page = opener.open(url, body).read().decode()
            except urllib.error.HTTPError as error:
                location = error.headers.get("Location")
                if not location:
                    raise AssertionError(error.read()) from error
                url, body = urljoin(url, location), None
                if not url.startswith(self.issuer):
                    return {one: values[0] for one, values in parse_qs(urlsplit(url).query).items()}
                continue
            prompt = "login" if 'value="login"' in page else "consent"
            body = urlencode({"prompt": prompt, "login": name, "password": "any"}).encode()
        raise AssertionError("the provider asks and asks")


@contextmanager
def real_provider(folder: Path, redirect_uri: str) -> Iterator[OpenIdProvider]:
    """Run the provider from npm, which knows this one client."""
    node, npm = tools.require("node"), tools.require("npm")
    asked = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", PACKAGE]
    installed = subprocess.run(asked, cwd=folder, capture_output=True, text=True)
    if installed.returncode:
        tools.skip("npm", f"npm can't install {PACKAGE}: {installed.stderr.strip()[-300:]}")
    asked = [node, str(SCRIPT), str(folder), redirect_uri]
    running = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert running.stdout is not None
        yield OpenIdProvider(f"http://127.0.0.1:{int(running.stdout.readline())}")
    finally:
        running.kill()
        running.wait()
        running.stdout.close()


@dataclass
class LyingProvider:
    """A provider that says what a test wants: `claims` over the right ones, another `header` and `key`."""

    issuer: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=lambda: {"alg": "RS256", "kid": "own"})
    key: Any = None
    own_key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "own"}))
    documents: dict[str, Any] = field(default_factory=dict)
    token: str | None = None
    asked: list[str] = field(default_factory=list)
    now: int = field(default_factory=lambda: int(time.time()))

    def answer(self, url: str) -> dict[str, str]:
        """Return the parameters with which a browser comes back from a URL of ours."""
        sent = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        right = {"iss": self.issuer, "aud": sent["client_id"], "sub": "ann", "nonce": sent["nonce"]}
        claims = {**right, "iat": self.now, "exp": self.now + 300, **self.claims}
        kept = {name: value for name, value in claims.items() if value is not None}
        signed = jwt.encode(self.header, kept, self.key or self.own_key, algorithms=[self.header["alg"]])
        self.documents["/token"] = {"id_token": self.token or signed, "access_token": "x", "token_type": "Bearer"}
        return {"state": sent["state"], "code": "a code"}


@contextmanager
def lying_provider() -> Iterator[LyingProvider]:
    """Run a provider that can lie."""
    found = LyingProvider()

    async def tell(request: web.Request) -> web.StreamResponse:
        found.asked.append(request.path)
        document = found.documents.get(request.path)
        return document if isinstance(document, web.StreamResponse) else web.json_response(document)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", tell)
    with served(app) as port:
        found.issuer = f"http://127.0.0.1:{port}"
        found.documents |= {
            "/.well-known/openid-configuration": {
                "issuer": found.issuer,
                **{f"{name}_endpoint": f"{found.issuer}/{name}" for name in ("authorization", "token")},
                "jwks_uri": f"{found.issuer}/jwks",
            },
            "/jwks": {"keys": [found.own_key.as_dict(private=False)]},
        }
        yield found
