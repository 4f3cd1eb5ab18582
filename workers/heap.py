"""Heap: how glibc's malloc treats the memory of a worker; elsewhere nothing is done."""

import ctypes

# mallopt's names, in glibc's malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_NEVER_TRIMMED, _NEVER_MAPPED = 2**31 - 1, 2**30


def share() -> None:
    """Have all threads take memory from one heap; call it before there are threads.

    Those of a worker mostly wait for Python's lock and hardly ever for each other here; a heap each keeps what was
    freed from the others, and none but the first holds pieces above 64 MB."""
    _call("mallopt", _ARENA_MAX, 1)


def keep() -> None:
    """Have the process keep what it frees: a model on the processor wants the same again at once.

    Given back and taken again, it cost 7 to 24 % of BLIP's time on a Xeon."""
    _call("mallopt", _MMAP_THRESHOLD, _NEVER_MAPPED)
    _call("mallopt", _TRIM_THRESHOLD, _NEVER_TRIMMED)


def give_back() -> None:
    """Return to the system what is free now."""
    _call("malloc_trim", 0)


def _call(function: str, *arguments: int) -> None:
    if found := getattr(ctypes.CDLL(None), function, None):
        found(*arguments)
