"""Start: how long a system takes until it answers, and its pools until they work."""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.report import Table
from benchmarks.systems import PATIENCE_SECONDS, Running, process_tree, processor_seconds, system
from pipeline.operations import supervision

MOST_SECONDS, MOST_POOLS_SECONDS = 4.0, 3.5
MOST_POOL_SECONDS = 3.0
POOLS = ("search_check", "synthesis", "transcription", "vision")
READY = re.compile(r"^(\w+)\.\d+ .*pool process ready")


def measure(*, quick: bool) -> Iterator[Table]:
    """Start a system for the first time and then again and again; start one more process of each pool."""
    rounds = 2 if quick else 5
    with TemporaryDirectory(prefix="pressroom-benchmark-") as folder:
        data = Path(folder) / "data"
        first = _start(data)
        yield _starts(first, [_start(data) for _ in range(rounds)])
        with system(data, as_shipped=True) as running:
            _all_ready(running)
            pools = [{pool: _one_more(running, pool) for pool in POOLS} for _ in range(rounds)]
        yield _pools(pools)


def _starts(first: Mapping[str, float], seconds: Sequence[Mapping[str, float]]) -> Table:
    table = Table("Start", "From the command.")
    table.say("first start: ready", f"{first['ready']:.2f} s")
    table.say("first start: all pools", f"{first['pools']:.2f} s")
    table.bound("second start: ready", [one["ready"] for one in seconds], unit="s", most=MOST_SECONDS)
    table.bound("second start: all pools", [one["pools"] for one in seconds], unit="s", most=MOST_POOLS_SECONDS)
    table.bound("processor time of all that runs then", [one["processor"] for one in seconds], unit="s")
    return table


def _pools(rounds: Sequence[Mapping[str, float]]) -> Table:
    table = Table("One more process of a pool, ready", "From `pressroom scale`.")
    for pool in POOLS:
        table.bound(pool, [one[pool] for one in rounds], unit="s", most=MOST_POOL_SECONDS)
    return table


def _start(data: Path) -> Mapping[str, float]:
    """Start a system and stop it; return the seconds until it was ready and until its pools were."""
    began = time.perf_counter()
    with system(data, as_shipped=True) as running:
        ready = time.perf_counter() - began
        _all_ready(running)
        pools = time.perf_counter() - began
        processor = sum(map(processor_seconds, process_tree(running.process.pid)))
    return {"ready": ready, "pools": pools, "processor": processor}


def _all_ready(running: Running) -> None:
    _wait_for(running, dict.fromkeys(POOLS, 1))


def _one_more(running: Running, queue: str) -> float:
    """Return the seconds until one more process of a pool is ready, which alone has the machine."""
    there = _ready(running)[queue]
    began = time.perf_counter()
    supervision.scale(running.data, queue, 2)
    _wait_for(running, {queue: there + 1})
    took = time.perf_counter() - began
    supervision.scale(running.data, queue, 1)
    while len(running.pids(queue)) > 1:
        time.sleep(0.02)
    return took


def _ready(running: Running) -> Mapping[str, int]:
    """Return how many processes of each pool have said so far that they are ready."""
    said = [found[1] for line in running.written().splitlines() if (found := READY.match(line))]
    return {queue: said.count(queue) for queue in POOLS}


def _wait_for(running: Running, wanted: Mapping[str, int]) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while any(_ready(running)[queue] < number for queue, number in wanted.items()):
        assert time.monotonic() < until, running.written()[-2_000:]
        time.sleep(0.01)
