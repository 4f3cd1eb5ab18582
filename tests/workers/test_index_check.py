"""URLs through a process of the search_check pool, against a search engine on loopback."""

import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from payers import Payer, open_account
from search_engine import SearchEngine, search_engine

from pipeline import lifecycle, pacing
from pipeline.artifacts import Artifacts, open_store
from pipeline.broker import WakeBroker, connect
from pipeline.database import Database
from pipeline.index_jobs import raw_result_of, reason_of
from pipeline.jobs import Item, Job, find_items, find_job
from pipeline.kinds.index_check import IndexCheck, IndexCheckRequest, kind_name
from pipeline.ledger import discrepancies
from pipeline.metrics import Metrics
from pipeline.settings import Settings
from workers.handlers.index_check import IndexCheckHandler
from workers.run import Runner

HERE, GONE = "https://e.example/here", "https://e.example/gone"


@pytest.fixture(scope="module")
def shared_engine() -> Iterator[SearchEngine]:
    with search_engine() as engine:
        yield engine


@pytest.fixture
def engine(shared_engine: SearchEngine) -> SearchEngine:
    shared_engine.pages = {HERE}
    shared_engine.asked.clear()
    shared_engine.faults.clear()
    shared_engine.always, shared_engine.retry_after, shared_engine.delay = None, "", 0.0
    return shared_engine


@pytest.fixture(scope="module")
def database_url(make_database: Callable[..., str]) -> str:
    """One database for all tests here; each begins with empty tables."""
    return make_database()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        for table in ("verdict", "search_provider", "item", "job", "credit_entry", "api_key", "account"):
            connection.execute(f"DELETE FROM {table}")
    with Database(database_url) as opened:
        yield opened


class Pool:
    """Processes of the pool, in threads of this one, and a way to give them URLs."""

    def __init__(self, database: Database, redis_url: str, folder: Path, payer: Payer, url: str, **search: Any) -> None:
        self.url = url
        self.settings = Settings(data=folder, search=search, work={"heartbeat_seconds": 0.1, "drain_seconds": 1})
        self.database, self.payer = database, payer
        self.redis = connect(redis_url)
        self.handlers: list[IndexCheckHandler] = []
        self.runner = self.start()

    def start(self) -> Runner:
        """Return one more process, as after a restart."""
        handler = IndexCheckHandler(self.settings)
        self.handlers.append(handler)
        kinds = {kind.name: kind for kind in map(IndexCheck, (None, "duckduckgo", "bing"))}
        runner = Runner(
            "search_check",
            kinds,
            dict.fromkeys(kinds, handler),
            database=self.database,
            broker=WakeBroker(self.redis),
            artifacts=Artifacts(open_store(self.settings)),
            settings=self.settings,
            metrics=Metrics(),
        )
        runner.setup()
        return runner

    def submit(self, *urls: str, engine: str | None = None, payer: Payer | None = None) -> UUID:
        payer = payer or self.payer
        kind = IndexCheck(engine)
        request = IndexCheckRequest(type="check", urls=list(urls), engine=engine)
        submission = lifecycle.Submission(
            account_id=payer.account_id,
            api_key_id=payer.api_key_id,
            kind=kind_name(engine),
            route="/indexing/jobs",
            request={},
            request_id="test",
            request_hash=b"hash",
            items=[(part.input, part.price) for part in kind.parts(request)],
            deadline=timedelta(days=7),
            keep_for=timedelta(days=30),
            slice_size=10,
        )
        assert self.database.run(lifecycle.submit(submission)).outcome == "accepted"
        return submission.job_id

    def job(self, job_id: UUID) -> Job:
        found = self.database.run(find_job(job_id))
        assert found is not None
        return found

    def items(self, job_id: UUID) -> list[Item]:
        return self.database.run(find_items(job_id))

    def drain(self, until: Callable[[], bool], *, seconds: float = 15) -> None:
        """Work, with the sweep's help, until something holds."""
        end = time.monotonic() + seconds
        while not until():
            assert time.monotonic() < end
            self.database.run(lifecycle.wake_waiting())
            self.runner.drain()
            time.sleep(0.02)

    def rests(self, provider: str) -> timedelta | None:
        """Return how long a provider's breaker stays open, None when it is closed."""
        names = [handler._providers[provider].pace_name for handler in self.handlers[-1:]]
        (standing,) = self.database.run(pacing.look(names, [])).standings.values()
        return standing.wait if standing.is_open else None

    def check(self, *urls: str, engine: str | None = None) -> list[Item]:
        """Have URLs checked, and return their items once all have ended."""
        job_id = self.submit(*urls, engine=engine)
        self.drain(lambda: self.job(job_id).is_final)
        return self.items(job_id)


