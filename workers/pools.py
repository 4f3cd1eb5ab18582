"""Pools: the queues of this service, which capabilities each serves, and how many processes it has at first.

A queue that only another package's kinds name gets a pool of its own, with one process. How much a process works on at
once is a setting of the capability, named here."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pool:
    """The processes that serve one queue. `slots` names the settings that say how much each works on at once."""

    serves: tuple[str, ...]
    slots: tuple[str, ...]
    processes: int = 1


POOLS: Mapping[str, Pool] = {
    "vision": Pool(serves=("alt_text", "blog"), slots=("captioning.slots",)),
    "synthesis": Pool(serves=("speech",), slots=("synthesis.slots",)),
    "transcription": Pool(serves=("transcription",), slots=("transcription.slots",)),
    "search_check": Pool(serves=("index_check",), slots=("search.slots", "submission.calls")),
}


def processes_of(queue: str) -> int:
    """Return how many processes a queue's pool has at first."""
    return POOLS[queue].processes if queue in POOLS else 1
