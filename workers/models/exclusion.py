"""Exclusion: work that only one process of this machine does at a time."""

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive(path: Path, *, on_wait: Callable[[], None] | None = None, wait: bool = True) -> Iterator[bool]:
    """Hold a lock while the `with` block lasts; yields whether it is held. It ends with the process that holds it.

    `wait` False: do not wait for another process. `on_wait` is called before a wait. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not wait:
                yield False
                return
            if on_wait is not None:
                on_wait()
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield True
