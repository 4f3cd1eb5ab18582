"""malloc: how glibc keeps the memory of a worker. With another C library nothing is done."""

import ctypes

# mallopt's names, in glibc's malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
_NEVER_TRIMMED, _NEVER_MAPPED = 2**31 - 1, 2**30


def use_one_arena() -> None:
    """Have all threads take memory from one arena. Call it before there are threads.

    A worker's threads mostly wait for Python's lock, and hardly ever for the arena's. With an arena each, memory that
    one thread has freed is lost to the others, and only the first arena keeps pieces above 64 MB."""
    _call("mallopt", _ARENA_MAX, 1)


def keep_freed() -> None:
    """Have the process keep the memory that it frees: a model on the processor wants the same again at once.

    Returned to the system and taken again, it cost 7 to 24 % of a captioning model's time on a Xeon."""
    _call("mallopt", _MMAP_THRESHOLD, _NEVER_MAPPED)
    _call("mallopt", _TRIM_THRESHOLD, _NEVER_TRIMMED)


def trim() -> None:
    """Return to the system what is free now."""
    _call("malloc_trim", 0)


def _call(function: str, *arguments: int) -> None:
    if found := getattr(ctypes.CDLL(None), function, None):
        found(*arguments)
