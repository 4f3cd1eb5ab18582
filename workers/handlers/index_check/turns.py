"""Turns: which search provider a URL is asked of, and when; the same for all processes, because it stands in rows."""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from pipeline.database import Database
from pipeline.errors import PressroomError
from pipeline.kinds.index_check import pacing
from pipeline.kinds.index_check.pacing import Outlook, Pace, Standing
from pipeline.log import get_logger
from workers.handlers.index_check.unchecked import BLOCKS

log = get_logger(__name__)

#: A look is good for so long: at full speed there would be one for each URL.
LOOK_LASTS_SECONDS = 0.05
#: A provider that was never looked at, or whose row is gone.
UNKNOWN = timedelta(seconds=1)
#: One that takes a query at a time is free again so long after its last sign of life, when its process has died; who
#: waits for an answer gives one every three seconds (workers/engines/search/client.py).
BUSY_FOR = timedelta(seconds=10)
#: A provider that was due is taken by somebody else, time and again: pause a little.
SHORTEST_WAIT_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Turn:
    """The right to ask a provider once. `is_held`: it was taken in the rows, and must be used or given back."""

    provider: str | None  # None: all providers of the lane are out of use
    is_held: bool = False
    refused_by: str = ""  # one of them, and why it is out of use
    reason: str | None = None