Start = Callable[..., Pool]


@pytest.fixture
def start(
    database: Database,
    database_url: str,
    redis_url: str,
    tmp_path: Path,
    payer: Payer,
    engine: SearchEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Start]:
    pools: list[Pool] = []

    def start_pool(providers: str = "duckduckgo,bing", *, interval: float = 0, **search: Any) -> Pool:
        for name, value in engine.environment(interval=interval, providers=providers).items():
            monkeypatch.setenv(name, value)
        # One slot: a process whose only one is taken hears at once that it is free again.
        pools.append(Pool(database, redis_url, tmp_path, payer, database_url, **{"slots": 1, **search}))
        return pools[-1]

    yield start_pool
    assert database.run(discrepancies()) == []
    for pool in pools:
        pool.redis.close()
        for handler in pool.handlers:
            handler.close()


def reasons(items: list[Item]) -> list[str | None]:
    return [reason_of(item) for item in items]


def test_a_listed_page_is_indexed_and_another_is_not(start: Start, engine: SearchEngine) -> None:
    listed, other = start().check(HERE, GONE)

    assert (listed.state, listed.captured, other.state, other.captured) == ("done", 1, "done", 1)
    found = raw_result_of(listed)
    assert found is not None
    assert (found["reason"], found["provider"], found["matched_url"]) == ("indexed", "duckduckgo", HERE)
    assert found["proofUrl"] == "https://duckduckgo.com/?q=site%3Ae.example%2Fhere"
    assert reason_of(other) == "not_indexed"
    assert engine.queries("bing") == []


def test_the_second_form_is_asked_when_the_first_has_no_row_of_the_host(start: Start, engine: SearchEngine) -> None:
    engine.always = "elsewhere"

    (item,) = start("duckduckgo").check(GONE)

    assert engine.queries() == ["site:e.example/gone", f'"{GONE}"']
    assert reason_of(item) == "not_indexed"


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("429", "throttled"),
        ("202", "throttled"),
        ("captcha", "captcha"),
        ("unusual", "captcha"),
        ("sorry", "captcha"),
        ("500", "http_500"),
        ("404", "http_404"),
        ("empty", "unrecognised_page"),
        ("endless", "page_too_large"),
        ("script", "unrecognised_page"),
    ],
)
def test_another_provider_takes_over_from_one_that_is_blocked_or_broken(
    start: Start, engine: SearchEngine, fault: str, code: str
) -> None:
    pool = start(tries=2, max_page_bytes=100_000)
    engine.faults.extend([fault] * (2 if fault == "500" else 1))

    (item,) = pool.check(HERE)

    found = raw_result_of(item)
    assert found is not None
    assert (found["reason"], found["provider"]) == ("indexed", "bing")
    assert engine.queries("bing") == ["site:e.example/here"]
    # Only a block makes a provider rest.
    assert bool(pool.rests("duckduckgo")) == (code in ("throttled", "captcha"))


def test_a_valid_no_is_never_overturned(start: Start, engine: SearchEngine) -> None:
    (item,) = start().check(GONE)

    assert reason_of(item) == "not_indexed"
    assert engine.queries("bing") == []


