"""Waiting: tests wait for an event, and fail with what they found instead."""

import time
from collections.abc import Callable
from typing import Any


def wait_for(condition: Callable[[], Any], *, seconds: float = 120, about: Callable[[], Any] = lambda: "") -> Any:
    """Return the first true result of a condition; fail with `about` when it takes too long."""
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, about()
        time.sleep(0.02)
    return found
