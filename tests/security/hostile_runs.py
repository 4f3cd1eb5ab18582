"""Hostile runs: mutated files sent through a worker process that is watched, one after the other."""

import json
import os
import random
import resource
import selectors
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle, islice, product
from pathlib import Path

import yaml
from mutations import MUTATIONS, mutated
from systems import clean_environment

from scripts.system.programs import ROOT

#: The file that says how much memory the pools may take.
POOLS = Path(ROOT, "deploy", "kubernetes", "base", "pools.yaml")
OUT = Path(ROOT, "out")
#: Where a file stays that ended badly.
KEPT = OUT / "hostile"
#: Seconds without an answer after which a process counts as hanging; decoding a file is ended after three minutes.
PATIENCE = 240.0
#: Files that a worker takes before its memory is looked at.
LOOK_EVERY = 25
#: Most memory of a worker beside its model, and of an ffmpeg.
MOST_BYTES = 768 * 2**20
MOST_FFMPEG_BYTES = 512 * 2**20


@dataclass
class Findings:
    """The results of a run's files."""

    what: str
    seeds: int = 0
    files: int = 0
    bytes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    mutations: Counter[str] = field(default_factory=Counter)
    #: The result of each seed sent unchanged.
    unmutated: dict[str, str] = field(default_factory=dict)
    #: Files that ended badly, with how.
    failures: list[str] = field(default_factory=list)
    deaths: int = 0
    hangs: int = 0
    peak_bytes: int = 0
    ffmpeg_peak_bytes: int = 0
    idle_bytes: int = 0
    #: The largest processor time of a file in seconds, and of all.
    slowest: float = 0.0
    slowest_file: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Trial:
    """One hostile file: which handler takes it, how it was made, and its bytes."""

    number: int
    handler: str
    seed: str
    mutation: str
    body: bytes

    @property
    def name(self) -> str:
        """A file name that says how it was made."""
        words = f"{self.handler}-{self.number}-{self.seed}-{self.mutation}"
        return "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in words)


def trials(seeds: Mapping[str, bytes], count: int, *, seed: str, handler: Callable[[int], str]) -> Iterator[Trial]:
    """Yield the seeds as they are, which shows that good files are taken, and so many mutated ones.

    Each seed comes with each mutation, in an order of chance, then again with other chances."""
    for number, name in enumerate(seeds):
        yield Trial(number, handler(1), name, "none", seeds[name])
    pairs = list(product(seeds, MUTATIONS))
    random.Random(seed).shuffle(pairs)
    others = list(seeds.values())
    for number, (name, mutation) in enumerate(islice(cycle(pairs), count), len(seeds)):
        choose = random.Random(f"{seed}:{number}")
        yield Trial(number, handler(number), name, mutation, mutated(choose, mutation, seeds[name], others))


class Worker:
    """A process that runs hostile_worker.py, with the memory that its pool has in production."""

    def __init__(self, folder: Path, pool: str) -> None:
        self._folder = folder
        self._log = (folder / "worker.log").open("ab")
        extra = {"TMPDIR": str(folder), "PRESSROOM_LOG_FORMAT": "json"}
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("hostile_worker.py"))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, env=clean_environment(extra=extra),
        )  # fmt: skip
        most = memory_of(pool)
        resource.prlimit(self.process.pid, resource.RLIMIT_AS, (most, most))
        assert self.answer() is not None, (folder / "worker.log").read_text()[-3_000:]

    def send(self, handler: str, path: Path) -> list[object] | None:
        """Have a file worked on; None: the process has died, or hangs."""
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps([handler, str(path)]).encode() + b"\n")
            self.process.stdin.flush()
        return self.answer()

    def answer(self) -> list[object] | None:
        """Return the next line; None when there is none in time."""
        assert self.process.stdout is not None
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            if not ready.select(PATIENCE):
                return None
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def memory(self, name: str) -> int:
        """Return VmHWM or VmRSS in bytes; 0 when the process has gone."""
        with suppress(OSError):
            for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
                if line.startswith(f"{name}:"):
                    return int(line.split()[1]) * 1_024
        return 0

    def end(self) -> int:
        """End the process; returns its status, None of which is 0 for one that hangs."""
        assert self.process.stdout is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            status = self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        self.process.stdout.close()
        self._log.close()
        return status


@contextmanager
def _worker(folder: Path, pool: str) -> Iterator[list[Worker]]:
    """Yield a worker in a list, so that a dead one can be replaced."""
    held = [Worker(folder, pool)]
    try:
        yield held
    finally:
        held[0].process.kill()
        held[0].end()


def run(what: str, pool: str, folder: Path, codes: frozenset[str], files: Iterator[Trial]) -> Findings:
    """Send files through a worker, and keep those that end badly; `codes` are the refusals that are clear."""
    found = Findings(what)
    with _worker(folder, pool) as held:
        found.idle_bytes = held[0].memory("VmRSS")
        for trial in files:
            path = folder / "upload"
            path.write_bytes(trial.body)
            answer = held[0].send(trial.handler, path)
            found.files += 1
            found.bytes += len(trial.body)
            found.mutations[trial.mutation] += 1
            if answer is None:
                _replace(held, folder, pool, found, trial)
                continue
            outcome, seconds, ffmpeg = str(answer[0]), float(str(answer[1])), int(str(answer[2]))
            found.outcomes[outcome] += 1
            if trial.mutation == "none":
                found.unmutated[trial.seed] = outcome
            found.seconds += seconds
            found.ffmpeg_peak_bytes = max(found.ffmpeg_peak_bytes, ffmpeg)
            if seconds > found.slowest:
                found.slowest, found.slowest_file = seconds, trial.name
            if outcome not in codes and outcome != "result":
                _keep(found, trial, outcome)
            if trial.number % LOOK_EVERY == 0:
                found.peak_bytes = max(found.peak_bytes, held[0].memory("VmHWM"))
        found.peak_bytes = max(found.peak_bytes, held[0].memory("VmHWM"))
    return found


def _replace(held: list[Worker], folder: Path, pool: str, found: Findings, trial: Trial) -> None:
    """Keep the file that ended a worker, or that it hangs at, and start another."""
    worker = held[0]
    hangs = worker.process.poll() is None and worker.memory("VmRSS") > 0
    if hangs:
        worker.process.kill()
    status = worker.end()
    found.hangs += hangs
    found.deaths += not hangs
    outcome = "hangs" if hangs else f"died with {status}"
    found.outcomes[outcome] += 1
    _keep(found, trial, outcome)
    held[0] = Worker(folder, pool)


def _keep(found: Findings, trial: Trial, outcome: str) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / trial.name).write_bytes(trial.body)
    found.failures.append(f"{os.path.relpath(KEPT / trial.name, ROOT)}: {outcome}")


def memory_of(pool: str) -> int:
    """Return the bytes that a process of a pool may take in the manifests."""
    for manifest in yaml.safe_load_all(POOLS.read_text("utf-8")):
        if manifest["metadata"]["name"] == f"pressroom-{pool}":
            (container,) = manifest["spec"]["template"]["spec"]["containers"]
            limit = str(container["resources"]["limits"]["memory"])
            return int(limit[:-2]) * {"Mi": 2**20, "Gi": 2**30}[limit[-2:]]
    raise LookupError(pool)
