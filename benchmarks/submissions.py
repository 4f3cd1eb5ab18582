"""Submissions a second: an accepted empty job beside one insert and one raw enqueue."""

from collections.abc import Iterator

from benchmarks.client import load, request
from benchmarks.report import Table
from benchmarks.systems import finish_everything, pressroom, raw_path

CONNECTIONS = (1, 32, 256)
LEAST_RATIO = 0.8
ASYNC = {"Prefer": "respond-async"}


def measure(*, quick: bool) -> Iterator[Table]:
    """Alternate between the two, so that what else the machine does falls on both."""
    rounds, seconds = (3, 0.7) if quick else (7, 1.0)
    table = Table(
        "Submissions",
        "POST with Prefer: respond-async of an empty job, two API processes, no workers, one account; what piled up is"
        " worked off between rounds. Raw: the same Falcon and gunicorn, one psycopg insert, one Dramatiq message.",
    )
    with pressroom("--pool", "made_up=0") as running, raw_path(running) as raw:
        ours_sent = request(running.address, "/made-up", b'{"count":1}', {"X-API-Key": running.key, **ASYNC})
        raw_sent = request(raw.address, "/jobs", b'{"count":1}', ASYNC)
        for connections in CONNECTIONS:
            ours, theirs = [], []
            load(running.address, ours_sent, connections=connections, seconds=0.5)
            load(raw.address, raw_sent, connections=connections, seconds=0.5)
            for _ in range(rounds):
                sample = load(running.address, ours_sent, connections=connections, seconds=seconds)
                ours.append(sample.expect(202).rate)
                finish_everything(running)
                sample = load(raw.address, raw_sent, connections=connections, seconds=seconds)
                theirs.append(sample.expect(202).rate)
            table.compare(f"{connections} at once", ours, theirs, unit="/s", least=LEAST_RATIO)
    yield table
