"""Peers: other people's job queues beside Pressroom, on the same servers, in one run; it writes docs/benchmarks.md.

`python -m benchmarks peers` makes a virtual environment for each, once. What runs in those is in `programs/`; what is
installed there is pinned in `requirements/`."""

from collections.abc import Iterator

from benchmarks.report import Table


def measure(*, quick: bool) -> Iterator[Table]:
    """Measure speed and loss, and write the page."""
    # Here, because Pressroom's own processes import this package for the kind in effects.py, and shall stay light.
    from benchmarks.peers.measuring import measure_all

    return measure_all(quick=quick)
