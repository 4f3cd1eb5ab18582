"""Pacer: gives permits to ask search providers, at the pace that all processes share."""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

from capabilities.index_check.providers import pacing
from capabilities.index_check.providers.circuit_breaker import OUT_OF_USE, PROBING, RESTING, State
from capabilities.index_check.providers.pacing import Overview, Pace, ProviderStatus
from pipeline.database import Database
from pipeline.errors import PressroomError
from pipeline.log import get_logger

log = get_logger(__name__)

#: How long an overview is reused: at full speed there would be one for each URL.
OVERVIEW_LASTS_SECONDS = 0.05
#: Until a provider without a row is looked at again.
UNKNOWN = timedelta(seconds=1)
#: A booking is free again so long after its last renewal, if its process has died. A query on its way renews it every
#: three seconds (engines/search/base/client.py).
BUSY_FOR = timedelta(seconds=10)
#: Shortest pause before a provider is asked for again that somebody else keeps booking.
SHORTEST_WAIT_SECONDS = 0.01
#: How often a wait looks at `stop`.
LOOK_EVERY_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Permit:
    """The right to ask a provider once. A booked one is in the provider's row, and must be used or given back."""

    provider: str
    is_booked: bool = False


#: The permit of a lane without providers, whose handler has its own pace.
UNPACED = Permit("")


@dataclass(frozen=True, slots=True)
class OutOfUse:
    """No provider may be asked, and none is worth waiting for. Names one of them, and why."""

    provider: str
    reason: str | None
    is_booked: ClassVar[bool] = False