def test_what_is_lost_on_the_way_is_asked_again_and_a_captcha_is_not(start: Start, engine: SearchEngine) -> None:
    engine.faults.extend(["reset", "503"])
    (item,) = start("duckduckgo").check(HERE)
    assert reason_of(item) == "indexed"
    assert len(engine.queries()) == 3

    engine.asked.clear()
    engine.faults.append("captcha")
    pool = start("duckduckgo", rounds=1, captcha_minutes="0.005")
    (item,) = pool.check(GONE)
    assert (reason_of(item), item.captured) == ("rate_limited", 0)
    assert len(engine.queries()) == 1


def test_a_stalled_answer_and_an_unreachable_provider_fail_as_errors_without_charge(
    start: Start, engine: SearchEngine
) -> None:
    engine.always = "stall"
    pool = start("duckduckgo", tries=1, limit_seconds=0.1, unreachable_seconds=0.01)

    (item,) = pool.check(HERE)

    found = raw_result_of(item)
    assert found is not None
    assert (item.state, item.captured, found["reason"], found["code"]) == ("failed", 0, "error", "transport")


def test_a_url_blocked_in_three_rounds_is_rate_limited_and_released(start: Start, engine: SearchEngine) -> None:
    engine.always = "captcha"
    pool = start("duckduckgo", captcha_minutes="0.002,0.003,0.004")

    (item,) = pool.check(HERE)

    found = raw_result_of(item)
    assert found is not None
    assert (item.state, item.captured) == ("failed", 0)
    assert (found["reason"], found["code"], found["provider"]) == ("rate_limited", "captcha", "duckduckgo")
    moments = [moment for moment, _, _ in engine.asked]
    assert len(moments) == 3
    # Each rest is longer, as the server saw it.
    assert moments[1] - moments[0] >= 0.12
    assert moments[2] - moments[1] >= 0.18


def test_an_open_breaker_leaves_waiting_urls_untouched_and_two_good_probes_close_it(
    start: Start, engine: SearchEngine
) -> None:
    urls = [f"https://e.example/{number}" for number in range(20)]
    pool = start("duckduckgo", captcha_minutes="0.04")
    engine.faults.append("captcha")
    job_id = pool.submit(*urls)
    pool.drain(lambda: pool.rests("duckduckgo"))
    untouched = {item.id: item.updated_at for item in pool.items(job_id)[8:]}
    asked = len(engine.asked)

    pool.runner.drain()
    time.sleep(0.3)
    pool.start().drain()  # another process keeps away as well

    assert len(engine.asked) == asked
    assert {item.id: item.updated_at for item in pool.items(job_id)[8:]} == untouched
    engine.delay = 0.05
    pool.drain(lambda: pool.job(job_id).is_final)
    assert set(reasons(pool.items(job_id))) == {"not_indexed"}
    moments = [moment for moment, _, _ in engine.asked[asked:]]
    # One probe at a time, until two were good.
    assert moments[1] - moments[0] >= 0.05
    assert moments[2] - moments[1] >= 0.05
    assert not pool.rests("duckduckgo")


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_is_honoured_where_it_is_longer_than_the_ladder(
    start: Start, engine: SearchEngine, form: str
) -> None:
    pool = start("duckduckgo", throttle_minutes="0.01")
    engine.faults.append("429")
    until = datetime.now(UTC) + timedelta(seconds=100)
    engine.retry_after = "100" if form == "seconds" else format_datetime(until, usegmt=True)
    job_id = pool.submit(HERE)

    pool.drain(lambda: pool.rests("duckduckgo"))

    assert timedelta(seconds=98) <= pool.rests("duckduckgo") <= timedelta(seconds=121)
    assert pool.items(job_id)[0].state == "ready"


def test_an_api_that_names_a_second_is_waited_for_and_no_round_is_counted(start: Start, engine: SearchEngine) -> None:
    engine.retry_after = "1"
    engine.faults.extend(["429"])
    pool = start("serper", rounds=1)

    (item,) = pool.check(HERE)

    assert reason_of(item) == "indexed"
    assert engine.asked[1][0] - engine.asked[0][0] >= 1
    assert "canary-key" not in str(item)


