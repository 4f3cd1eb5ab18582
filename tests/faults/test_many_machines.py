"""Several machines: database and Redis on one, the API on another, two of workers, and an S3-compatible store.

Each is a network namespace of its own, started by the lines of the Procfile with the settings of docs/operations.md. A
host that is cut off hears nothing and is told nothing. The store is SeaweedFS, a real one."""

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psycopg
import pytest
import redis
import tools
from hosts import Host, network
from payers import Payer, open_account
from servers import PATIENCE_SECONDS, ping
from systems import FAST

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database, Row, Statement
from pipeline.operations.supervision import sockets_folder
from scripts.system.embedded import redis as embedded_redis
from scripts.system.embedded.roles import OWNER

pytestmark = [pytest.mark.system, pytest.mark.storm, pytest.mark.timeout(900)]

ROOT = Path(__file__).parents[2]
BINARIES = Path(sys.executable).parent
LINES = dict(re.findall(r"^(\w+): (.+)$", (ROOT / "Procfile").read_text(), re.MULTILINE))
#: How many made-up items a host has in hand at once.
SLOTS = 2
#: None that somebody else's SeaweedFS has: it makes sockets in /tmp that are named after them.
PORTS = {"master": 21_333, "volume": 21_080, "filer": 21_888, "s3": 21_033}
IDENTITIES = {
    "identities": [
        {
            "name": "pressroom",
            "credentials": [{"accessKey": "id", "secretKey": "secret"}],
            "actions": ["Admin", "Read", "Write", "List"],
        }
    ]
}
#: Takes a lock, and then its host is cut off.
HOLDER = """
import time
from pipeline.database import Database, Statement
from pipeline.settings import Settings
with Database(Settings().database_url) as database, database.transaction() as transaction:
    transaction.run(Statement("SELECT pg_advisory_xact_lock(7) IS NULL"))
    time.sleep(3_600)
"""
TEXT = "The harbour was quiet when the last boat came in. " * 12
ITEMS: Statement[list[Row]] = Statement(
    "SELECT j.state AS job, i.state, i.captured, i.price FROM job j JOIN item i ON i.job_id = j.id"
)

#: A client's key, and the jobs that were made under it.
KEY = "before-the-api-was-cut-off"
UNDER_KEY: Statement[list[Row]] = Statement("SELECT state FROM job WHERE idempotency_key = %(key)s", {"key": KEY})


@dataclass(frozen=True)
class Site:
    """The hosts, and one who asks."""

    data: Host
    api: Host
    workers: tuple[Host, Host]
    store: Host
    database: Database
    payer: Payer

    def send(self, path: str, document: Any = None, **headers: str) -> tuple[int, bytes]:
        """Ask the API; returns status and body."""
        request = Request(
            f"http://{self.api.address}:8000{path}",
            data=None if document is None else json.dumps(document).encode(),
            headers={"X-API-Key": self.payer.api_key, "Content-Type": "application/json"} | headers,
        )
        try:
            with urlopen(request, timeout=60) as answer:
                return answer.status, answer.read()
        except HTTPError as error:
            return error.code, error.read()

    def submit(self, path: str, document: Any) -> str:
        """Send a request whose answer is not waited for; returns its job."""
        status, body = self.send(path, document, Prefer="respond-async")
        assert status == 202, body
        return str(json.loads(body)["id"])

    def job(self, job_id: str) -> dict[str, Any]:
        """Return a job as the API shows it."""
        return dict(json.loads(self.send(f"/jobs/{job_id}")[1]))

    def wait_for(self, holds: Callable[[], bool], what: str, *, seconds: float = 120) -> float:
        """Return after how many seconds something holds."""
        began = time.monotonic()
        while True:
            try:
                if holds():
                    return time.monotonic() - began
            except (OSError, HTTPException, KeyError, ValueError):
                pass  # somebody is cut off
            logs = "\n".join(f"{host.name}: {host.written()}" for host in (self.api, *self.workers))
            assert time.monotonic() - began < seconds, f"{what}\n{logs}"
            time.sleep(0.1)

    def wait_for_end(self, jobs: list[str]) -> float:
        """Return after how many seconds all these jobs have ended, and all well."""
        took = self.wait_for(
            lambda: all(self.job(job)["state"] in ("succeeded", "failed") for job in jobs), "not ended"
        )
        assert {self.job(job)["state"] for job in jobs} == {"succeeded"}
        return took


