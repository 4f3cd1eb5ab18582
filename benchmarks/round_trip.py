"""Round trip: an empty job through HTTP and a worker and back, beside a row, a stock Dramatiq actor and a notice."""

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.client import Sample, load, request
from benchmarks.report import Table
from benchmarks.systems import Raw, Running, pressroom, raw_path

CONNECTIONS = (32, 256)
#: Items that the worker claims at once: a computing engine's smallest, and a usual one.
BATCHES = (1, 8, 32)
LEAST_RATIO = 0.5
MOST_MS = 4
#: Requests that follow each other on one connection of an idle system.
ALONE = 100
BODY = b'{"count":1}'


def measure(*, quick: bool) -> Iterator[Table]:
    """Measure each batch size with a system of its own and a raw path beside it."""
    for batch in BATCHES[:2] if quick else BATCHES:
        with pressroom(MADE_UP_BATCH=str(batch)) as running, raw_path(running, processes=1) as raw:
            yield _measure(running, raw, batch=batch, rounds=3 if quick else 5, seconds=1.0 if quick else 2.0)


def _measure(running: Running, raw: Raw, *, batch: int, rounds: int, seconds: float) -> Table:
    table = Table(
        f"Round trip, the worker takes {batch} at once",
        "POST that waits for an empty job, two API processes, one worker process; raw: one stock Dramatiq process with"
        " 8 threads and dramatiq_worker_timeout=5.",
    )
    ours_sent = request(running.address, "/made-up", BODY, {"X-API-Key": running.key})
    raw_sent = request(raw.address, "/jobs", BODY)

    def alternate(**how: Any) -> tuple[list[Sample], list[Sample]]:
        ours, theirs = [], []
        for _ in range(rounds):
            with raw.resting():
                ours.append(load(running.address, ours_sent, **how).expect(200))
            theirs.append(load(raw.address, raw_sent, **how).expect(200))
        return ours, theirs

    alternate(connections=8, count=50)
    ours, theirs = alternate(connections=1, count=ALONE)
    table.bound("1 at once, p50", _percentiles(ours, 50), unit="ms", most=MOST_MS, raw=_percentiles(theirs, 50))
    table.bound("1 at once, p99", _percentiles(ours, 99), unit="ms", raw=_percentiles(theirs, 99))
    for connections in CONNECTIONS:
        ours, theirs = alternate(connections=connections, seconds=seconds)
        what = f"{connections} at once"
        table.compare(what, _rates(ours), _rates(theirs), unit="/s", least=LEAST_RATIO)
        table.bound(f"{what}, p50", _percentiles(ours, 50), unit="ms", raw=_percentiles(theirs, 50))
        table.bound(f"{what}, p99", _percentiles(ours, 99), unit="ms", raw=_percentiles(theirs, 99))
    return table


def _percentiles(samples: Sequence[Sample], percent: float) -> list[float]:
    return [sample.percentile(percent) for sample in samples]


def _rates(samples: Sequence[Sample]) -> list[float]:
    return [sample.rate for sample in samples]
