"""Index checks: creating, checking and exporting URLs beside COPY, bare aiohttp and the memory of fewer URLs."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.request import Request, urlopen
from uuid import UUID, uuid4

import aiohttp
import psycopg

from benchmarks.report import Table
from benchmarks.systems import Running, pressroom, process_tree
from pipeline import lifecycle
from pipeline.database import Database
from pipeline.operations import supervision
from scripts.system.programs import ROOT, environment

#: Most that a job may have.
URLS = 10_000
#: Queries that are on their way at once, ours and raw.
SLOTS = 8
#: Seconds that the engine takes for a page, and how often more pages are asked for: with few quick pages the start and
#: the end of a job would count for a part of it.
DELAYS = {0.0: 3, 0.05: 1}
#: The least of plain aiohttp's rate, by the delay.
LEAST_RATIO = {0.0: 0.3, 0.05: 0.95}


def measure(*, quick: bool) -> Iterator[Table]:
    """Create, check, export."""
    rounds = 3 if quick else 7
    with engine_process() as (address, settings), pressroom("--pool", "search_check=0", **settings) as running:
        yield _creating(running, rounds)
        supervision.scale(running.data, "search_check", 1)
        yield _checking(running, address, 300 if quick else 1_000, rounds)
        yield _filling(running, address, 2_000 if quick else URLS)


def _creating(running: Running, rounds: int) -> Table:
    note = f"{URLS:,} URLs, the pool at rest; raw: COPY of the same rows into the same table."
    table = Table("Index jobs: creation", note)
    ours, raw, whole = [], [], []
    assert running.ask("/usage").status == 200
    with psycopg.connect(running.database_url, autocommit=True) as connection:
        find = "SELECT account_id, id FROM api_key ORDER BY created_at DESC LIMIT 1"
        account, key = connection.execute(find).fetchone()
        with Database(running.database_url) as database:
            for _ in range(rounds):
                submission = _submission(account, key)
                began = time.perf_counter()
                assert database.run(lifecycle.submit(submission)).outcome == "accepted"
                ours.append((time.perf_counter() - began) * 1_000)
                raw.append(_copy(connection, submission))
            for _ in range(rounds):
                began = time.perf_counter()
                job_id = create(running, URLS)
                whole.append((time.perf_counter() - began) * 1_000)
                running.ask(f"/jobs/{job_id}/cancel", {}, method="POST")
    table.bound("database part (target: twice COPY)", ours, unit="ms", raw=raw)
    table.bound("whole request", whole, unit="ms", most=200)
    return table


def _submission(account: UUID, key: UUID) -> lifecycle.Submission:
    return lifecycle.Submission(
        account_id=account,
        api_key_id=key,
        kind="made_up",
        route="/made-up",
        request={},
        request_id="benchmark",
        request_hash=b"hash",
        items=[({"url": url}, 1, None) for url in urls_of(URLS)],
        deadline=timedelta(hours=1),
        keep_for=timedelta(hours=1),
        slice_size=10,
        max_open_items=10_000_000,
    )


def _copy(connection: psycopg.Connection, submission: lifecycle.Submission) -> float:
    """Return how long a COPY of a submission's items takes, in ms; the rows are taken back."""
    job_id = str(uuid4())  # of no job: the rows don't stay
    rows = [
        (job_id, index, "made_up", index // 10, price, json.dumps(asked))
        for index, (asked, price, _) in enumerate(submission.items)
    ]
    began = time.perf_counter()
    with connection.transaction():
        with connection.cursor().copy("COPY item (job_id, index, kind, round, price, input) FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        took = (time.perf_counter() - began) * 1_000
        raise psycopg.Rollback
    return took


def create(running: Running, count: int) -> str:
    """Create a job of so many URLs that nobody has asked for."""
    answer = running.ask("/indexing/jobs", {"type": "check", "urls": urls_of(count)})
    assert answer.status == 201, answer.body
    return str(answer.json["job_id"])


def urls_of(count: int) -> list[str]:
    """Return URLs that nobody has asked for."""
    mark = uuid4().hex[:8]
    return [f"https://shop.example/{mark}/products/{number}?ref=catalogue" for number in range(count)]


def _checking(running: Running, address: str, count: int, rounds: int) -> Table:
    note = (
        f"{count:,} URLs, {DELAYS[0.0] * count:,} where pages take no time, {SLOTS} queries at once, pacing off. Every"
        " second URL is listed; the others want two pages each, and that empty ones are proven. raw: aiohttp fetching"
        " these pages, one or two a URL, and nothing else."
    )
    table = Table("Index jobs: checks", note)
    for delay, times in DELAYS.items():
        urls = times * count
        ours, raw, asked = [], [], []
        urlopen(Request(f"{address}/delay/{delay}", method="POST"), timeout=5).close()
        for _ in range(rounds):
            before, began = queries_of(address), time.perf_counter()
            wait(running, create(running, urls))
            ours.append(urls / (time.perf_counter() - began))
            asked.append((queries_of(address) - before) / urls)
            began = time.perf_counter()
            asyncio.run(_fetch(f"{address}/duckduckgo", urls_of(urls)))
            raw.append(urls / (time.perf_counter() - began))
        table.compare(f"pages that take {delay * 1_000:g} ms", ours, raw, unit="/s", least=LEAST_RATIO[delay])
        table.bound("pages that a URL takes", asked, unit="", most=1.55 if delay else None, raw=[1.5] * rounds)
    return table


def _filling(running: Running, address: str, count: int) -> Table:
    """Check few and then ten times as many, and look at the memory of all processes."""
    table = Table("Index jobs: memory", "Resident: API and search_check pool together.")
    urlopen(Request(f"{address}/delay/0", method="POST"), timeout=5).close()
    wait(running, create(running, count // 10))
    small = memory(running)
    job_id = create(running, count)
    wait(running, job_id, seconds=600)
    began = time.perf_counter()
    exported = len(running.ask(f"/indexing/jobs/{job_id}/export").body)
    took = time.perf_counter() - began
    after = memory(running)
    table.say(f"after {count // 10:,} URLs", f"{small / 2**20:,.0f} MiB")
    table.say(f"after {count:,} more, and their export", f"{after / 2**20:,.0f} MiB")
    table.say("export", f"{took * 1_000:,.0f} ms, {exported / 2**20:.1f} MiB")
    began = time.perf_counter()
    for _ in range(20):
        running.ask(f"/indexing/jobs/{job_id}")
    table.say("GET of the job", f"{(time.perf_counter() - began) * 50:.1f} ms")
    return table


def memory(running: Running) -> int:
    """Return the resident bytes of the API's and the pool's processes."""
    pids = [pid for name in ("api", "search_check") for root in running.pids(name) for pid in process_tree(root)]
    return sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4_096 for pid in pids)


def wait(running: Running, job_id: str, *, seconds: float = 300) -> None:
    """Return once a job is complete."""
    until = time.monotonic() + seconds
    while running.ask(f"/jobs/{job_id}").json["finished_at"] is None:
        assert time.monotonic() < until
        time.sleep(0.05)


async def _fetch(url: str, urls: list[str]) -> None:
    left = iter(urls)

    async def fetch(session: aiohttp.ClientSession) -> None:
        for one in left:
            for query in (f"site:{one.partition('://')[2]}", f'"{one}"'):
                async with session.post(url, data={"q": query, "b": ""}) as response:
                    page = await response.read()
                if b"result__a" in page:
                    break

    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(fetch(session) for _ in range(SLOTS)))


def queries_of(address: str) -> int:
    """Return how many queries the engine has had."""
    with urlopen(Request(f"{address}/count/all", method="POST"), timeout=5) as response:
        return int(response.read())


@contextmanager
def engine_process() -> Iterator[tuple[str, dict[str, str]]]:
    """Run the search engine of the tests in a process of its own; give back its address, and settings that use it.

    Every URL is asked for, whoever has asked before."""
    fresh = {f"PRESSROOM_SEARCH__FRESH_{unit}": "0" for unit in ("DAYS", "HOURS")}
    extra = {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    process = subprocess.Popen(
        [sys.executable, "-m", "search_engine"], env=environment() | extra, stdout=subprocess.PIPE, text=True
    )
    try:
        address, settings = json.loads(process.stdout.readline())
        yield address, settings | fresh | {"PRESSROOM_SEARCH__SLOTS": str(SLOTS)}
    finally:
        process.terminate()
        process.wait(timeout=10)
        process.stdout.close()
