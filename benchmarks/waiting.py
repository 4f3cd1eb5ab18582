"""Waiting: how many requests two API processes keep waiting for their jobs, and what each costs."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg

from benchmarks.client import Sample, load, request
from benchmarks.report import Table
from benchmarks.systems import Running, pressroom, process_tree
from pipeline.operations import supervision

NUMBERS = (1_000, 3_000)
KIB, MIB = 2**10, 2**20
PROCESSES = 2
PATIENCE_SECONDS = 120


def measure(*, quick: bool) -> Iterator[Table]:
    """Let requests pile up without any worker, then start two."""
    table = Table("Waiting", f"All wait at once on two API processes with no worker; then the pool gets {PROCESSES}.")
    for number in NUMBERS[:1] if quick else NUMBERS:
        with pressroom("--pool", "made_up=0", MADE_UP_BATCH="8") as running:
            _measure(running, number, table)
    yield table


def _measure(running: Running, number: int, table: Table) -> None:
    sent = request(running.address, "/made-up", b'{"count":1}', {"X-API-Key": running.key})
    processes = process_tree(running.pids("api")[0])[1:]
    load(running.address, sent.replace(b"\r\n\r\n", b"\r\nPrefer: respond-async\r\n\r\n", 1), connections=64, count=256)
    before = [_rss(pid) for pid in processes]
    samples: list[Sample] = []
    asking = threading.Thread(
        target=lambda: samples.append(load(running.address, sent, connections=number, count=number))
    )
    asking.start()
    began = time.perf_counter()
    _wait_till_open(running, number + 256)
    gathered = time.perf_counter() - began
    time.sleep(1)
    added = [_rss(pid) - start for pid, start in zip(processes, before, strict=True)]
    began = time.perf_counter()
    supervision.scale(running.data, "made_up", PROCESSES)
    asking.join()
    took = time.perf_counter() - began
    [sample] = samples
    errors = sum(times for status, times in sample.statuses.items() if status != 200)
    table.say(f"{number:,} waiting: answers that are no 200", str(errors), target="0", is_met=errors == 0)
    table.say(f"{number:,} waiting: memory added a process", f"{max(added):.0f} MiB")
    table.say(f"{number:,} waiting: from the first request until all wait", f"{gathered:.1f} s")
    table.say(f"{number:,} waiting: from the start of the workers to the last answer", f"{took:.1f} s")


def _wait_till_open(running: Running, number: int) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    with psycopg.connect(running.database_url, autocommit=True) as connection:
        while True:
            row = connection.execute("SELECT count(*) FROM job WHERE finished_at IS NULL").fetchone()
            if row and row[0] == number:
                return
            assert time.monotonic() < until, f"{row} of {number} wait"
            time.sleep(0.05)


def _rss(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4 * KIB / MIB
