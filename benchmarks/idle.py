"""Idle: what a system costs while nobody asks for anything."""

import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import Table
from benchmarks.systems import Running, pressroom, process_tree, processor_seconds
from pipeline.operations import supervision

MOST_PERCENT = 1.0
MOST_MIB = 80
MIB = 2**20
KIB = 2**10


def measure(*, quick: bool) -> Iterator[Table]:
    """Watch every process for some seconds, then load an engine."""
    seconds = 5 if quick else 20
    with pressroom() as running:
        time.sleep(3)  # starting up is over
        shares = _shares(running, seconds)
        table = Table("Idle", f"Share of a core over {seconds} s; the highest of each program's processes.")
        for program, percents in shares.items():
            target, is_met = (f"≤ {MOST_PERCENT:g} %", max(percents) <= MOST_PERCENT) if percents else ("", None)
            table.say(f"{program}, {len(percents)} processes", f"{max(percents):.2f} %", target=target, is_met=is_met)
        yield table
        yield _memory(running)


def _programs(running: Running) -> dict[str, list[int]]:
    found = {
        pool.name: [pid for top in pool.pids for pid in process_tree(top)] for pool in supervision.pools(running.data)
    }
    return {**found, "supervisor": [running.process.pid]}


def _shares(running: Running, seconds: float) -> dict[str, list[float]]:
    programs = _programs(running)
    before = {pid: processor_seconds(pid) for pids in programs.values() for pid in pids}
    began = time.perf_counter()
    time.sleep(seconds)
    passed = time.perf_counter() - began
    return {
        program: [100 * (processor_seconds(pid) - before[pid]) / passed for pid in pids]
        for program, pids in programs.items()
    }


def _memory(running: Running) -> Table:
    table = Table(
        "Memory of one worker process", "RSS counts what processes share in each of them, PSS divides it among them."
    )
    [master] = running.pids("made_up")
    [worker] = running.workers("made_up")
    rss, pss = _rss_and_pss(worker)
    table.say("before an engine is loaded", f"{rss:.0f} MiB RSS, {pss:.0f} MiB PSS", target=f"≤ {MOST_MIB} MiB RSS",
              is_met=rss <= MOST_MIB)  # fmt: skip
    rss, pss = _rss_and_pss(master)
    table.say("its dramatiq master", f"{rss:.0f} MiB RSS, {pss:.0f} MiB PSS")
    assert running.ask("/tts", {"text": "Good morning."}).status == 200
    [worker] = running.workers("synthesis")
    rss, pss = _rss_and_pss(worker)
    table.say("with espeak and ffmpeg in use", f"{rss:.0f} MiB RSS, {pss:.0f} MiB PSS")
    for number, pid in enumerate(process_tree(running.pids("api")[0])):
        rss, pss = _rss_and_pss(pid)
        table.say(
            f"an API process, number {number}" if number else "gunicorn's master",
            f"{rss:.0f} MiB RSS, {pss:.0f} MiB PSS",
        )
    return table


def _rss_and_pss(pid: int) -> tuple[float, float]:
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    return tuple(int(lines[name].split()[0]) * KIB / MIB for name in ("Rss", "Pss"))  # type: ignore[return-value]
