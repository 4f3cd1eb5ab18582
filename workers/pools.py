"""Pools: the queues of this service, the capabilities that each serves, and its processes at first.

A queue that only another package's kinds name gets a pool of its own, with one process."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pool:
    """The processes that serve one queue."""

    serves: tuple[str, ...]
    processes: int = 1


POOLS: Mapping[str, Pool] = {
    "vision": Pool(serves=("alt_text", "blog", "marks")),
    "synthesis": Pool(serves=("speech", "audiobooks")),
    "transcription": Pool(serves=("transcription",)),
    "search_check": Pool(serves=("index_check",)),
}


def processes_of(queue: str) -> int:
    """Return how many processes a queue's pool has at first."""
    return POOLS[queue].processes if queue in POOLS else 1
