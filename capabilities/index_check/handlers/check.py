"""Index check handler: asks search providers about one URL at a time, in each of its slots."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from capabilities.index_check.engines.search.base.provider import Provider
from capabilities.index_check.handlers.asking import Asker
from capabilities.index_check.handlers.diagnosis.diagnosing import Diagnosing
from capabilities.index_check.handlers.feedback import Feedback
from capabilities.index_check.handlers.known_answers import KnownAnswers
from capabilities.index_check.handlers.owned import OwnedSites, with_inspection
from capabilities.index_check.handlers.pacer import Pacer
from capabilities.index_check.handlers.rounds import Rounds
from capabilities.index_check.handlers.unchecked import UrlUnchecked, faulty
from capabilities.index_check.handlers.url_check import CheckProgress, UrlCheck
from capabilities.index_check.kinds.index_check import UrlInput
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
from workers.handler import Failed, Handler, Outcome, Task

FAMILY = "search"


class IndexCheckHandler(Handler[UrlInput, RawResult]):
    """Claims URLs when a provider's pace allows it, and checks them."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources)
        self._settings = resources.settings.of(SearchSettings)
        self._diagnosing = Diagnosing(resources.settings)
        self.slots = self._settings.slots
        self._providers: dict[str, Provider] = {}
        self._needs: dict[str, str] = {}
        self._lanes: dict[str, list[str]] = {}

    def use(self, database: Database) -> None:
        """Take the database that paces, circuit breakers and verdicts are in."""
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
        self._asker = Asker(self._settings, self._pacer, self._feedback, self._database)
        answers = KnownAnswers(self._settings.reuse, self._database)
        self._rounds = Rounds(
            self._settings, self._providers, self._lanes, self._asker, self._pacer, self._feedback, answers
        )
        self._owned = OwnedSites(self.settings, self._database, answers)

    def close(self) -> None:
        self._owned.close()
        self._asker.close()
        self._diagnosing.close()

    def offers(self) -> Sequence[Offer]:
        ready = [
            Offer(FAMILY, name, ready=True, content={"index": provider.index})
            for name, provider in self._providers.items()
        ]
        return ready + [Offer(FAMILY, name, ready=False, needs=needs) for name, needs in self._needs.items()]

    def admit(self, lanes: Sequence[str], room: int) -> Mapping[str, int]:
        """Return how many URLs of each lane a provider may be asked about now."""
        return self._pacer.admit(lanes, room)

    def claimed(self, lane: str | None, runs: int) -> None:
        """Keep the permit of the lane that was claimed."""
        self._pacer.claimed(lane, runs)

    def pause(self) -> timedelta | None:
        """Return the time until a provider may be asked."""
        return self._pacer.pause()

    def run(self, tasks: Sequence[Task[UrlInput]]) -> Sequence[Outcome[RawResult]]:
        """Check URLs, and diagnose those that are in no results where their job asks for it."""
        return [self._diagnosing.explain(task, self._check(task)) for task in tasks]

    def _check(self, task: Task[UrlInput]) -> Outcome[RawResult]:
        if task.lane == OWNED_LANE:
            self._pacer.granted(OWNED_LANE)
            return self._owned.check(task)
        return with_inspection(self.carry_out(task), task)

    def carry_out(self, task: Task[UrlInput]) -> Outcome[RawResult]:
        """Check one URL with search providers."""
        if task.input.fault is not None:
            self._pacer.granted(FAULTY_LANE)
            return Failed(faulty(task.input.fault))
        lane = lane_of(task.input.engine, task.input.index)
        granted = self._pacer.granted(lane)  # first: left behind by an error, it would be the next URL's, long expired
        progress = CheckProgress.read(task.checkpoint)
        set_aside = self._feedback.set_aside(task.job_id)
        wanted = [name for name in self._lanes.get(lane, ()) if is_wanted(self._providers[name], task.input)]
        left = [name for name in wanted if name not in progress.erred and name not in set_aside]
        if not left:
            self._pacer.give_back(granted)
            return Failed(UrlUnchecked(next(iter(set_aside.values()), "engine_unavailable")))
        key = match_key(task.input.url) or task.input.url
        return self._rounds.run(UrlCheck(task, key, lane, progress, left), granted)


def lanes_of(providers: Iterable[Provider]) -> dict[str, list[str]]:
    """Return the lanes that providers serve, each with their names in order."""
    lanes: dict[str, list[str]] = {}
    for provider in providers:
        # A plug-in's provider has no lane of its own: its URLs are in the common one.
        for lane in dict.fromkeys((lane_of(None), lane_of(provider.name), lane_of(None, provider.index))):
            lanes.setdefault(lane, []).append(provider.name)
    return lanes


def is_wanted(provider: Provider, url: UrlInput) -> bool:
    """Return whether a provider matches the engine and index that a URL names."""
    return url.engine in (None, provider.name) and url.index in (None, provider.index)
