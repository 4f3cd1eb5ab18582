"""Slots: a semaphore for downloads, with limits for all of them, for a host and for a site."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pipeline.downloads.targets import site_of

#: Share of all slots that the hosts of one site may take: the owner of a domain can make any number of hosts in it.
SITE_SHARE = 0.5

Names = tuple[str, str]


class DownloadSlots:
    """Limits simultaneous downloads. A download that waits for its host, or its site, takes no slot from others.

    Each waits because one of the limits is reached. So a slot that becomes free starts one download: the first in the
    queue that is now within its limits."""

    def __init__(self, total: int, per_host: int) -> None:
        self._free = total
        self._per_host = per_host
        self._per_site = max(per_host, round(total * SITE_SHARE))
        self._busy: Counter[str] = Counter()
        self._waiting: deque[tuple[Names, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def at(self, host: str) -> AsyncIterator[None]:
        """Wait for a slot at a host, and hold it while the `async with` block lasts."""
        names = (host, f"*.{site_of(host)}")
        if not self._take(names):
            await self._wait(names)
        try:
            yield
        finally:
            self._release(names)

    def _take(self, names: Names) -> bool:
        host, site = names
        if not self._free or self._busy[host] >= self._per_host or self._busy[site] >= self._per_site:
            return False
        self._free -= 1
        self._busy.update(names)
        return True

    async def _wait(self, names: Names) -> None:
        """Wait in the queue until `_release` gives a slot."""
        place = (names, asyncio.get_running_loop().create_future())
        self._waiting.append(place)
        try:
            await place[1]
        except asyncio.CancelledError:
            if place[1].cancelled():
                self._waiting.remove(place)
            else:
                self._release(names)  # the slot was given at the same moment
            raise

    def _release(self, names: Names) -> None:
        """Release a slot, and give it to the first download in the queue that is now within its limits."""
        self._free += 1
        for name in names:
            self._busy[name] -= 1
            if not self._busy[name]:
                del self._busy[name]
        # A download that was cancelled may still be in the queue.
        for place in self._waiting:
            if not place[1].done() and self._take(place[0]):
                self._waiting.remove(place)
                place[1].set_result(None)
                return
