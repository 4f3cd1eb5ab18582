"""Index check handler: asks one search provider after another about a URL, until one answers."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from capabilities.index_check.engines.search.base.client import RequestStopped, SearchClient
from capabilities.index_check.engines.search.base.provider import Provider
from capabilities.index_check.handlers.asking import Asker
from capabilities.index_check.handlers.diagnosis.diagnosing import Diagnosing
from capabilities.index_check.handlers.feedback import Feedback
from capabilities.index_check.handlers.known_answers import KnownAnswers
from capabilities.index_check.handlers.owned import OwnedSites
from capabilities.index_check.handlers.pacer import OutOfUse, Pacer, Permit
from capabilities.index_check.handlers.url_check import CheckProgress, ProviderAnswer, UrlCheck
from capabilities.index_check.kinds.index_check import UrlInput
from capabilities.index_check.providers.causes import UrlUnchecked, faulty, unasked
from capabilities.index_check.providers.circuit_breaker import Event
from capabilities.index_check.requests.request import FAULTY_LANE, lane_of
from capabilities.index_check.results.jobs import OWNED_LANE
from capabilities.index_check.results.raw_result import RawResult
from capabilities.index_check.settings import SearchSettings
from pipeline.database import Database
from pipeline.downloads.urls import match_key
from pipeline.errors import NotReady
from pipeline.offers.offers import Offer
from workers.engines.registry import load_engines
from workers.engines.resources import Resources
from workers.handler import Failed, Handler, Outcome, Release, Retry, Task

FAMILY = "search"
#: Tries of a URL whose providers can't be reached, and the longest wait between them.
MAX_TRIES = 4
LONGEST_WAIT = timedelta(minutes=1)


class IndexCheckHandler(Handler[UrlInput, RawResult]):
    """Claims URLs when a provider's pace allows it, and checks one in each of its slots.

    A URL that all providers of its lane block has had a round."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self._settings = resources.settings.of(SearchSettings)
        self._diagnosing = Diagnosing(resources.settings)
        self.slots = self._settings.slots
        self._providers: dict[str, Provider] = {}
        self._needs: dict[str, str] = {}
        self._lanes: dict[str, list[str]] = {}

    def use(self, database: Database) -> None:
        self._database = database

    def setup(self) -> None:
        """Find the providers that can be asked. Raises NotReady if there are none."""
        for provider in load_engines(self.settings, FAMILY):
            if (needs := provider.readiness()) is not None:
                self._needs[provider.name] = needs
            else:
                self._providers[provider.name] = provider
        if not self._providers:
            raise NotReady("; ".join(f"{name}: {needs}" for name, needs in self._needs.items()))
        self._lanes = lanes_of(self._providers.values()) | {OWNED_LANE: [], FAULTY_LANE: []}
        paces = {name: provider.pace for name, provider in self._providers.items()}
        self._pacer = Pacer(self._database, paces, self._lanes)
        self._feedback = Feedback(self._settings, self._database)
        self._client = SearchClient(self._settings)
        self._asker = Asker(self._settings, self._client, self._pacer, self._feedback, self._database)
        self._answers = KnownAnswers(self._settings.reuse, self._database)
        self._owned = OwnedSites(self.settings, self._database, self._client, self._answers)

    def close(self) -> None:
        self._client.close()
        self._diagnosing.close()

    def offers(self) -> Sequence[Offer]:
        ready = [
            Offer(FAMILY, name, ready=True, content={"index": provider.index})
            for name, provider in self._providers.items()
        ]
        return ready + [Offer(FAMILY, name, ready=False, needs=needs) for name, needs in self._needs.items()]

    def admit(self, lanes: Sequence[str], room: int) -> Mapping[str, int]:
        return self._pacer.admit(lanes, room)

    def claimed(self, lane: str | None, runs: int) -> None:
        self._pacer.claimed(lane, runs)

    def pause(self) -> timedelta | None:
        return self._pacer.pause()

    def run(self, tasks: Sequence[Task[UrlInput]]) -> Sequence[Outcome[RawResult]]:
        """Check URLs, and diagnose those that are in no results where their job asks for it."""
        return [self._diagnosing.explain(task, self._check(task)) for task in tasks]

    def _check(self, task: Task[UrlInput]) -> Outcome[RawResult]:
        if task.lane == OWNED_LANE:
            self._pacer.granted(OWNED_LANE)
            return self._owned.check(task)
        return self.carry_out(task)

    def carry_out(self, task: Task[UrlInput]) -> Outcome[RawResult]:
        if task.input.fault is not None:
            self._pacer.granted(FAULTY_LANE)
            return Failed(faulty(task.input.fault))
        lane = lane_of(task.input.engine, task.input.index)
        granted = self._pacer.granted(lane)  # first: left behind by an error, it would be the next URL's, long expired
        progress = CheckProgress.read(task.checkpoint)
        set_aside = self._feedback.set_aside(task.job_id)
        left = [
            name
            for name in self._lanes.get(lane, ())
            if name not in progress.erred
            and name not in set_aside
            and task.input.engine in (None, name)
            and task.input.index in (None, self._providers[name].index)
        ]
        if not left:
            self._pacer.give_back(granted)
            return Failed(UrlUnchecked(next(iter(set_aside.values()), "engine_unavailable")))
        key = match_key(task.input.url) or task.input.url
        return self._ask(UrlCheck(task, key, lane, progress, left), granted)

    def _ask(self, check: UrlCheck, granted: Permit | OutOfUse | None) -> Outcome[RawResult]:
        for permit in self._pacer.permits(granted, check.left):
            if check.task.is_stopped():
                # Another query would cost the provider's pace, or an API's price, for nobody.
                self._pacer.give_back(permit)
                return Release()
            names = check.left if isinstance(permit, OutOfUse) else [permit.provider]
            known = self._answers.find_for(check, [self._providers[name] for name in names])
            if isinstance(permit, OutOfUse):
                error = check.blocked.failure() if check.blocked else unasked(permit.provider, permit.reason)
                return known or Failed(error)
            if known is not None:
                self._pacer.give_back(permit)
                return known
            try:
                asked = self._asker.ask(check, self._providers[permit.provider], permit)
            except RequestStopped:
                return Release()
            if asked is None:
                continue
            if asked.wait:
                check.task.save(check.progress.written())
                return Release(asked.wait)
            if asked.verdict.is_answer:
                return self._answers.deliver(check, asked, self._feedback, is_booked=permit.is_booked)
            if (outcome := self._not_answered(check, asked)) is not None:
                return outcome
        return self._put_back(check)

    def _not_answered(self, check: UrlCheck, asked: ProviderAnswer) -> Outcome[RawResult] | None:
        """Return the outcome of a URL whose provider did not answer, or None if another one may."""
        self._pacer.look_again()
        event = self._feedback.note_failure(check.task.job_id, asked.provider, asked.verdict)
        if event is Event.BRIEF_LIMIT:
            return self._put_back(check)
        if event is Event.BLOCKED:
            check.blocked = asked
            return None
        check.blocked = None
        check.left.remove(asked.provider.name)
        if check.left:
            check.progress.erred.append(asked.provider.name)
            return None
        attempts = check.task.attempts
        if asked.verdict.is_passing and attempts + 1 < MAX_TRIES:
            wait = min(LONGEST_WAIT, timedelta(seconds=self._settings.unreachable_seconds) * 2**attempts)
            return Retry(wait, asked.failure(remedy="It is asked for again."))
        return Failed(asked.failure())

    def _put_back(self, check: UrlCheck) -> Failed | Release:
        """Give the URL back, unless it was blocked too often.

        It stays ready until its lane is admitted, or waits for the providers that are left."""
        # No round while a provider is well and only not due: it will be asked next.
        if check.blocked is not None and self._pacer.all_rest(check.left):
            check.progress.blocked += 1
            if check.progress.blocked >= self._settings.rounds:
                return Failed(check.blocked.failure())
        check.task.save(check.progress.written())
        is_whole_lane = len(check.left) == len(self._lanes[check.lane])
        return Release(timedelta() if is_whole_lane else self._pacer.wait(check.left))


def lanes_of(providers: Iterable[Provider]) -> dict[str, list[str]]:
    lanes: dict[str, list[str]] = {}
    for provider in providers:
        # A plug-in's provider has no lane of its own: its URLs are in the common one.
        for lane in dict.fromkeys((lane_of(None), lane_of(provider.name), lane_of(None, provider.index))):
            lanes.setdefault(lane, []).append(provider.name)
    return lanes
