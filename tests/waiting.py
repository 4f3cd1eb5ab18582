"""Waiting: tests wait for an event, and fail with what they found instead."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def wait_for(condition: Callable[[], Any], *, seconds: float = 120, about: Callable[[], Any] = lambda: "") -> Any:
    """Return the first true result of a condition; fail with `about` when it takes too long."""
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, about()
        time.sleep(0.02)
    return found


def files_in(folder: Path) -> list[Path]:
    """Return the files below a folder, while others may be deleting in it (`Path.rglob` fails then)."""
    return [Path(above, name) for above, _, names in os.walk(folder) for name in names]


def wait_for_no_uploads(data: Path) -> None:
    """Return once no upload is left in the store: it is deleted when its job has been answered."""
    wait_for(lambda: not files_in(data / "artifacts" / "uploads"), about=lambda: files_in(data / "artifacts"))