class Turns:
    """Takes turns of providers for lanes; a lane is a kind, with its providers in order of preference."""

    def __init__(self, database: Database, paces: Mapping[str, Pace], lanes: Mapping[str, Sequence[str]]) -> None:
        self._database = database
        self._paces = paces
        self._lanes = lanes
        self._names = [pace.name for pace in paces.values()]
        self._offered: dict[str, Turn] = {}
        self._granted: dict[str, deque[Turn]] = defaultdict(deque)
        self._pause: timedelta | None = None
        self._lock = threading.Lock()
        self._outlook = Outlook({}, frozenset())
        self._looked_for: set[str] = set()
        self._looked_until = 0.0
        database.run(pacing.introduce(self._names))

    def admit(self, kinds: Sequence[str], room: int) -> dict[str, int]:
        """Take a turn for each lane that has something to do; return how many URLs of each may be claimed with it.

        One that was taken in the rows is for one query; nothing keeps others from being many."""
        known = [kind for kind in kinds if kind in self._lanes]
        outlook = self._look(known)
        self._pause = None
        self._offered = {}
        for kind in known:
            if kind in outlook.kinds and (turn := self._turn(self._lanes[kind], outlook)) is not None:
                self._offered[kind] = turn
        return {kind: 1 if turn.is_held else room for kind, turn in self._offered.items()}

    def forget(self) -> None:
        """Look again before the next claim: a provider is not as it was."""
        self._looked_until = 0.0

    def claimed(self, kind: str | None, count: int) -> None:
        """Keep the turn of the lane of which so many URLs were claimed, and give the others back."""
        if kind is None:
            self.forget()
        offered, self._offered = self._offered, {}
        if kind is not None and kind in offered:
            with self._lock:
                self._granted[kind].extend([offered.pop(kind)] * count)
        for turn in offered.values():
            try:
                self.give_back(turn)
            except PressroomError as error:
                # What was claimed is run all the same; a turn that nobody uses is somebody else's after a while.
                log.warning("turn not given back", provider=turn.provider, error=error.message)

    def pause(self) -> timedelta | None:
        """Return how long it will be until a lane that has something to do may go on."""
        return self._pause

    def of(self, kind: str) -> Turn | None:
        """Return the turn that an item of a lane was claimed with."""
        with self._lock:
            return self._granted[kind].popleft() if self._granted[kind] else None

    def take(self, providers: Sequence[str]) -> Turn | None:
        """Take a turn of the first of some providers that may be asked now."""
        return self._turn(providers, self._database.run(pacing.look(self._names, [])))

    def wait(self, providers: Sequence[str]) -> timedelta:
        """Return how long it will be until one of some providers may be asked; no time at all for those out of use."""
        outlook = self._database.run(pacing.look(self._names, []))
        standings = [self._standing(name, outlook) for name in providers]
        waits = [standing.wait for standing in standings if not standing.is_off]
        return max(timedelta(), min(waits, default=timedelta()))

    def all_rest(self, providers: Sequence[str]) -> bool:
        """Return whether none of some providers can be asked, however long one waits for its turn."""
        outlook = self._database.run(pacing.look(self._names, []))
        return all(standing.is_open or standing.is_off for standing in (self._standing(p, outlook) for p in providers))

    def again(self, provider: str, *, most: timedelta) -> bool:
        """Take the next turn of a provider after one that came to nothing; false when it would take longer."""
        until = time.monotonic() + most.total_seconds()
        self._database.run(pacing.stumbled(self._paces[provider].name))
        while (turn := self.take([provider])) is None:
            wait = max(SHORTEST_WAIT_SECONDS, self.wait([provider]).total_seconds())
            if time.monotonic() + wait > until:
                return False
            time.sleep(wait)
        return turn.provider is not None

    def exchange(self, turn: Turn, providers: Sequence[str]) -> Turn | None:
        """Take a turn of one of some other providers instead, if there is one now.

        The turn's own provider is not offered again before they are: the URLs behind this one are likely to want the
        same, and would be claimed and put back one after the other. Nobody stands behind one that rests, which may
        take a day: a URL that wants it is put back until it is due."""
        outlook = self._database.run(pacing.look(self._names, []))
        other = self._turn(providers, outlook)
        if turn.provider is not None and turn.is_held:
            behind = [self._paces[name].name for name in providers if self._is_soon(name, outlook)]
            self._database.run(pacing.give_back(self._paces[turn.provider].name, behind=behind))
        self.forget()
        return other

    def renew(self, turn: Turn) -> None:
        """Say that a query is still on its way."""
        if turn.provider is not None and turn.is_held:
            self._database.run(pacing.renew(self._paces[turn.provider].name, busy_for=BUSY_FOR))

    def give_back(self, turn: Turn | None) -> None:
        """Let somebody else have a turn that was not used."""
        if turn is not None and turn.provider is not None and turn.is_held:
            self._database.run(pacing.give_back(self._paces[turn.provider].name))

    def _look(self, kinds: Sequence[str]) -> Outlook:
        """Return how all are now, or were a moment ago; what a pace allows is still taken in its row alone."""
        if time.monotonic() >= self._looked_until or set(kinds) != self._looked_for:
            self._outlook = self._database.run(pacing.look(self._names, kinds))
            self._looked_for = set(kinds)
            self._looked_until = time.monotonic() + LOOK_LASTS_SECONDS if self._outlook.kinds else 0.0
        return self._outlook

    def _turn(self, providers: Sequence[str], outlook: Outlook) -> Turn | None:
        standings = {name: self._standing(name, outlook) for name in providers}
        usable = [name for name in providers if not standings[name].is_off]
        if not usable:
            # One that blocks us is named first: its URLs may well be answered later, and are retried with the others.
            name = min(providers, key=lambda name: standings[name].reason not in BLOCKS)
            return Turn(None, refused_by=name, reason=standings[name].reason)
        for name in usable:
            standing, pace = standings[name], self._paces[name]
            if standing.wait <= timedelta() and not standing.is_open:
                if pace.is_unpaced and not standing.is_tested:
                    return Turn(name)
                alone = pace.alone or standing.is_tested
                self.forget()
                if self._database.run(pacing.take(pace, alone=alone, busy_for=BUSY_FOR)):
                    return Turn(name, is_held=True)
            self._note(standing.wait)
            if self._is_soon(name, outlook) and not standing.is_tested:
                # It is well, and only not due: nobody takes over from it.
                return None
        return None

    def _is_soon(self, provider: str, outlook: Outlook) -> bool:
        """Return whether a provider neither rests nor was told to wait, and so is due at its pace."""
        standing, pace = self._standing(provider, outlook), self._paces[provider]
        longest = max(pace.interval * (1 + pace.jitter), BUSY_FOR)
        return not standing.is_open and not standing.is_off and standing.wait <= longest

    def _note(self, wait: timedelta) -> None:
        if self._pause is None or wait < self._pause:
            self._pause = max(timedelta(), wait)

    def _standing(self, provider: str, outlook: Outlook) -> Standing:
        name = self._paces[provider].name
        return outlook.standings.get(name) or Standing(name, False, False, False, UNKNOWN, None)
