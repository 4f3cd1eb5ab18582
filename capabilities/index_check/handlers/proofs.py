"""Proofs: whether a search provider's empty pages can be believed now (capabilities/index_check/results/proofs.py)."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from capabilities.index_check.engines.search.base.provider import Provider
from capabilities.index_check.results import proofs
from capabilities.index_check.results.proofs import SHOWN_LASTS, Proof
from pipeline.database import Database

#: Proofs are written at most this often: at full speed there would be one for each URL.
WRITTEN_EVERY_SECONDS = 1.0
#: The control query is asked at most once in so many queries.
CONTROL_EVERY_QUERIES = 10


@dataclass
class _Seen:
    """The proofs that this process has seen of a provider, in monotonic seconds."""

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
        """Note that a provider has just shown rows of a site that was asked for, and the engines that had them."""
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
            recent = time.monotonic() - SHOWN_LASTS.total_seconds()
            return seen.proven > since and all(seen.shown_by.get(one, recent) > recent for one in provider.engines)

    def missed_at(self, provider: Provider, since: float) -> float:
        """Return a time in monotonic seconds as one of the database's clock."""
        return self.find(provider).now - (time.monotonic() - since)

    def find(self, provider: Provider) -> Proof:
        """Return a provider's proof."""
        return self._database.run(proofs.find_proof(provider.pace_name))

    def book_control(self, provider: Provider) -> timedelta:
        """Book a provider's control query; return the time to wait for it, or zero if it may be asked now."""
        every = CONTROL_EVERY_QUERIES * provider.pace.interval
        return self._database.run(proofs.book_control(provider.pace_name, every))
