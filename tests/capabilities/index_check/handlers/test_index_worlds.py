"""Any world of search providers: which pages each knows, and when it begins to block, to lie or to fail, and how."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from given_task import GivenTask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from search_engine import SearchEngine

from capabilities.index_check.engines.search.base.client import Unreachable
from capabilities.index_check.engines.search.base.provider import Reply, SearchRequest
from capabilities.index_check.handlers.check import IndexCheckHandler
from capabilities.index_check.kinds.index_check import UrlInput
from capabilities.index_check.providers import pacing
from pipeline.database import Database, Statement
from pipeline.settings import Settings
from workers.engines.resources import Resources
from workers.handler import Done, Failed, Outcome, Release, Retry

PROVIDERS = ("duckduckgo", "bing", "searxng", "brave_api", "serper")
APIS = ("brave_api", "serper")
URLS = ("https://e.example/a", "https://e.example/a/b", "https://shop.example/c")
#: The ways in which a provider gives no answer. An API has no reason to lie with empty answers, which it is paid for as
#: well, but what is behind it may ignore operators.
FAULTS = ("captcha", "429", "503", "404", "lost", "empty", "decoys", "silent", "unresponsive")
API_FAULTS = ("429", "503", "404", "lost", "empty", "decoys", "403_key")
#: One that is left alone for so long answers again, in seconds.
HEALS_AFTER = 240.0
#: Steps after which a URL that has not ended never will.
MOST_STEPS = 2_000


@dataclass
class Behaviour:
    """A provider's pages, the queries that it answers in a row, and its fault after them."""

    site: frozenset[str]
    second: frozenset[str]
    honest: int
    fault: str
    heals: bool
    engine: SearchEngine = field(default_factory=SearchEngine)
    asked: int = 0  # since it was honest last
    asked_at: float = 0.0
    #: Each query that it answered honestly, with its rows.
    shown: list[tuple[str, list[str]]] = field(default_factory=list)

    def is_honest(self, now: float) -> bool:
        """Return whether it answers a query, which comes now."""
        if self.heals and now - self.asked_at >= HEALS_AFTER:
            self.asked = 0
        self.asked_at = now
        self.asked += 1
        return self.asked <= self.honest


class World:
    """The providers, as the client of a handler sees them, and the time."""

    def __init__(self, providers: Mapping[str, Behaviour], interval: float) -> None:
        self.providers = providers
        self.interval = interval
        self.now = 0.0
        self.queries = 0

    def __repr__(self) -> str:
        told = [
            f"{name}(site={sorted(one.site)}, second={sorted(one.second)}, {one.honest}, {one.fault}, {one.heals})"
            for name, one in self.providers.items()
        ]
        return f"World({', '.join(told)}, interval={self.interval})"

    def ask(self, request: SearchRequest, **_: Any) -> Reply:
        """Answer as the provider would that a request is for."""
        name = request.url.split("/")[3]
        one = self.providers[name]
        sent: Any = request.json or request.form or request.query
        query = str(sent["q"])
        self.queries += 1
        if one.is_honest(self.now) or (name in APIS and one.fault == "decoys" and not query.startswith("site:")):
            one.engine.pages = set(one.site if query.startswith("site:") else one.second)
            rows = one.engine.rows(query)
            one.shown.append((query, rows))
            response = one.engine.page(name, rows)
        elif one.fault == "lost":
            raise Unreachable("lost")
        else:
            response = one.engine.failure(name, one.fault)
        headers = {key.lower(): value for key, value in response.headers.items()}
        return Reply(response.status, request.url, response.body or b"", headers=headers)  # type: ignore[arg-type]


class Item(GivenTask):
    """A URL to be checked, which keeps its checkpoint."""

    def __init__(self, url: str) -> None:
        super().__init__(UrlInput(url=url))
        self.url = url
        self.ended: Outcome[Any] | None = None
        self.due = 0.0

    def save(self, checkpoint: Mapping[str, Any]) -> None:
        self.checkpoint = dict(checkpoint)


def faults_of(provider: str) -> tuple[str, ...]:
    return API_FAULTS if provider in APIS else FAULTS


def behaviours(faults: Sequence[str]) -> st.SearchStrategy[Behaviour]:
    some_urls = st.sets(st.sampled_from(URLS)).map(frozenset)
    return st.builds(Behaviour, some_urls, some_urls, st.integers(0, 8), st.sampled_from(faults), st.booleans())


@st.composite
def worlds(draw: st.DrawFn, fault: str) -> World:
    """Draw a world whose first provider has a fault, and up to two others any."""
    first = draw(st.sampled_from([name for name in PROVIDERS if fault in faults_of(name)]))
    others = draw(st.permutations([name for name in PROVIDERS if name != first]))[: draw(st.integers(0, 2))]
    providers = {first: draw(behaviours([fault]))}
    for name in others:
        providers[name] = draw(behaviours(faults_of(name)))
    return World(providers, draw(st.sampled_from([0, 6])))