def serve(host: Host, line: str) -> None:
    """Start a line of the Procfile as an operator does."""
    host.start(["bash", "-c", f"exec {LINES[line]}"], HOST=host.address, PORT="8000", API_PROCESSES="1")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    if sys.platform != "linux":
        tools.skip("netns", "network namespaces and SeaweedFS are for Linux alone")
    weed = BINARIES / "weed"
    assert weed.exists(), "SeaweedFS is not installed: make install-test"
    folder = tmp_path_factory.mktemp("machines")
    with network(folder) as add:
        data, store = add("data"), add("store")
        keys = store.folder / "s3.json"
        keys.write_text(json.dumps(IDENTITIES))
        store.start(
            [
                *(str(weed), "server", f"-dir={store.folder}", f"-ip={store.address}", f"-ip.bind={store.address}"),
                *("-master.volumeSizeLimitMB=64", "-volume.max=8", "-s3", f"-s3.config={keys}"),
                *(f"-{name}.port={port}" for name, port in PORTS.items()),
            ],
        )
        launcher = Path(__file__).with_name("listening_postgres.py")
        cluster = data.folder / "postgres"
        data.start([sys.executable, str(launcher), str(cluster), str(sockets_folder(cluster) / "pg"), data.address])
        data.start(
            [str(embedded_redis.find_binary()), "--bind", data.address, "--protected-mode", "no", "--dir", str(folder)]
        )
        urls = {
            "DATABASE_URL": f"postgresql://{OWNER}@{data.address}/{OWNER}",
            "REDIS_URL": f"redis://{data.address}:6379/0",
        }
        wait_until(lambda: create(urls["DATABASE_URL"]), data)
        wait_until(lambda: ping(urls["REDIS_URL"]), data)
        wait_until(lambda: make_bucket(store), store)
        settings = {
            **FAST,
            **urls,
            "PATH": f"{BINARIES}:/usr/bin:/bin",
            "PRESSROOM_STORE__URL": "s3://pressroom/results",
            "PRESSROOM_STORE__ENDPOINT": f"http://{store.address}:{PORTS['s3']}",
            "PRESSROOM_STORE__ACCESS_KEY_ID": "id",
            "PRESSROOM_STORE__SECRET_ACCESS_KEY": "secret",
            "PRESSROOM_STORE__REGION": "us-east-1",
            "PRESSROOM_STORE__SILENCE_SECONDS": "2",
            "PRESSROOM_SYNTHESIS__ENGINES": "espeak",
            "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}",
        }

        def own(name: str) -> dict[str, str]:
            return settings | {"PRESSROOM_DATA": str(folder / name / "own")}

        api = add("api", own("api"))
        workers = add("first", own("first")), add("second", own("second"))
        assert api.start([str(BINARIES / "pressroom"), "migrate"]).wait(120) == 0, api.written()
        for line in ("api", "sweep"):
            serve(api, line)
        for worker in workers:
            serve(worker, "synthesis")
            made_up = LINES["synthesis"].replace("synthesis", "made_up")
            worker.start(["bash", "-c", f"exec {made_up}"], MADE_UP_BATCH="1", MADE_UP_SLOTS=str(SLOTS))
        with Database(urls["DATABASE_URL"]) as database:
            site = Site(data, api, workers, store, database, open_account(database, credits=100_000, tier="enterprise"))
            site.wait_for(lambda: site.send("/tts", {"text": "Good morning."})[0] == 200, "no speech")
            yield site
    for port in PORTS.values():
        for left in Path("/tmp").glob(f"seaweedfs-*{port % 10_000}.sock"):
            left.unlink()


def wait_until(probe: Callable[[], object], host: Host) -> None:
    """Call `probe` until it raises no error of a server that is not there yet."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            probe()
            return
        except (OSError, psycopg.OperationalError, redis.ConnectionError):
            if time.monotonic() > until:
                raise AssertionError(host.written()) from None
            time.sleep(0.05)


def create(url: str) -> None:
    with psycopg.connect(url, dbname="postgres", autocommit=True, connect_timeout=2) as connection:
        if not connection.execute("SELECT FROM pg_database WHERE datname = %s", [OWNER]).fetchone():
            connection.execute(f"CREATE DATABASE {OWNER}")


def make_bucket(store: Host) -> None:
    # Its own way; the library that the product uses makes no buckets.
    urlopen(Request(f"http://{store.address}:{PORTS['filer']}/buckets/pressroom/", method="POST"), timeout=5).close()


def books_are_right(site: Site) -> None:
    """Every item ended once and was paid for once."""
    assert site.database.run(discrepancies()) == []
    for item in site.database.run(ITEMS):
        assert (item["job"], item["state"], item["captured"]) == ("succeeded", "done", item["price"])


def begun(site: Site) -> int:
    """Return how many items are in work and have said how far they are."""
    (row,) = site.database.run(
        Statement("SELECT count(*) AS n FROM item WHERE state = 'leased' AND (checkpoint->>'step')::integer > 0")
    )
    return int(row["n"])


def retried(site: Site) -> int:
    (row,) = site.database.run(Statement("SELECT count(*) AS n FROM item WHERE state <> 'done' AND attempts > 0"))
    return int(row["n"])


def is_by(host: Host, result: dict[str, Any]) -> bool:
    """Say whether a made-up result is a host's work."""
    return os.getsid(result["results"][0]["pid"]) in {process.pid for process in host.processes}


def sleep_for(site: Site, seconds: float) -> str:
    return site.submit("/made-up", {"items": [{"do": "sleep", "seconds": seconds}]})


def result_of(site: Site, job: str) -> dict[str, Any]:
    return dict(json.loads(site.send(f"/jobs/{job}/result")[1]))


