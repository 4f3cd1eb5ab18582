"""Start: how long a system takes until it answers, and its pools until they work, beside what their libraries take."""

import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.report import Table
from benchmarks.systems import PATIENCE_SECONDS, Running, process_tree, processor_seconds, system
from pipeline.operations import supervision
from scripts.system.embedded import postgres
from scripts.system.embedded.postgres import create_database
from scripts.system.programs import environment, module

MOST_SECONDS = 4.0
MOST_POOL_SECONDS = 3.0
#: The libraries of each program, without our code, settings or models.
BASE = "psycopg, psycopg_pool, pydantic_settings, redis, structlog"
WORKER = f"dramatiq.cli, obstore, {BASE}"
LIBRARIES = {
    "search_check": f"{WORKER}, aiohttp, lxml.html",
    "synthesis": f"{WORKER}, numpy, onnxruntime, hibari, babel",
    "transcription": f"{WORKER}, numpy, ctranslate2, faster_whisper",
    "vision": f"{WORKER}, aiohttp, numpy, PIL.Image, fontTools.ttLib, regex",
}
OTHERS = {
    "up": f"typer, {BASE}",
    "api": f"gunicorn.app.wsgiapp, falcon.asgi, jinja2, {BASE}",
    "sweep": f"typer, {BASE}",
}
READY = re.compile(r"^(\w+)\.\d+ .*pool process ready")


def measure(*, quick: bool) -> Iterator[Table]:
    """Start a system for the first time and then again and again; start one more process of each pool."""
    rounds = 2 if quick else 5
    with TemporaryDirectory(prefix="pressroom-benchmark-") as folder:
        data = Path(folder) / "data"
        first = _start(data)
        raws, seconds, pools = [], [], []
        for _ in range(rounds):
            raws.append(_raw(data))
            seconds.append(_start(data))
        yield _starts(first, seconds, raws)
        with system(data) as running:
            _all_ready(running)
            for _ in range(rounds):
                pools.append(
                    {queue: (_one_more(running, queue), _interpreter(LIBRARIES[queue])) for queue in LIBRARIES}
                )
        yield _pools(pools)


def _starts(first: Mapping[str, float], seconds: Sequence[Mapping[str, float]], raws: Sequence[float]) -> Table:
    table = Table(
        "Start",
        "From the command; raw: PostgreSQL, and an interpreter a program that imports its libraries, all at once.",
    )
    table.say("first start: ready", f"{first['ready']:.2f} s")
    table.say("first start: all pools", f"{first['pools']:.2f} s")
    table.bound("second start: ready", [one["ready"] for one in seconds], unit="s", most=MOST_SECONDS, raw=raws)
    table.bound("second start: all pools", [one["pools"] for one in seconds], unit="s", raw=raws)
    table.bound("processor time of all that runs then", [one["processor"] for one in seconds], unit="s")
    return table


def _pools(rounds: Sequence[Mapping[str, tuple[float, float]]]) -> Table:
    table = Table("One more process of a pool, ready", "Raw: an interpreter that imports its libraries, and no model.")
    for queue in LIBRARIES:
        ours, raw = ([one[queue][place] for one in rounds] for place in (0, 1))
        table.bound(queue, ours, unit="s", most=MOST_POOL_SECONDS, raw=raw)
    return table


def _start(data: Path) -> Mapping[str, float]:
    """Start a system and stop it; return the seconds until it was ready and until its pools were."""
    began = time.perf_counter()
    with system(data) as running:
        ready = time.perf_counter() - began
        _all_ready(running)
        pools = time.perf_counter() - began
        processor = sum(map(processor_seconds, process_tree(running.process.pid)))
    return {"ready": ready, "pools": pools, "processor": processor}


def _all_ready(running: Running) -> None:
    _wait_for(running, dict.fromkeys(LIBRARIES, 1))


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
    return {queue: said.count(queue) for queue in LIBRARIES}


def _wait_for(running: Running, wanted: Mapping[str, int]) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while any(_ready(running)[queue] < number for queue, number in wanted.items()):
        assert time.monotonic() < until, running.written()[-2_000:]
        time.sleep(0.01)


def _raw(data: Path) -> float:
    """Return the seconds until PostgreSQL answers, started beside one interpreter for each program."""
    server = postgres.server(data)
    began = time.perf_counter()
    started = [_importing(libraries) for libraries in (*OTHERS.values(), *LIBRARIES.values())]
    database = subprocess.Popen(server.argv, env=server.environment, stderr=subprocess.DEVNULL)
    try:
        _wait_for_database(server.url)
        for process in started:
            assert process.wait() == 0
        return time.perf_counter() - began
    finally:
        database.send_signal(server.stopped_by)
        database.wait()


def _interpreter(libraries: str) -> float:
    began = time.perf_counter()
    assert _importing(libraries).wait() == 0
    return time.perf_counter() - began


def _importing(libraries: str) -> "subprocess.Popen[bytes]":
    python, isolated, *_ = module("")
    return subprocess.Popen([python, isolated, "-c", f"import {libraries}"], env=environment())


def _wait_for_database(url: str) -> None:
    import psycopg

    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return create_database(url)
        except psycopg.OperationalError:
            assert time.monotonic() < until
            time.sleep(0.02)
