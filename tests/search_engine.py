"""A search engine on loopback: the forms of DuckDuckGo, Bing, SearXNG and the APIs, and faults on demand."""

import asyncio
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote

from aiohttp import web
from loopback import served

CAPTCHA = "<html><form id='challenge-form'><div class='anomaly-modal__title'>One more step</div></form></html>"
UNUSUAL = "<html><body><p>Our systems have detected unusual traffic from your computer network.</p></body></html>"

#: A page of the site that is asked for to prove that empty pages count (PRESSROOM_SEARCH__CONTROL_SITE).
CONTROL = "https://en.wikipedia.org/wiki/Main_Page"


def place_of(url: str) -> str:
    """Return a URL without what is the same for all."""
    return url.removeprefix("https://").removeprefix("www.").removeprefix("en.").removesuffix("/")


@dataclass
class SearchEngine:
    """A running fake. What is in `pages` is indexed; `faults` strike one query each, `always` all of them.

    Of itself it is honest, and lists the control site as well."""

    address: str = ""
    pages: set[str] = field(default_factory=set)
    #: Indexed as well, and listed by the second form of a query alone.
    second: set[str] = field(default_factory=set)
    #: Which pages are indexed besides, by what `site:` names; `__main__` has as many as are asked for.
    rule: Callable[[str], bool] = lambda place: False
    faults: deque[str] = field(default_factory=deque)
    always: str | None = None
    #: The fault of all queries of a provider.
    broken: dict[str, str] = field(default_factory=dict)
    #: After how many queries a provider has which fault.
    walls: dict[str, tuple[int, str]] = field(default_factory=dict)
    #: Seconds before each answer; while it is held, none comes at all.
    delay: float = 0.0
    is_held: bool = False
    retry_after: str = ""
    #: (seconds since the epoch, provider, query) of all that was asked.
    asked: list[tuple[float, str, str]] = field(default_factory=list)
    #: The engines that SearXNG was to ask, as they were sent.
    named: set[str] = field(default_factory=set)
    count: int = 0  # of all queries ever
    agents: set[str] = field(default_factory=set)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def environment(self, *, interval: float = 0, providers: str = "duckduckgo,bing") -> dict[str, str]:
        """Return settings that ask this engine alone."""
        found = {"PRESSROOM_SEARCH__PROVIDERS": providers, "PRESSROOM_SEARCH__UNREACHABLE_SECONDS": "0.3"}
        for name in ("duckduckgo", "bing", "searxng", "brave_api", "serper", "serpapi"):
            found[f"PRESSROOM_SEARCH__{name.upper()}__URL"] = f"{self.address}/{name}"
            found[f"PRESSROOM_SEARCH__{name.upper()}__INTERVAL_SECONDS"] = str(interval)
            found[f"PRESSROOM_SEARCH__{name.upper()}__JITTER"] = "0"
        for name in ("brave_api", "serper", "serpapi"):
            found[f"PRESSROOM_SEARCH__{name.upper()}__API_KEY"] = "canary-key"
        return found

    def queries(self, provider: str | None = None) -> list[str]:
        """Return what was asked, in order."""
        return [query for _, name, query in self.asked if provider in (None, name)]

    def forget(self) -> None:
        """Be as at first, and index nothing."""
        for kept in (self.pages, self.second, self.faults, self.broken, self.walls, self.asked, self.named):
            kept.clear()
        self.always, self.retry_after = None, ""
        self.delay, self.is_held = 0.0, False

    def fault_of(self, provider: str) -> str | None:
        """Return the fault that strikes a provider's next query."""
        wall, behind = self.walls.get(provider, (0, None))
        if behind is not None and len(self.queries(provider)) > wall:
            return behind
        return self.always or self.broken.get(provider) or (self.faults.popleft() if self.faults else None)

    def rows(self, query: str) -> list[str]:
        """Return what is listed under a query."""
        listed = [CONTROL, *sorted(self.pages)]
        if query.startswith("site:"):
            place = query.removeprefix("site:")
            if self.rule(place):
                return [f"https://{place}"]
            return [page for page in listed if place_of(page).startswith(place)][:10]
        asked = query.removeprefix("url:").strip('"')
        rows = [page for page in [*listed, *sorted(self.second)] if place_of(page).startswith(place_of(asked))][:10]
        # Rows of other sites, which hold its words, are an answer to what is no operator.
        return rows or ([] if query.startswith("url:") else ["https://elsewhere.example/"])

    async def _slow_down(self, request: web.Request) -> web.Response:
        self.delay = float(request.match_info["seconds"])
        return web.Response()

    async def _count(self, request: web.Request) -> web.Response:
        return web.Response(text=str(self.count))

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        provider = request.match_info["provider"]
        if provider in ("duckduckgo", "serper"):
            sent = await (request.json() if provider == "serper" else request.post())
            query = str(sent["q"])
        else:
            query = request.query["q"]
            self.named.update({request.query["engines"]} if "engines" in request.query else ())
        self.asked.append((time.time(), provider, query))
        self.count += 1
        self.agents.add(request.headers.get("User-Agent", ""))
        await asyncio.sleep(self.delay)
        while self.is_held and not self.ended.is_set():
            await asyncio.sleep(0.01)
        if (fault := self.fault_of(provider)) is not None:
            return await self._fail(request, fault)
        return self.page(provider, self.rows(query))

    def page(self, provider: str, rows: list[str], *, unresponsive: Sequence[list[str]] = ()) -> web.Response:
        """Return a provider's page of results."""
        match provider:
            case "duckduckgo":
                listed = "".join(
                    "<div class='result web-result'><h2><a class='result__a'"
                    f" href='//duckduckgo.com/l/?uddg={quote(row, safe='')}&amp;rut=x'>A page</a></h2></div>"
                    for row in rows
                )
                body = f"<div id='links'>{listed or '<div class=no-results>No  results.</div>'}</div>"
                return web.Response(text=f"<html><body>{body}</body></html>", content_type="text/html")
            case "bing":
                listed = "".join(f"<li class='b_algo'><h2><a href='{escape(row)}'>A page</a></h2></li>" for row in rows)
                body = f"<ol id='b_results'>{listed or '<li class=b_no>There are no results for</li>'}</ol>"
                return web.Response(text=f"<html><body>{body}</body></html>", content_type="text/html")
            case "searxng":
                listed = [{"url": row, "engine": "bing", "engines": ["bing"]} for row in rows]
                return web.json_response({"results": listed, "unresponsive_engines": list(unresponsive)})
            case "brave_api":
                return web.json_response({"type": "search", "web": {"results": [{"url": row} for row in rows]}})
            case "serpapi":
                state = "Results for exact spelling" if rows else "Fully empty"
                found = {"organic_results": [{"link": row} for row in rows]} if rows else {}
                return web.json_response({"search_information": {"organic_results_state": state}, **found})
        return web.json_response({"organic": [{"link": row} for row in rows]})

    async def _fail(self, request: web.Request, fault: str) -> web.StreamResponse:
        match fault:
            case "reset":
                request.transport.abort()
            case "stall":
                await self.ended.wait()
            case "endless":
                return await self._endless(request)
        return self.failure(request.match_info["provider"], fault)

    def failure(self, provider: str, fault: str) -> web.Response:
        """Return a provider's page with a fault."""
        headers = {"Retry-After": self.retry_after} if self.retry_after else {}
        match fault:
            case "429":
                return web.Response(status=429, headers=headers)
            case "202":
                return web.Response(status=202, text="<html></html>", content_type="text/html")
            case "captcha":
                return web.Response(text=CAPTCHA, content_type="text/html")
            case "unusual":
                return web.Response(text=UNUSUAL, content_type="text/html")
            case "503_unusual":
                words = "<p>Your computer may be sending automated queries.</p>"
                return web.Response(status=503, text=words, content_type="text/html")
            case "empty":
                return web.Response(text="", content_type="text/html")
            case "403_key":
                return web.Response(status=403, text=json.dumps({"message": "Unauthorized."}))
            case "silent":
                return self.page(provider, [])
            case "decoys":
                rows = [f"https://decoy.example/{number}" for number in range(10)]
                return self.page(provider, rows)
            case "unresponsive":
                return self.page("searxng", [], unresponsive=[["google", "Suspended: CAPTCHA"]])
            case "opaque":
                return self.page("bing", ["https://www.bing.com/ck/a?u=x"])
            case "sorry":
                return web.Response(status=302, headers={"Location": "/sorry/index?continue=x"})
            case _ if fault[:3].isdecimal() and fault[3:4] == " ":
                # A status, and the JSON of an API.
                return web.Response(
                    status=int(fault[:3]), text=fault[4:], content_type="application/json", headers=headers
                )
            case _ if fault.isdecimal():
                page = "<html><h1>Error</h1></html>"
                return web.Response(status=int(fault), text=page, content_type="text/html", headers=headers)
        return web.Response()

    async def _endless(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while not self.ended.is_set():
                await response.write(b"<p>more</p>" * 6_000)
        except ConnectionError:
            pass
        return response


@contextmanager
def search_engine() -> Iterator[SearchEngine]:
    """Run a fake on a port of its own until the block is left."""
    engine = SearchEngine()
    app = web.Application()
    app.add_routes(
        [web.route("*", "/{provider}", engine._answer), web.route("*", "/{provider}/search", engine._answer)]
    )
    app.add_routes([web.post("/delay/{seconds}", engine._slow_down), web.post("/count/all", engine._count)])
    with served(app, ended=engine.ended) as port:
        engine.address = f"http://127.0.0.1:{port}"
        yield engine


if __name__ == "__main__":
    # For benchmarks: an engine in a process of its own, until it is ended.
    with search_engine() as alone:
        alone.asked = deque(maxlen=1)
        # Every second page is listed.
        alone.rule = lambda place: place.partition("?")[0][-1] in "02468"
        print(json.dumps([alone.address, alone.environment(providers="duckduckgo")]), flush=True)
        threading.Event().wait()