def test_a_worker_host_that_is_cut_off_costs_a_lease_and_nothing_else(site: Site) -> None:
    first = site.workers[0]
    jobs = [sleep_for(site, 5) for _ in range(2 * SLOTS)] + [site.submit("/tts", {"text": TEXT}) for _ in range(4)]
    site.wait_for(lambda: begun(site) >= 2 * SLOTS, "nobody has begun")

    first.cut_off()
    took = site.wait_for_end(jobs)
    print(f"all of a host's work was taken back and had ended {took:.1f} s after it was cut off")
    books_are_right(site)
    made_up = [result_of(site, job) for job in jobs[: 2 * SLOTS]]
    assert not any(is_by(first, result) for result in made_up)
    # Those that the host had in hand went on where it had last said to be.
    assert sum(result["results"][0]["from_step"] > 0 for result in made_up) >= SLOTS
    for job in jobs[2 * SLOTS :]:
        status, sound = site.send(f"/jobs/{job}/result")
        assert (status, sound[:4]) == (200, b"RIFF")

    first.bring_back()

    def works_again() -> bool:
        jobs = [sleep_for(site, 0.2) for _ in range(4 * SLOTS)]
        site.wait_for_end(jobs)
        return any(is_by(first, result_of(site, job)) for job in jobs)

    print(f"the host worked again after {site.wait_for(works_again, 'the host came not back'):.1f} s")
    books_are_right(site)


def test_an_item_may_lose_its_machine_as_often_as_it_likes(site: Site) -> None:
    job = sleep_for(site, 45)
    hosts = {host.machine: host for host in site.workers}
    holder = Statement(
        "SELECT right(lease_id::text, 8) AS machine, crashes FROM item WHERE job_id = %(job)s AND state = 'leased'",
        {"job": job},
        lambda rows: [(hosts[row["machine"]], row["crashes"]) for row in rows],
    )
    site.wait_for(lambda: site.database.run(holder) != [], "nobody has begun")
    for _ in range(5):
        ((lost, crashes),) = site.database.run(holder)
        assert crashes == 0
        lost.cut_off()
        others = [(host, 0) for host in site.workers if host is not lost]
        site.wait_for(lambda others=others: site.database.run(holder) == others, "the other host does not take it")
        lost.bring_back()

    site.wait_for_end([job])
    books_are_right(site)


def test_a_host_that_is_cut_off_keeps_no_lock(site: Site) -> None:
    first = site.workers[0]
    first.start([sys.executable, "-c", HOLDER])
    is_free: Statement[bool] = Statement(
        "SELECT count(*) = 0 AS free FROM pg_locks WHERE locktype = 'advisory' AND objid = 7",
        {},
        lambda rows: rows[0]["free"],
    )
    site.wait_for(lambda: not site.database.run(is_free), "nobody took the lock")
    first.cut_off()
    try:
        took = site.wait_for(lambda: site.database.run(is_free), "the lock is still held")
    finally:
        first.bring_back()
    print(f"its lock was free {took:.1f} s after it was cut off")


def test_a_store_that_is_cut_off_fails_no_job(site: Site) -> None:
    site.store.cut_off()
    jobs = [site.submit("/tts", {"text": f"{TEXT} Part {number}."}) for number in range(4)]
    site.wait_for(lambda: retried(site) > 0, "no try failed")
    site.store.bring_back()

    print(f"all had ended {site.wait_for_end(jobs):.1f} s after the store was back")
    books_are_right(site)


def test_the_api_says_that_its_database_is_cut_off_and_goes_on_after_it(site: Site) -> None:
    job = sleep_for(site, 2)
    site.data.cut_off()
    began = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: site.send("/tts", {"text": "Good morning."}), range(4)))
    print(f"the API said so within {time.monotonic() - began:.1f} s")
    site.data.bring_back()

    assert {status for status, _ in answers} == {503}
    assert {json.loads(body)["code"] for _, body in answers} == {"database_unavailable"}
    site.wait_for(lambda: site.send("/tts", {"text": "Good morning."})[0] == 200, "the API came not back")
    site.wait_for_end([job])
    books_are_right(site)


def test_an_api_host_that_is_cut_off_loses_and_doubles_nothing(site: Site) -> None:
    def ask() -> int:
        return site.send("/made-up", {"items": [{"do": "sleep", "seconds": 2}]}, **{"Idempotency-Key": KEY})[0]

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask)
        site.wait_for(lambda: len(site.database.run(UNDER_KEY)) == 1, "the request has no job")
        site.api.cut_off()  # and the sweep with it
        is_done = {"state": "succeeded"}
        try:
            took = site.wait_for(lambda: site.database.run(UNDER_KEY) == [is_done], "nobody did the work")
        finally:
            site.api.bring_back()
        with suppress(OSError, HTTPException):  # whether its connection outlives this is not for us to say
            waiting.result()
    print(f"the job had ended {took:.1f} s after the API was cut off")
    site.wait_for(lambda: ask() == 200, "the API came not back")
    assert site.database.run(UNDER_KEY) == [is_done]
    books_are_right(site)
