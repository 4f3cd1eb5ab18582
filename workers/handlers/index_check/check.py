"""Index check: one URL after the other is asked of a search provider, and its answer kept before the next."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from pipeline.database import Database
from pipeline.errors import NotReady
from pipeline.kinds.index_check import pacing
from pipeline.kinds.index_check.check import UrlInput, UrlOutput, lane_of
from pipeline.offers import Offer
from pipeline.urls import match_key
from workers.engines.registry import load_engines
from workers.engines.search.provider import Provider
from workers.handler import Done, Failed, Handler, Outcome, Release, Retry, Task
from workers.handlers.index_check.asking import Asked, Asker, Standing
from workers.handlers.index_check.breakers import Breakers
from workers.handlers.index_check.turns import Turn, Turns
from workers.handlers.index_check.unchecked import UrlUnchecked, unasked, unchecked
from workers.resources import Resources

FAMILY = "search"
#: Tries of a URL whose providers can't be reached, or are in trouble, and the longest wait between them.
MAX_TRIES = 4
LONGEST_WAIT = timedelta(minutes=1)


class IndexCheckHandler(Handler[UrlInput, UrlOutput]):
    """Takes one URL at a time into each slot, when a provider's pace allows."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        settings = resources.settings
        self.slots = settings.search.slots
        self._settings = settings.search
        self._all = settings
        self._providers: dict[str, Provider] = {}
        self._needs: dict[str, str] = {}
        self._lanes: dict[str, list[str]] = {}

    def use(self, database: Database) -> None:
        """Take the database that paces, breakers and verdicts are in."""
        self._database = database

    def setup(self) -> None:
        """Find out which providers can be asked. Raises NotReady when none can."""
        for provider in load_engines(self._all, FAMILY):
            if (needs := provider.readiness()) is not None:
                self._needs[provider.name] = needs
            else:
                self._providers[provider.name] = provider
        if not self._providers:
            raise NotReady("; ".join(f"{name}: {needs}" for name, needs in self._needs.items()))
        names = list(self._providers)
        self._lanes = {lane_of(None): names, **{lane_of(name): [name] for name in names}}
        paces = {name: provider.pace for name, provider in self._providers.items()}
        self._turns = Turns(self._database, paces, self._lanes)
        self._asker = Asker(self._settings, self._database, self._turns)
        self._breakers = Breakers(self._settings, self._database)

    def close(self) -> None:
        """Close all connections."""
        self._asker.close()

    def offers(self) -> Sequence[Offer]:
        """Return the providers."""
        ready = [Offer(FAMILY, name, ready=True) for name in self._providers]
        return ready + [Offer(FAMILY, name, ready=False, needs=needs) for name, needs in self._needs.items()]

    def admit(self, kinds: Sequence[str], room: int) -> Mapping[str, int]:
        """Return how many URLs of each kind a provider may be asked about now."""
        return self._turns.admit(kinds, room)

    def claimed(self, kind: str | None, runs: int) -> None:
        """Keep the turn of the kind that was claimed."""
        self._turns.claimed(kind, runs)

    def pause(self) -> timedelta | None:
        """Return how long it will be until a provider may be asked."""
        return self._turns.pause()

    def carry_out(self, task: Task[UrlInput]) -> Outcome[UrlOutput]:
        """Check one URL."""
        kind = lane_of(task.input.engine)
        turn = self._turns.of(kind)  # first: left behind by an error, it would be the next URL's, and long over
        standing = Standing.of(task.checkpoint)
        useless = self._breakers.struck_out(task.job_id)
        left = [name for name in self._lanes.get(kind, ()) if name not in standing.erred and name not in useless]
        if not left:
            self._turns.give_back(turn)
            return Failed(unchecked(next(iter(useless.values()), "engine_unavailable")))
        if turn is None or (turn.provider is not None and turn.provider not in left):
            # Its provider could not tell before: another one is asked.
            turn = self._turns.exchange(turn, left) if turn else self._turns.take(left)
        while turn is not None:
            outcome, turn = self._use(turn, task, standing, left)
            if outcome is not None:
                return outcome
            turn = turn or self._turns.take(left)
        return self._put_back(task, standing, left)

    def _use(
        self, turn: Turn, task: Task[UrlInput], standing: Standing, left: list[str]
    ) -> tuple[Outcome[UrlOutput] | None, Turn | None]:
        """Return what becomes of a URL that has its turn; when nothing yet, another provider's turn if there is one."""
        if task.is_stopped():
            # Cancelled meanwhile: another query would cost the provider's pace, or an API's price, for nobody.
            self._turns.give_back(turn)
            return Release(), None
        if (known := self._known(task, [turn.provider] if turn.provider else left)) is not None:
            self._turns.give_back(turn)
            return known, None
        if turn.provider is None:
            return Failed(unasked(turn.reason or "engine_unavailable", turn.refused_by)), None
        asked = self._asker.ask(task.input.url, self._providers[turn.provider], standing, turn)
        if asked.verdict.ask_again:
            return None, None
        if asked.verdict.is_answer:
            return self._answer(task, asked, turn), None
        if asked.verdict.reason == "rate_limited":
            return self._after_block(task, standing, left, asked)
        return self._after_error(task, standing, left, asked), None

    def _known(self, task: Task[UrlInput], names: Sequence[str]) -> Outcome[UrlOutput] | None:
        """Return an answer of one of some providers that is still fresh; one that can't be asked has given it too."""
        if not self._settings.fresh_days:
            return None
        within = timedelta(days=self._settings.fresh_days)
        found = self._database.run(pacing.find_verdict(names, page_of(task.input.url), within=within))
        if found is None:
            return None
        provider = self._providers[found["provider"]]
        own = _as_asked(found, task.input.url, provider)
        return Done(UrlOutput(**own, reused=True), engine=provider.name) if own is not None else None

    def _answer(self, task: Task[UrlInput], asked: Asked, turn: Turn) -> Outcome[UrlOutput]:
        provider, output = asked.provider, asked.raw_result()
        self._breakers.note_answer(task.job_id, provider.name)
        if self._settings.fresh_days:
            page = page_of(task.input.url)
            self._database.run(pacing.answered_with(provider.pace_name, page, output, provider=provider.name))
        elif turn.is_held:
            self._database.run(pacing.answered(provider.pace_name))
        return Done(UrlOutput(**output), engine=provider.name)

    def _after_block(
        self, task: Task[UrlInput], standing: Standing, left: Sequence[str], asked: Asked
    ) -> tuple[Outcome[UrlOutput] | None, Turn | None]:
        """Return what becomes of a URL whose provider blocked it, or the turn of another that takes over."""
        self._turns.forget()
        if not self._breakers.note_block(asked):
            return self._put_back(task, standing, left), None
        turn = self._turns.take(left)
        if turn is not None and turn.provider is not None and turn.provider != asked.provider.name:
            return None, turn
        if turn is not None and turn.provider is None:
            # It is out of use from now on, as all others are: there is nobody to wait for.
            return Failed(failure(asked)), None
        self._turns.give_back(turn)
        # Where another is well, and only not due, it will be asked next: nobody but one has blocked the URL.
        standing.blocked += self._turns.all_rest(left)
        if standing.blocked >= self._settings.rounds:
            return Failed(failure(asked)), None
        return self._put_back(task, standing, left), None

    def _after_error(
        self, task: Task[UrlInput], standing: Standing, left: list[str], asked: Asked
    ) -> Outcome[UrlOutput] | None:
        """Return what becomes of a URL whose provider could not tell; None: another one is asked."""
        self._turns.forget()
        self._breakers.note_error(task.job_id, asked)
        left.remove(asked.provider.name)
        if left:
            standing.erred.append(asked.provider.name)
            return None
        if asked.verdict.is_passing and task.attempts + 1 < MAX_TRIES:
            wait = min(LONGEST_WAIT, timedelta(seconds=self._settings.unreachable_seconds) * 2**task.attempts)
            return Retry(wait, failure(asked))
        return Failed(failure(asked))

    def _put_back(self, task: Task[UrlInput], standing: Standing, left: Sequence[str]) -> Outcome[UrlOutput]:
        """Give the URL back: it stays ready behind the gate of its lane, or waits for who is left."""
        task.save(asdict(standing))
        is_whole_lane = len(left) == len(self._lanes[lane_of(task.input.engine)])
        return Release(timedelta() if is_whole_lane else self._turns.wait(left))


def failure(asked: Asked) -> UrlUnchecked:
    """Return why a URL has no answer, with what its record shows."""
    shown = {name: value for name, value in asked.raw_result().items() if name != "code"}
    return unchecked(asked.verdict.code, **shown)


def _as_asked(found: Mapping[str, Any], url: str, provider: Provider) -> dict[str, Any] | None:
    """Return an answer about a page as if it had been asked with this URL; None: its query would be too long.

    Another account may have asked, with what is nobody else's business in its query: a session, a campaign."""
    same = next((query for query in provider.queries(url) if query.text[:4] == found["query"][:4]), None)
    if same is None:
        return None
    proof = {"proofUrl": provider.proof_url(same)} if "proofUrl" in found else {}
    return {**found, "query": same.text, **proof}


def page_of(url: str) -> bytes:
    """Return what a page's verdicts are kept under."""
    return hashlib.sha256((match_key(url) or url).encode()).digest()
