"""Loss: what becomes of jobs that were accepted while their worker is killed twenty times."""

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import psycopg

from benchmarks.peers.catalogue import PEERS, Peer
from benchmarks.peers.findings import OURS, Loss
from benchmarks.peers.running import RunningPeer, Servers, kill_tree, running_peer
from benchmarks.systems import Running, pressroom

KILLS, QUICK_KILLS = 20, 5
#: Submitted jobs a second, and what each takes: a worker that takes one at a time has half its time left.
RATE = 8
JOB_SECONDS = 0.05
#: How long a result is waited for after the last kill. RQ takes 60 s until it calls a job abandoned.
PATIENCE_SECONDS, QUICK_PATIENCE_SECONDS = 75, 15
#: How many jobs may begin at most before the next kill.
MOST_BEGUN = 5
ENDED = "SELECT id::text, state FROM job WHERE finished_at IS NOT NULL AND id = ANY(%s::uuid[])"
#: How long a worker may take until it works again.
START_SECONDS = 40
#: How many systems are struck at once: workers start twenty times each, which is what takes the time.
AT_ONCE = 4
#: A lease of ours, as short as what the peers are given.
LEASES = {
    "PRESSROOM_KINDS": "benchmarks.peers.effects:Effect",
    "PRESSROOM_WORK__LEASE_SECONDS": "4",
    "PRESSROOM_WORK__HEARTBEAT_SECONDS": "1",
}


@dataclass
class Target:
    """One system: how a job is submitted, its worker killed, and its results are found."""

    name: str
    jobs: Request
    effects: Path
    kill: Callable[[], None]
    #: The jobs with a result, and those that ended without one.
    ended: Callable[[Sequence[str]], tuple[set[str], set[str]]]
    by_default: bool = False


def measure_losses(folder: Path, *, quick: bool) -> list[Loss]:
    """Strike all systems, some at once."""
    kills = QUICK_KILLS if quick else KILLS
    patience = patience_seconds(quick=quick)
    kept = folder / f"{OURS}.effects"
    idle = [
        word for queue in ("synthesis", "vision", "transcription", "search_check") for word in ("--pool", f"{queue}=0")
    ]
    with pressroom(*idle, **LEASES, EFFECTS=str(kept)) as running, ExitStack() as stack:
        servers = Servers(running)
        cases = [
            (peer, by_default) for peer in PEERS for by_default in (False, True) if peer.by_default or not by_default
        ]
        targets = [_ours(running, kept), *(stack.enter_context(_theirs(*case, servers, folder)) for case in cases)]
        working = threading.Semaphore(AT_ONCE)
        with ThreadPoolExecutor(len(targets)) as threads:
            return list(threads.map(lambda target: _strike(target, working, kills, patience), targets))


def patience_seconds(*, quick: bool) -> float:
    """Return how long a result is waited for after the last kill."""
    return QUICK_PATIENCE_SECONDS if quick else PATIENCE_SECONDS


def _strike(target: Target, working: threading.Semaphore, kills: int, patience: float) -> Loss:
    """Kill the worker as soon as it works again; then wait for what is missing. A slow flow of jobs goes on."""
    with working, _Flow(target.jobs, RATE) as flow:
        for _ in range(kills):
            # Always at the first job, it would be the one that the last kill struck: most begin with that.
            for _ in range(random.randint(1, MOST_BEGUN)):
                _wait_until_one_begins(target.effects)
            time.sleep(random.uniform(0, JOB_SECONDS))
            target.kill()
        _wait_until_one_begins(target.effects)
    last, missing, failed = time.monotonic(), set(flow.ids), set[str]()
    # taskiq looks for what dead workers left only after a new message; who stays in use has some.
    with _Flow(target.jobs, 1):
        while missing and time.monotonic() < last + patience:
            stored, failed = target.ended(sorted(missing))
            missing -= stored
            if missing == failed:
                break
            time.sleep(0.5)
    began, ended = (_count(target.effects, what, flow.names) for what in ("began", "ended"))
    loss = Loss(
        target.name,
        kills,
        submitted=len(flow.ids),
        results=len(flow.ids) - len(missing),
        failed=len(failed & missing),
        done_twice=sum(times > 1 for times in ended.values()),
        begun_again=sum(times > 1 for times in began.values()),
        seconds=time.monotonic() - last,
        by_default=target.by_default,
    )
    print(f"  {loss}", flush=True)
    return loss