class Clock:
    """Lets time pass for a handler: what it has in the database becomes older."""

    def __init__(self, database: Database, world: World, items: Sequence[Item], names: Sequence[str]) -> None:
        self.database, self.world, self.items, self.names = database, world, items, names

    def pass_on(self) -> None:
        """Let pass what it takes until somebody may be asked, or an item is due."""
        waits = [
            status.wait.total_seconds() for status in self.database.run(pacing.look(self.names)).providers.values()
        ]
        dues = [item.due - self.world.now for item in self.items if item.ended is None]
        seconds = min((wait for wait in [*waits, *dues] if wait > 0), default=1.0) + 0.01
        self.world.now += seconds
        after = timedelta(seconds=seconds)
        moments = ("next_at", "busy_until", "open_until", "off_until", "proven_at", "blocked_at", "control_at")
        changes = ", ".join(f"{moment} = {moment} - %(after)s" for moment in moments)
        self.database.run(Statement(f"UPDATE search_provider SET {changes} RETURNING 1", {"after": after}))
        self.database.run(
            Statement("UPDATE verdict SET checked_at = checked_at - %(after)s RETURNING 1", {"after": after})
        )
        for item in self.items:
            if item.checkpoint and "missed_at" in item.checkpoint:
                item.checkpoint = {**item.checkpoint, "missed_at": item.checkpoint["missed_at"] - seconds}


def start(world: World, database: Database, folder: Path) -> IndexCheckHandler:
    """Return a handler that asks a world, with nothing known."""
    for table in ("verdict", "search_provider"):
        database.run(Statement(f"DELETE FROM {table} RETURNING 1"))
    search: dict[str, Any] = {"providers": ",".join(world.providers), "tries": 1}
    for name in PROVIDERS:
        search[name] = {
            "url": f"http://world.example/{name}",
            "interval_seconds": world.interval,
            "jitter": 0,
            "api_key": "key",
        }
    handler = IndexCheckHandler(Resources(Settings(data=folder, search=search)))
    handler.use(database)
    handler.setup()
    handler.close()
    handler._asker._client = world  # type: ignore[assignment]
    return handler


def work(handler: IndexCheckHandler, world: World, items: Sequence[Item], database: Database) -> None:
    """Carry the items out in turn, as a process would; time passes whenever nothing can be done."""
    clock = Clock(database, world, items, [one.pace_name for one in handler._providers.values()])
    for _ in range(MOST_STEPS):
        left = [item for item in items if item.ended is None]
        if not left:
            return
        asked, ended = world.queries, len(left)
        for item in left:
            if item.due <= world.now:
                carry_out(handler, world, item)
        if world.queries == asked and len([item for item in items if item.ended is None]) == ended:
            clock.pass_on()
    raise AssertionError("some URLs never end")


def carry_out(handler: IndexCheckHandler, world: World, item: Item) -> None:
    outcome = handler.carry_out(item)  # type: ignore[arg-type]
    match outcome:
        case Done() | Failed():
            item.ended = outcome
        case Retry():
            item.attempts += 1
            item.due = world.now + outcome.after.total_seconds()
        case Release():
            item.due = world.now + outcome.after.total_seconds()


# The pool of connections draws lots in threads of its own, which Hypothesis takes for ours.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module")
@pytest.mark.parametrize("fault", sorted({*FAULTS, *API_FAULTS}))
@given(drawn=st.data(), urls=st.lists(st.sampled_from(URLS), min_size=1, max_size=3, unique=True))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_in_any_world_no_listed_page_is_one_that_is_not_and_all_end_and_only_answers_cost(
    database: Database, tmp_path: Path, fault: str, drawn: st.DataObject, urls: list[str]
) -> None:
    world = drawn.draw(worlds(fault))
    handler = start(world, database, tmp_path)
    items = [Item(url) for url in urls]

    work(handler, world, items, database)

    for item in items:
        assert item.ended is not None
        if isinstance(item.ended, Failed):
            assert item.ended.credits == 0
            assert item.ended.error.details["reason"] in {"rate_limited", "error"}
            continue
        assert isinstance(item.ended, Done)
        output = item.ended.output
        one = world.providers[output.provider]
        is_listed = item.url in one.site | one.second
        assert output.reason == ("indexed" if is_listed else "not_indexed")
        forms = handler._providers[output.provider].forms(item.url)
        shown = [rows for query, rows in one.shown if query in forms]
        assert len(shown) >= (1 if is_listed else len(forms))  # each of them was answered
