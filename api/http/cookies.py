"""Cookies: set so that no script, no other site and no other host can read or overwrite them."""

from datetime import UTC, datetime, timedelta

import falcon.asgi

from api.http.address import Network, base_url

#: With this prefix browsers take a cookie only from this very host, over https (RFC 6265bis, section 4.1.3).
HOST_PREFIX = "__Host-"


class Cookies:
    """Reads cookies of requests, and sets those of answers."""

    def __init__(self, proxies: list[Network]) -> None:
        self._proxies = proxies

    def read(self, req: falcon.asgi.Request, name: str) -> str | None:
        """Return a cookie; None when the browser sent none, or two: one of them is somebody else's."""
        found = req.get_cookie_values(self._full_name(req, name)) or []
        return found[0] if len(found) == 1 and found[0] else None

    def write(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, name: str, value: str, *, lasts: timedelta
    ) -> None:
        """Have the browser keep a cookie, out of reach of scripts; other sites' forms don't send it."""
        self._set(req, resp, name, value, datetime.now(UTC) + lasts)

    def delete(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, name: str) -> None:
        self._set(req, resp, name, "", datetime.fromtimestamp(0, UTC))

    def _set(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, name: str, value: str, expires: datetime
    ) -> None:
        resp.set_cookie(
            self._full_name(req, name),
            value,
            expires=expires,
            path="/",
            secure=self._is_secure(req),
            http_only=True,
            same_site="Lax",
        )

    def _full_name(self, req: falcon.asgi.Request, name: str) -> str:
        return HOST_PREFIX + name if self._is_secure(req) else name

    def _is_secure(self, req: falcon.asgi.Request) -> bool:
        return base_url(req, self._proxies).startswith("https:")