class Pacer:
    """Gives permits; a lane has providers in order of preference."""

    def __init__(self, database: Database, paces: Mapping[str, Pace], lanes: Mapping[str, Sequence[str]]) -> None:
        self._database = database
        self._paces = paces
        self._lanes = lanes
        self._names = [pace.name for pace in paces.values()]
        self._offered: dict[str, Permit | OutOfUse] = {}
        self._granted: dict[str, deque[Permit | OutOfUse]] = defaultdict(deque)
        self._pause: timedelta | None = None
        self._lock = threading.Lock()
        self._overview = Overview({}, frozenset())
        self._overview_of: set[str] = set()
        self._overview_until = 0.0
        database.run(pacing.add_providers(self._names))

    def admit(self, lanes: Sequence[str], room: int) -> dict[str, int]:
        """Get a permit for each lane that has ready items; return how many URLs of each it covers.

        A booked permit covers one query, an unbooked one as many as there is room."""
        known = [lane for lane in lanes if lane in self._lanes]
        overview = self._recent_overview(known)
        self._pause = None
        self._offered = {}
        for lane in known:
            if lane in overview.lanes and (permit := self._permit(self._lanes[lane], overview)) is not None:
                self._offered[lane] = permit
        return {lane: 1 if permit.is_booked else room for lane, permit in self._offered.items()}

    def claimed(self, lane: str | None, count: int) -> None:
        """Keep the permit of the lane that was claimed, `count` times, and give the others back."""
        if lane is None:
            self.look_again()
        offered, self._offered = self._offered, {}
        if lane is not None and lane in offered:
            with self._lock:
                self._granted[lane].extend([offered.pop(lane)] * count)
        for permit in offered.values():
            try:
                self.give_back(permit)
            except PressroomError as error:
                # The claimed URLs are run all the same, and an unused permit expires.
                log.warning("permit not given back", provider=permit.provider, error=error.message)

    def pause(self) -> timedelta | None:
        """Return the time until a lane with ready items may go on, or None if unknown."""
        return self._pause

    def look_again(self) -> None:
        """Read a new overview for the next claim: a provider has changed."""
        self._overview_until = 0.0

    def granted(self, lane: str) -> Permit | OutOfUse | None:
        """Return the permit that an item of a lane was claimed with."""
        with self._lock:
            return self._granted[lane].popleft() if self._granted[lane] else None

    def permits(self, granted: Permit | OutOfUse | None, providers: Sequence[str]) -> Iterator[Permit | OutOfUse]:
        """Yield permits of providers, the granted one first, until none may be asked now."""
        permit = granted or self.take(providers)
        if isinstance(permit, Permit) and permit.provider not in providers:
            permit = self._take_other(permit, providers)
        while permit is not None:
            yield permit
            permit = self.take(providers)

    def take(self, providers: Sequence[str]) -> Permit | OutOfUse | None:
        """Return a permit of the first provider that may be asked now, or None if all have to wait."""
        recent = self._overview if time.monotonic() < self._overview_until else None
        return self._permit(providers, recent or self._look())

    def take_again(self, provider: str, *, most: timedelta, stop: Callable[[], bool]) -> bool:
        """Take a provider's next permit for another try; return False once `stop` holds, or after `most`."""
        until = time.monotonic() + most.total_seconds()
        while (permit := self.take([provider])) is None:
            wait = max(SHORTEST_WAIT_SECONDS, self.wait([provider]).total_seconds())
            if time.monotonic() + wait > until:
                return False
            if not sleep(wait, stop):
                return False
        return isinstance(permit, Permit)

    def renew(self, permit: Permit) -> None:
        if permit.is_booked:
            self._database.run(pacing.renew(self._paces[permit.provider].name, busy_for=BUSY_FOR))

    def give_back(self, permit: Permit | OutOfUse | None, *, behind: Sequence[str] = ()) -> None:
        """Give an unused permit back, for use at once or when one of `behind` is due."""
        if permit is not None and permit.is_booked:
            self._database.run(pacing.give_back(self._paces[permit.provider].name, behind=behind))

    def wait(self, providers: Sequence[str]) -> timedelta:
        """Return the time until one of the providers may be asked, or zero if all are out of use."""
        overview = self._look()
        found = [self._status(name, overview) for name in providers]
        return max(timedelta(), min((one.wait for one in found if one.state not in OUT_OF_USE), default=timedelta()))

    def all_rest(self, providers: Sequence[str]) -> bool:
        """Return whether all of the providers rest, so that waiting for their pace is no use."""
        overview = self._look()
        return all(self._status(name, overview).state in RESTING for name in providers)

    def _take_other(self, permit: Permit, providers: Sequence[str]) -> Permit | OutOfUse | None:
        """Give a permit back, and take one of other providers, if there is one now.

        The permit's provider is not offered again before they are due: the next URLs probably want the same, and would
        be claimed and put back one after another. If they rest, which may take a day, it is offered at once."""
        overview = self._look()
        other = self._permit(providers, overview)
        behind = [self._paces[name].name for name in providers if self._is_soon(name, overview)]
        self.give_back(permit, behind=behind)
        self.look_again()
        return other

    def _look(self) -> Overview:
        return self._database.run(pacing.look(self._names))

    def _recent_overview(self, lanes: Sequence[str]) -> Overview:
        """Return an overview that may be a moment old. Bookings still look at the rows."""
        if time.monotonic() >= self._overview_until or set(lanes) != self._overview_of:
            self._overview = self._database.run(pacing.look(self._names, lanes))
            self._overview_of = set(lanes)
            self._overview_until = time.monotonic() + OVERVIEW_LASTS_SECONDS if self._overview.lanes else 0.0
        return self._overview

    def _permit(self, providers: Sequence[str], overview: Overview) -> Permit | OutOfUse | None:
        if not providers:
            return UNPACED
        statuses = {name: self._status(name, overview) for name in providers}
        if all(status.state in OUT_OF_USE for status in statuses.values()):
            return OutOfUse(providers[0], statuses[providers[0]].reason)
        for name, status in statuses.items():
            if status.state in OUT_OF_USE:
                continue
            if status.wait <= timedelta() and (permit := self._book(name, status)) is not None:
                return permit
            wait = max(timedelta(), status.wait)
            self._pause = wait if self._pause is None else min(self._pause, wait)
            if self._is_soon(name, overview) and status.state not in PROBING:
                # It is well, and only not due: no other provider takes over.
                return None
        return None

    def _book(self, provider: str, status: ProviderStatus) -> Permit | None:
        pace = self._paces[provider]
        if not pace.interval and status.state is State.CLOSED and not status.brief_limits and not status.evasions:
            return Permit(provider)  # a good answer would change nothing in the row
        self.look_again()
        is_alone = pace.alone or status.state in PROBING
        is_booked = self._database.run(pacing.book(pace, alone=is_alone, busy_for=BUSY_FOR))
        return Permit(provider, is_booked=True) if is_booked else None

    def _is_soon(self, provider: str, overview: Overview) -> bool:
        """Return whether a provider is due at its pace: it neither rests nor was told to wait."""
        status, pace = self._status(provider, overview), self._paces[provider]
        return status.state not in RESTING and status.wait <= max(pace.interval * (1 + pace.jitter), BUSY_FOR)

    def _status(self, provider: str, overview: Overview) -> ProviderStatus:
        name = self._paces[provider].name
        return overview.providers.get(name) or ProviderStatus(name, State.CLOSED, UNKNOWN)


def sleep(seconds: float, stop: Callable[[], bool]) -> bool:
    """Wait; return False as soon as `stop` holds."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if stop():
            return False
        time.sleep(min(LOOK_EVERY_SECONDS, left))
    return not stop()
