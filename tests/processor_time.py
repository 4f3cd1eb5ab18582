"""Processor time, for tests that a text made to take long does not: such a text would take minutes."""

import time
from collections.abc import Callable


def least_processor_time(do: Callable[[], object]) -> float:
    """Return the seconds of processor time that a call takes: the least of three.

    Once it may take more by far, where the collector of garbage goes through all that earlier tests have left."""
    return min(_processor_time(do) for _ in range(3))


def _processor_time(do: Callable[[], object]) -> float:
    began = time.process_time()
    do()
    return time.process_time() - began
