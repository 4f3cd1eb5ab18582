"""IndexNow as indexnow.org documents it, and the sites whose URLs it is told of, on loopback; faults on demand."""

import asyncio
import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web
from loopback import served

KEY = "0123456789abcdef"


@dataclass
class ToldEngines:
    """A running fake. `files` are what sites serve, by host and path; it takes what the documents say it takes."""

    port: int = 0
    files: dict[tuple[str, str], str] = field(default_factory=dict)
    #: Answers of IndexNow that strike one call each: a status, or a status and Retry-After.
    faults: deque[tuple[int, str]] = field(default_factory=deque)
    #: What IndexNow was told: (host, URLs) of each call that it took.
    told: list[tuple[str, list[str]]] = field(default_factory=list)
    calls: int = 0
    is_held: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def here(self) -> str:
        """The host of a site."""
        return f"127.0.0.1:{self.port}"

    @property
    def there(self) -> str:
        """The host of another one."""
        return f"127.0.0.2:{self.port}"

    def urls(self, count: int, host: str | None = None) -> list[str]:
        """Return URLs of a site."""
        return [f"http://{host or self.here}/page-{number}" for number in range(count)]

    def settings(self, **more: Any) -> dict[str, Any]:
        """Return settings of IndexNow, by default with one key for all sites."""
        indexnow = {"url": f"http://{self.here}/indexnow", "key": KEY}
        return {
            "fetch": {"allow_networks": "127.0.0.0/8", "limit_seconds": 5},
            "submission": {"wait_seconds": 0.1, "indexnow": indexnow, **more},
        }

    async def _serve_file(self, request: web.Request) -> web.Response:
        text = self.files.get((request.host, request.path))
        return web.Response(status=404) if text is None else web.Response(text=text)

    async def _take(self, request: web.Request) -> web.Response:
        self.calls += 1
        while self.is_held and not self.ended.is_set():
            await asyncio.sleep(0.01)
        if self.faults:
            status, wait = self.faults.popleft()
            return web.Response(status=status, headers={"Retry-After": wait} if wait else {})
        sent = await request.json()
        host, key, urls = sent.get("host"), sent.get("key"), sent.get("urlList")
        if not (host and key and urls) or len(urls) > 10_000:
            return web.Response(status=400)
        if not re.fullmatch(r"[A-Za-z0-9-]{8,128}", key) or any(urlsplit(url).netloc != host for url in urls):
            return web.Response(status=422)
        place = urlsplit(sent.get("keyLocation", f"http://{host}/{key}.txt"))
        if key not in self.files.get((place.netloc, place.path), ""):
            return web.Response(status=403)
        if any(not urlsplit(url).path.startswith(place.path.rpartition("/")[0] + "/") for url in urls):
            return web.Response(status=422)
        self.told.append((host, urls))
        return web.Response(status=200)


@contextmanager
def told_engines() -> Iterator[ToldEngines]:
    """Run a fake, on a port of its own at two addresses, until the block is left."""
    engines = ToldEngines()
    app = web.Application(client_max_size=32 * 2**20)
    app.add_routes(
        [
            web.post("/indexnow", engines._take),
            web.get("/{path:.*}", engines._serve_file),
        ]
    )
    with served(app, "127.0.0.1", "127.0.0.2", ended=engines.ended) as engines.port:
        yield engines