class _Flow(threading.Thread):
    """Submits jobs at a steady rate until the block ends; only what was answered with success counts."""

    def __init__(self, jobs: Request, rate: float) -> None:
        super().__init__()
        self._jobs = jobs
        self._pause = 1 / rate
        self._over = threading.Event()
        self.ids: list[str] = []
        self.names: set[str] = set()

    def run(self) -> None:
        number = 0
        while not self._over.wait(self._pause):
            number += 1
            name = f"{id(self)}-{number}"
            body = json.dumps({"name": name, "seconds": JOB_SECONDS}).encode()
            try:
                self.ids.append(_ask(self._jobs, body)["id"])
                self.names.add(name)
            except (OSError, HTTPException):
                continue

    def __enter__(self) -> "_Flow":
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        self.join()


def _wait_until_one_begins(effects: Path) -> None:
    """Return once a job has begun that had not when this was called."""
    before = _begun(effects)
    until = time.monotonic() + START_SECONDS
    while _begun(effects) == before:
        assert time.monotonic() < until, f"no worker writes to {effects.name}"
        time.sleep(0.01)


def _begun(effects: Path) -> int:
    return effects.read_text().count("began") if effects.exists() else 0


def _count(effects: Path, what: str, names: set[str]) -> Counter[str]:
    lines = (line.split() for line in effects.read_text().splitlines())
    return Counter(name for said, name in lines if said == what and name in names)


@contextmanager
def _theirs(peer: Peer, by_default: bool, servers: Servers, folder: Path) -> Iterator[Target]:
    with running_peer(peer, servers, folder, RECOVERS="no" if by_default else "yes") as running:
        running.start_worker()

        def kill() -> None:
            running.kill_worker()
            running.start_worker()

        yield Target(
            peer.name,
            _jobs(f"{running.address}/jobs"),
            Path(running.environment["EFFECTS"]),
            kill,
            lambda ids: _ended(running, ids),
            by_default,
        )


def _ended(running: RunningPeer, ids: Sequence[str]) -> tuple[set[str], set[str]]:
    asked = Request(f"{running.address}/stored", headers={"Content-Type": "application/json"})
    found = _ask(asked, json.dumps(ids).encode())
    return set(found["stored"]), set(found["failed"])


def _ours(running: Running, effects: Path) -> Target:
    def ended(ids: Sequence[str]) -> tuple[set[str], set[str]]:
        with psycopg.connect(running.database_url) as connection:
            found = connection.execute(ENDED, [list(ids)]).fetchall()
        stored = {job_id for job_id, state in found if state == "succeeded"}
        return stored, {job_id for job_id, _ in found} - stored

    def kill() -> None:
        # The supervisor starts it again, after a pause that grows to two seconds while it goes on failing.
        for master in running.pids("effect"):
            kill_tree(master)

    return Target(OURS, _jobs(f"{running.address}/effect", {"X-API-Key": running.key}), effects, kill, ended)


def _jobs(address: str, headers: dict[str, str] | None = None) -> Request:
    sent = {"Content-Type": "application/json", "Prefer": "respond-async", **(headers or {})}
    return Request(address, headers=sent, method="POST")


def _ask(request: Request, body: bytes) -> Any:
    with urlopen(Request(request.full_url, body, dict(request.headers), method="POST"), timeout=30) as answer:
        return json.load(answer)
