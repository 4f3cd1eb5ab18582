"""Turns: how many downloads run at once, in all, from one host and from one site."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from workers.fetching.targets import site_of

#: Share of all places that the hosts of one site may have: names cost nothing to whoever owns a domain.
SITE_SHARE = 0.5


class Turns:
    """Places for downloads. A host's place comes first, so that waiting for a slow host takes no place from others."""

    def __init__(self, total: int, per_host: int) -> None:
        self._total = asyncio.Semaphore(total)
        self._per_host = per_host
        self._per_site = max(per_host, round(total * SITE_SHARE))
        self._places: dict[str, asyncio.Semaphore] = {}
        self._interested: Counter[str] = Counter()

    @asynccontextmanager
    async def at(self, host: str) -> AsyncIterator[None]:
        """Wait for a place, and hold it in the block."""
        site = f"*.{site_of(host)}"
        of_host, of_site = self._place(host, self._per_host), self._place(site, self._per_site)
        try:
            async with of_host, of_site, self._total:
                yield
        finally:
            self._leave(host)
            self._leave(site)

    def _place(self, name: str, most: int) -> asyncio.Semaphore:
        self._interested[name] += 1
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = asyncio.Semaphore(most)
        return place

    def _leave(self, name: str) -> None:
        self._interested[name] -= 1
        if not self._interested[name]:
            del self._interested[name], self._places[name]
