"""Profile: whose processor time a round trip and an index check take, and in which modules and libraries it goes."""

import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.client import load, request
from benchmarks.environments import python_with
from benchmarks.index import SLOTS, create, engine_process, wait
from benchmarks.report import Table
from benchmarks.systems import Running, pressroom, process_tree, processor_seconds
from pipeline.operations import supervision
from scripts.system.programs import ROOT

CLIENTS = (1, 256)
#: The programs that have a part in a round trip; the first two are ours, and are sampled too.
PROGRAMS = {"api": "API", "made_up": "worker", "postgres": "PostgreSQL", "redis": "Redis"}
SAMPLED = ("api", "made_up")
SAMPLES_A_SECOND = 500
SAMPLER = Path(__file__).with_suffix(".txt")
#: Rows of a table of places.
PLACES = 14


def measure(*, quick: bool) -> Iterator[Table]:
    """Load a system whose worker takes one item at a time: count processor time first, then sample it."""
    seconds = 2.0 if quick else 10.0
    python_with(SAMPLER)
    with pressroom(MADE_UP_BATCH="1") as running:
        sent = request(running.address, "/made-up", b'{"count":1}', {"X-API-Key": running.key})
        load(running.address, sent, connections=8, count=200)
        yield _times(running, sent, seconds)
        for clients in CLIENTS:
            for program in SAMPLED:

                def work(clients: int = clients) -> None:
                    load(running.address, sent, connections=clients, seconds=seconds + 1.0).expect(200)

                yield _places(running, f"{PROGRAMS[program]}, {clients} clients", program, work, seconds)
    with engine_process() as (_, settings), pressroom(**settings) as running:
        yield from _checks(running, seconds)


def _checks(running: Running, seconds: float) -> Iterator[Table]:
    """Check URLs by an engine whose pages take no time: count, then sample."""
    urls = round(300 * (seconds + 2.0))
    programs = PROGRAMS | {"search_check": "worker"}
    del programs["made_up"]
    wait(running, create(running, 300))
    before, began = _used(running, programs), time.perf_counter()
    wait(running, create(running, urls))
    took, after = time.perf_counter() - began, _used(running, programs)
    each = ", ".join(f"{what} {1e6 * (after[name] - before[name]) / urls:,.0f}" for name, what in programs.items())
    table = Table("Processor time of an index check", "Microseconds of a core for each URL; its engine runs beside.")
    table.say(f"{SLOTS} at once, {urls / took:,.0f} URLs a second", each)
    yield table
    yield _places(
        running, "worker, index checks", "search_check", lambda: wait(running, create(running, urls)), seconds
    )


def _times(running: Running, sent: bytes, seconds: float) -> Table:
    table = Table("Processor time", "Microseconds of a core for each round trip, one item at a time.")
    for clients in CLIENTS:
        before, own = _used(running, PROGRAMS), time.process_time()
        answered = len(load(running.address, sent, connections=clients, seconds=seconds).expect(200).took)
        own, after = time.process_time() - own, _used(running, PROGRAMS)
        figures = {what: after[program] - before[program] for program, what in PROGRAMS.items()} | {"client": own}
        each = ", ".join(f"{what} {1e6 * used / answered:,.0f}" for what, used in figures.items())
        table.say(f"{clients} clients, {answered / seconds:,.0f} round trips a second", each)
    return table


def _pids(running: Running) -> Mapping[str, list[int]]:
    """Return all processes of each program."""
    return {
        pool.name: [pid for top in pool.pids for pid in process_tree(top)] for pool in supervision.pools(running.data)
    }


def _used(running: Running, programs: Mapping[str, str]) -> dict[str, float]:
    pids = _pids(running)
    return {program: sum(map(_used_by, pids[program])) for program in programs}


def _used_by(pid: int) -> float:
    try:
        return processor_seconds(pid)
    except OSError:  # a backend that has just ended
        return 0.0


def _places(running: Running, title: str, program: str, work: Callable[[], None], seconds: float) -> Table:
    """Sample one program's processes beside some work; say where their threads were while they ran Python."""
    with TemporaryDirectory(prefix="pressroom-profile-") as folder, ThreadPoolExecutor(1) as client:
        files = {pid: Path(folder) / str(pid) for pid in _pids(running)[program]}
        working = client.submit(work)
        samplers = [_sampler(pid, file, seconds) for pid, file in files.items()]
        failed = [text for sampler in samplers if (text := sampler.communicate()[1]) and sampler.returncode]
        working.result()
        stacks = [line for file in files.values() if file.exists() for line in file.read_text().splitlines()]
    if failed:
        return Table(title, f"py-spy can't sample here: {' '.join(failed)[:300]}")
    if not stacks:
        return Table(title, "No sample met it while it ran Python.")
    within: Counter[str] = Counter()
    innermost: Counter[str] = Counter()
    for stack in stacks:
        frames, _, count = stack.rpartition(" ")
        places = [_place(frame) for frame in frames.split(";")]
        innermost[places[-1]] += int(count)
        for place in {*places}:
            within[place] += int(count)
    table = Table(
        title,
        "Shares of the time in which Python ran (system calls left out): in the place or what it called / itself.",
    )
    for place, count in within.most_common(PLACES):
        share, own = (100 * one / innermost.total() for one in (count, innermost[place]))
        table.say(place, f"{share:.0f} % / {own:.0f} %")
    return table


def _sampler(pid: int, file: Path, seconds: float) -> "subprocess.Popen[str]":
    command = [python_with(SAMPLER).with_name("py-spy"), "record", "--pid", str(pid), "--format", "raw", "--output"]
    options = [file, "--duration", f"{seconds:.0f}", "--rate", str(SAMPLES_A_SECOND), "--full-filenames", "--gil"]
    return subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def _place(frame: str) -> str:
    """Return a frame's module of ours, or its library."""
    path = frame.rpartition("(")[2].rpartition(":")[0]
    if path.startswith(f"{ROOT}/") and "/site-packages/" not in path:
        return path.removeprefix(f"{ROOT}/")
    library = path.rpartition("/site-packages/")[2].partition("/")[0]
    if library.endswith(".py") or "/site-packages/" not in path:
        return "Python's own library"
    return library