def test_an_api_that_refuses_the_key_is_out_of_use_and_its_urls_fail(start: Start, engine: SearchEngine) -> None:
    engine.always = "403_key"

    items = start("serper").check(*(f"https://e.example/{number}" for number in range(30)))

    assert set(reasons(items)) == {"error"}
    assert {(raw_result_of(item) or {})["code"] for item in items} == {"config"}
    assert len(engine.asked) <= 8  # those that were on their way


def test_the_pace_holds_for_all_processes_together_and_over_a_restart(start: Start, engine: SearchEngine) -> None:
    pool = start("duckduckgo", interval=0.2)
    job_id = pool.submit(*(f"https://e.example/{number}" for number in range(6)))
    others = [threading.Thread(target=pool.start().drain) for _ in range(2)]
    for other in others:
        other.start()

    pool.drain(lambda: pool.job(job_id).is_final)

    for other in others:
        other.join()
    moments = [moment for moment, _, _ in engine.asked]
    assert len(moments) == 6
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    assert min(gaps) >= 0.2 * 0.5 - 0.02
    assert sum(gaps) <= 5 * 0.2 * 1.5 + 1.5


def test_a_fresh_answer_is_used_again_and_charged_and_an_old_one_is_not(
    start: Start, engine: SearchEngine, database: Database
) -> None:
    pool = start("duckduckgo")
    pool.check(HERE)

    (again,) = pool.check("http://www.e.example/here/?utm_source=x")
    assert (reason_of(again), again.captured, len(engine.asked)) == ("indexed", 1, 1)

    with psycopg.connect(pool.url, autocommit=True) as connection:
        connection.execute("UPDATE verdict SET checked_at = now() - interval '8 days'")
    pool.check(HERE)
    assert len(engine.asked) == 2


def test_a_small_job_of_another_account_does_not_wait_for_a_big_one(
    start: Start, engine: SearchEngine, database: Database
) -> None:
    pool = start("duckduckgo", interval=0.01)
    big = pool.submit(*(f"https://e.example/{number}" for number in range(40)))
    small = pool.submit(HERE, payer=open_account(database))

    pool.drain(lambda: pool.job(big).is_final)

    assert pool.job(small).is_final
    # After the first round of the big one, which has ten.
    assert engine.queries().index("site:e.example/here") <= 12


def test_a_named_provider_is_asked_alone(start: Start, engine: SearchEngine) -> None:
    (item,) = start().check(HERE, engine="bing")

    assert engine.queries("duckduckgo") == []
    assert (item.output or {})["provider"] == "bing"


def test_a_redelivered_url_is_not_asked_for_twice(start: Start, engine: SearchEngine) -> None:
    pool = start("duckduckgo")
    pool.check(HERE)
    job_id = pool.submit(HERE)
    # A process that died between the answer and its report.
    pool.database.run(lifecycle.claim({"index_check": 1}, lease_for=timedelta(microseconds=1)))
    pool.drain(lambda: pool.database.run(lifecycle.reap()) is not None)

    pool.drain(lambda: pool.job(job_id).is_final)

    assert len(engine.asked) == 1
    assert pool.job(job_id).items_ok == 1


@pytest.mark.parametrize("provider", ["duckduckgo", "bing", "searxng", "brave_api", "serper", "serpapi"])
def test_every_provider_finds_a_page_and_misses_another(start: Start, engine: SearchEngine, provider: str) -> None:
    listed, other = start(provider).check(HERE, GONE)

    assert (reason_of(listed), reason_of(other)) == ("indexed", "not_indexed")
    assert {name for _, name, _ in engine.asked} == {provider}
    found = raw_result_of(listed)
    assert found is not None
    assert found["proofUrl"].startswith("http")
    assert "canary-key" not in f"{listed}{other}"
    assert len(engine.agents) == 1
