"""Turns: how many downloads run at once, in all, from one host and from one site."""

import asyncio
from collections import Counter, deque
from types import TracebackType

from workers.media.downloads.targets import site_of

#: Share of all places that the hosts of one site may have: names cost nothing to whoever owns a domain.
SITE_SHARE = 0.5


class Turns:
    """Places for downloads. Who waits for a place of a slow host, or site, takes none of all from others.

    All who wait do so because none of them may go; so a place that is left lets one go, the first that it suits."""

    def __init__(self, total: int, per_host: int) -> None:
        self._free = total
        self._per_host = per_host
        self._per_site = max(per_host, round(total * SITE_SHARE))
        self._busy: Counter[str] = Counter()
        self._waiting: deque[Turn] = deque()

    def at(self, host: str) -> "Turn":
        """Return a turn at a host, which is waited for, and held, in an `async with` block."""
        return Turn(self, host)

    def take(self, turn: "Turn") -> bool:
        """Take a turn's places, if all of them are free."""
        busy = self._busy
        if not self._free or busy[turn.host] >= self._per_host or busy[turn.site] >= self._per_site:
            return False
        self._free -= 1
        busy[turn.host] += 1
        busy[turn.site] += 1
        return True

    def give_back(self, turn: "Turn") -> None:
        """Give a turn's places back, to the first of those who wait that they suit."""
        self._free += 1
        for name in (turn.host, turn.site):
            self._busy[name] -= 1
            if not self._busy[name]:
                del self._busy[name]
        # Who was cut off may not have noticed yet.
        suited = next((one for one in self._waiting if not one.come.done() and self.take(one)), None)
        if suited is not None:
            self.forget(suited)
            suited.come.set_result(None)

    def wait(self, turn: "Turn") -> None:
        """Put a turn behind those that wait."""
        self._waiting.append(turn)

    def forget(self, turn: "Turn") -> None:
        """Take a turn out of those that wait."""
        self._waiting.remove(turn)


class Turn:
    """One download's places. It is used once."""

    __slots__ = ("_turns", "come", "host", "site")

    def __init__(self, turns: Turns, host: str) -> None:
        self._turns = turns
        self.host = host
        self.site = f"*.{site_of(host)}"
        self.come: asyncio.Future[None]

    async def __aenter__(self) -> None:
        if self._turns.take(self):
            return
        self.come = asyncio.get_running_loop().create_future()
        self._turns.wait(self)
        try:
            await self.come
        except asyncio.CancelledError:
            if self.come.cancelled():
                self._turns.forget(self)
            else:
                self._turns.give_back(self)  # its turn had come in the same moment
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._turns.give_back(self)
