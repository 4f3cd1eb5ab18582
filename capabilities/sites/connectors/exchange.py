"""Exchange: guarded HTTP requests of connectors, with a site's refusals in one line."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Self

import aiohttp

from capabilities.sites.connectors.trouble import SiteTrouble
from pipeline.downloads.addresses import Reach
from pipeline.downloads.connecting import open_session, plain_socket, read_most
from pipeline.downloads.failures import REMEDY, failure_of, read_retry_after
from pipeline.downloads.targets import REDIRECTS, Refused, read_target, shown
from pipeline.settings.fields import FetchSettings

USER_AGENT = "Pressroom/0.1 (site connector)"
#: Bytes of a hundred posts of 200,000 characters.
MAX_BYTES = 40_000_000
#: Time of one request: a shared host may take seconds to store a picture in all its sizes.
LIMIT = aiohttp.ClientTimeout(total=60, connect=10)
TOO_MANY_REQUESTS = 429


@dataclass(frozen=True, slots=True)
class Reply:
    """A site's answer; `content` is JSON, or None for an answer that is none."""

    status: int
    headers: Mapping[str, str]
    content: Any
    body: bytes = b""


class Exchange:
    """Sends requests of one site; an async context manager. It follows no redirect, which might carry the password."""

    #: Largest answer that is read.
    most_bytes = MAX_BYTES

    def __init__(self, settings: FetchSettings, authorization: str | None = None) -> None:
        """Raises NotReady."""
        self._settings = settings
        self._reach = Reach(settings.allow_networks)
        self._headers = {"Authorization": authorization} if authorization else {}

    async def __aenter__(self) -> Self:
        """Open the session."""
        accept = "application/json, application/xml;q=0.9, */*;q=0.5"
        self._session = open_session(
            self._settings, self._reach, None, plain_socket, user_agent=USER_AGENT, accept=accept
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        await self._session.close()

    async def ask(self, method: str, address: str, headers: Mapping[str, str] | None = None, **options: Any) -> Reply:
        """Return a site's answer, whatever its status. Raises SiteTrouble."""
        name = shown(address)
        try:
            url = read_target(address, self._reach)
        except Refused as refused:
            remedy = f" {REMEDY}" if refused.is_forbidden else ""
            raise SiteTrouble(f"{name} can't be asked: {refused.why}.{remedy}", code="site_blocked") from None
        try:
            async with self._session.request(
                method,
                url,
                headers={**self._headers, **(headers or {})},
                allow_redirects=False,
                timeout=LIMIT,
                **options,
            ) as response:
                body = await read_most(response, self.most_bytes)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            failure = failure_of(error, name)
            code = "site_blocked" if failure.is_forbidden else "site_unreachable"
            raise SiteTrouble(failure.message, code=code, passes=failure.is_passing) from error
        if len(body) > self.most_bytes:
            raise SiteTrouble(f"{name} answers with more than {self.most_bytes:,} bytes.", code="site_too_large")
        if response.status in REDIRECTS:
            there = shown(response.headers.get("Location", ""))
            raise SiteTrouble(f"{name} redirects to {there}. Add the site by that address.", code="site_moved")
        content = _json(body)
        # WordPress tells a file that it refuses with 500, and says why.
        is_told = isinstance(content, dict) and "code" in content
        if response.status == TOO_MANY_REQUESTS or (response.status >= 500 and not is_told):
            raise SiteTrouble(
                f"{name} answers with HTTP {response.status}.",
                code="site_unavailable",
                passes=True,
                after=read_retry_after(response.headers.get("Retry-After", "")) or timedelta(seconds=10),
            )
        return Reply(response.status, response.headers, content, body)


def _json(body: bytes) -> Any:
    # Plug-ins write warnings, or a byte order mark, before the JSON.
    try:
        return json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
