"""Connecting: an HTTP session that only opens sockets to allowed addresses."""

import socket
from collections.abc import Callable

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.connector import AddrInfoType

from pipeline.downloads.addresses import Reach
from pipeline.settings.fields import FetchSettings

#: How long an idle connection is kept open.
KEEPALIVE_SECONDS = 5.0

SocketFactory = Callable[[AddrInfoType], socket.socket]


class AddressForbidden(OSError):
    """An address may not be connected to; no socket was made for it.

    It is an OSError whose text is always the same: such errors the connector raises unchanged, also when it has tried
    several addresses."""

    def __init__(self) -> None:
        super().__init__("leads to an address that may not be reached")


class GuardedResolver(AbstractResolver):
    """Looks names up. A name is refused when any of its addresses may not be connected to."""

    def __init__(self, reach: Reach, inner: AbstractResolver) -> None:
        self._reach = reach
        self._inner = inner

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return a name's addresses. Raises Forbidden, and OSError for a name that has none."""
        answers = await self._inner.resolve(host, port, family)
        if not answers:
            raise OSError("no address")
        if not all(self._reach.takes(answer["host"], port) for answer in answers):
            raise AddressForbidden
        return answers

    async def close(self) -> None:
        await self._inner.close()


def guard(reach: Reach, open_socket: SocketFactory) -> SocketFactory:
    """Return a socket factory that checks the address of each socket just before it is made: the last check."""

    def make(found: AddrInfoType) -> socket.socket:
        host, port, *_ = found[4]
        if not reach.takes(str(host), int(port)):
            raise AddressForbidden
        return open_socket(found)

    return make


def plain_socket(found: AddrInfoType) -> socket.socket:
    """Return a new socket for an address."""
    return socket.socket(found[0], found[1], found[2])


def open_session(
    settings: FetchSettings,
    reach: Reach,
    resolver: AbstractResolver | None,
    open_socket: SocketFactory,
    *,
    user_agent: str,
    accept: str,
) -> aiohttp.ClientSession:
    """Return a session that asks for contents of some types; called in the event loop that it belongs to."""
    connector = aiohttp.TCPConnector(
        resolver=GuardedResolver(reach, resolver or aiohttp.ThreadedResolver()),
        socket_factory=guard(reach, open_socket),
        use_dns_cache=False,
        limit=0,  # DownloadSlots limits them; waiting for a connection here would count as connecting time
        keepalive_timeout=KEEPALIVE_SECONDS,
    )
    return aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        headers={"User-Agent": user_agent, "Accept": accept, "Accept-Encoding": "gzip, deflate"},
        timeout=aiohttp.ClientTimeout(total=None, connect=settings.connect_seconds, sock_read=settings.stall_seconds),
        trust_env=False,
    )


async def read_most(answer: aiohttp.ClientResponse, most: int) -> bytes:
    """Return an answer's body, or a little more than the first `most` bytes of it."""
    body = bytearray()
    async for chunk in answer.content.iter_any():
        body += chunk
        if len(body) > most:
            break
    return bytes(body)
