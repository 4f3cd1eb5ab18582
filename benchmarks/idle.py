"""Idle: what a system costs while nobody asks for anything."""

import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import Table
from benchmarks.systems import Running, pressroom, process_tree, processor_seconds
from pipeline.operations import supervision

MOST_PERCENT = 1.0
MOST_MIB = 750
MIB = 2**20
KIB = 2**10


def measure(*, quick: bool) -> Iterator[Table]:
    """Watch every process for some seconds, then add up their memory."""
    seconds = 5 if quick else 20
    with pressroom() as running:
        time.sleep(60)  # the pools load their models and voices meanwhile
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
    others = {pid for pids in found.values() for pid in pids}
    return {**found, "supervisor, its fork server and reaper": [*{*process_tree(running.process.pid)} - others]}


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
    table = Table("Memory of an idle system", "PSS, which divides what processes share among them.")
    held = {program: sum(map(_pss, pids)) for program, pids in _programs(running).items()}
    for program, mib in held.items():
        table.say(program, f"{mib:.0f} MiB")
    total = sum(held.values())
    table.say("all", f"{total:.0f} MiB", target=f"≤ {MOST_MIB} MiB", is_met=total <= MOST_MIB)
    return table


def _pss(pid: int) -> float:
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    return int(lines["Pss"].split()[0]) * KIB / MIB
