"""Proofs: whether a search provider's empty pages may be believed now (capabilities/index_check/results/proofs.py)."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from capabilities.index_check.engines.search.base.provider import Provider
from capabilities.index_check.results import proofs
from capabilities.index_check.results.proofs import SHOWN_LASTS, Proof
from pipeline.database import Database

#: A proof is written down so often at most: at full speed there would be one for each URL.
WRITTEN_EVERY_SECONDS = 1.0
#: The control query is asked once in so many queries, at most.
CONTROL_EVERY_QUERIES = 10


@dataclass
class _Seen:
    """What this process has seen of a provider, in monotonic seconds."""

    proven: float = -1.0
    written: float = -WRITTEN_EVERY_SECONDS
    shown_by: dict[str, float] = field(default_factory=dict)


class Proofs:
    """Keeps proofs in the providers' rows for all processes, and in memory for this one."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._seen: dict[str, _Seen] = {}
        self._lock = threading.Lock()

    def keep(self, provider: Provider, engines: Sequence[str]) -> None:
        """Note that a provider has just shown rows of a site that was asked for, and which engines behind it did."""
        now = time.monotonic()
        with self._lock:
            seen = self._seen.setdefault(provider.name, _Seen())
            is_new = set(engines) - set(seen.shown_by)
            seen.proven = now
            seen.shown_by.update(dict.fromkeys(engines, now))
            if now - seen.written < WRITTEN_EVERY_SECONDS and not is_new:
                return
            seen.written = now
        self._database.run(proofs.keep_proof(provider.pace_name, engines))

    def has_seen(self, provider: Provider, since: float) -> bool:
        """Return whether this process has seen a proof since a time, in monotonic seconds."""
        with self._lock:
            seen = self._seen.get(provider.name, _Seen())
            of_late = time.monotonic() - SHOWN_LASTS.total_seconds()
            return seen.proven > since and all(seen.shown_by.get(one, of_late) > of_late for one in provider.engines)

    def missed_at(self, provider: Provider, since: float) -> float:
        """Return a time in monotonic seconds as one of the database."""
        return self.find(provider).now - (time.monotonic() - since)

    def find(self, provider: Provider) -> Proof:
        """Return what a provider has proven."""
        return self._database.run(proofs.find_proof(provider.pace_name))

    def book_control(self, provider: Provider) -> timedelta:
        """Book the control query of a provider; returns how long to wait for it. Zero: it may be asked now."""
        every = CONTROL_EVERY_QUERIES * provider.pace.interval
        return self._database.run(proofs.book_control(provider.pace_name, every))
