"""Growth: what each statement reads of a database with little history, and of one with a million jobs."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.growth.asking import Asking
from benchmarks.growth.calls import CALLS
from benchmarks.growth.filling import Size, fill, ready_url
from benchmarks.growth.storage import bytes_a_job
from benchmarks.growth.table import GrowthTable, PlainTable
from benchmarks.systems import start_postgres

#: A folder to keep the filled databases in, as making them takes minutes.
KEEP = "GROWTH_DATA"
SIZES = (
    Size(0, 0),
    Size(10_000, 0),
    Size(100_000, 0),
    Size(1_000_000, 0),
    Size(10_000, 10_000),
    Size(10_000, 100_000),
    Size(1_000_000, 100_000),
)
QUICK = (Size(0, 0), Size(1_000, 0), Size(30_000, 0), Size(1_000, 3_000), Size(30_000, 3_000))


def measure(*, quick: bool) -> Iterator[GrowthTable | PlainTable]:
    """Measure each statement at each size, the sizes in turn; then what a job takes on disk."""
    sizes, rounds = (QUICK, 3) if quick else (SIZES, 5)
    with ExitStack() as stack:
        kept = os.environ.get(KEEP)
        folder = kept or stack.enter_context(TemporaryDirectory(prefix="pressroom-growth-"))
        server = stack.enter_context(start_postgres(Path(folder)))
        for size in sizes:
            fill(server, size)
        sessions = [stack.enter_context(Asking(ready_url(server, size), size)) for size in sizes]
        table = GrowthTable(sizes)
        for number in range(rounds):
            for call in CALLS:
                if call.is_slow and number:
                    continue
                for session in sessions:
                    table.add(call.name, session.size, session.ask(call))
        yield table
        yield table.log_bytes()
        yield bytes_a_job(ready_url(server, max(sizes)), max(sizes))
