"""Slots: a semaphore for downloads, with limits for all of them, for a host and for a site."""

import asyncio
from collections import Counter, deque
from types import TracebackType

from workers.media.downloads.targets import site_of

#: Share of all slots that the hosts of one site may take: whoever owns a domain has as many names in it as they like.
SITE_SHARE = 0.5


class DownloadSlots:
    """Limits the downloads that run at once. One that waits for its host, or its site, takes no slot from others.

    Each waits because one of the limits is reached. So a slot that becomes free starts one download: the first in the
    queue that is now within its limits."""

    def __init__(self, total: int, per_host: int) -> None:
        self._free = total
        self._per_host = per_host
        self._per_site = max(per_host, round(total * SITE_SHARE))
        self._busy: Counter[str] = Counter()
        self._waiting: deque[DownloadSlot] = deque()

    def at(self, host: str) -> "DownloadSlot":
        """Return a slot at a host: an `async with` block waits for it, and holds it."""
        return DownloadSlot(self, host)

    def take(self, slot: "DownloadSlot") -> bool:
        """Take a slot, unless a limit is reached."""
        busy = self._busy
        if not self._free or busy[slot.host] >= self._per_host or busy[slot.site] >= self._per_site:
            return False
        self._free -= 1
        busy[slot.host] += 1
        busy[slot.site] += 1
        return True

    def release(self, slot: "DownloadSlot") -> None:
        """Release a slot, and start the first download in the queue that is now within its limits."""
        self._free += 1
        for name in (slot.host, slot.site):
            self._busy[name] -= 1
            if not self._busy[name]:
                del self._busy[name]
        # One that was cancelled may still be in the queue.
        following = next((one for one in self._waiting if not one.taken.done() and self.take(one)), None)
        if following is not None:
            self.leave_queue(following)
            following.taken.set_result(None)

    def queue(self, slot: "DownloadSlot") -> None:
        """Put a slot at the end of the queue."""
        self._waiting.append(slot)

    def leave_queue(self, slot: "DownloadSlot") -> None:
        """Take a slot out of the queue."""
        self._waiting.remove(slot)


class DownloadSlot:
    """The slot of one download. It is used once."""

    __slots__ = ("_slots", "host", "site", "taken")

    def __init__(self, slots: DownloadSlots, host: str) -> None:
        self._slots = slots
        self.host = host
        self.site = f"*.{site_of(host)}"
        self.taken: asyncio.Future[None]

    async def __aenter__(self) -> None:
        if self._slots.take(self):
            return
        self.taken = asyncio.get_running_loop().create_future()
        self._slots.queue(self)
        try:
            await self.taken
        except asyncio.CancelledError:
            if self.taken.cancelled():
                self._slots.leave_queue(self)
            else:
                self._slots.release(self)  # it was given the slot in the same moment
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._slots.release(self)
