"""Index check: asks search providers about one URL, and keeps the answer before the next."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from capabilities.index_check.engines.search.base.client import RequestStopped
from capabilities.index_check.engines.search.base.provider import Provider
from capabilities.index_check.handlers.asking import Asker, CheckProgress, MoreToAsk, ProviderAnswer
from capabilities.index_check.handlers.diagnosis.diagnosing import Diagnosing
from capabilities.index_check.handlers.feedback import Feedback
from capabilities.index_check.handlers.owned import OwnedSites, with_inspection
from capabilities.index_check.handlers.pacer import OutOfUse, Pacer, Permit
from capabilities.index_check.handlers.proofs import Proofs
from capabilities.index_check.handlers.unchecked import UrlUnchecked, faulty, unasked
from capabilities.index_check.kinds.index_check import UrlInput
from capabilities.index_check.providers.causes import cause_of
from capabilities.index_check.providers.transitions import Event
from capabilities.index_check.requests.request import FAULTY_LANE, lane_of
from capabilities.index_check.results import verdicts
from capabilities.index_check.results.jobs import OWNED_LANE
from capabilities.index_check.results.raw_result import RawResult
from capabilities.index_check.settings import SearchSettings
from pipeline.database import Database
from pipeline.downloads.urls import match_key
from pipeline.errors import NotReady
from pipeline.offers.offers import Offer
from workers.engines.registry import load_engines
from workers.engines.resources import Resources
from workers.handler import Done, Failed, Handler, Outcome, Release, Retry, Task

FAMILY = "search"
#: Tries of a URL whose providers can't be reached, or are in trouble, and the longest wait between them.
MAX_TRIES = 4
LONGEST_WAIT = timedelta(minutes=1)


@dataclass
class UrlCheck:
    """One URL, and the providers that may still be asked about it."""

    task: Task[UrlInput]
    url: str
    key: str  # its match key
    lane: str
    progress: CheckProgress
    left: list[str]
    blocked: ProviderAnswer | None = None  # the block that the check ends with, if nobody takes over

    @property
    def page(self) -> bytes:
        """What the page's verdicts are kept under."""
        return hashlib.sha256(self.key.encode()).digest()


class IndexCheckHandler(Handler[UrlInput, RawResult]):
    """Takes one URL at a time into each slot, when a provider's pace allows."""

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
        """Find out which providers can be asked. Raises NotReady when none can."""
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
        self._asker = Asker(self._settings, self._pacer, self._feedback, Proofs(self._database))
        self._owned = OwnedSites(self.settings, self._database)

    def close(self) -> None:
        """Close all connections."""
        self._owned.close()
        self._asker.close()
        self._diagnosing.close()

    def offers(self) -> Sequence[Offer]:
        """Return the providers."""
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
        """Return how long it will be until a provider may be asked."""
        return self._pacer.pause()

    def run(self, tasks: Sequence[Task[UrlInput]]) -> Sequence[Outcome[RawResult]]:
        """Check URLs, and say why one is in no results, where that is wanted."""
        return [self._diagnosing.explain(task, self._check(task)) for task in tasks]

    def _check(self, task: Task[UrlInput]) -> Outcome[RawResult]:
        """Check a URL; one of a connected site with the services for its owner."""
        return self._ask_owned(task) if task.lane == OWNED_LANE else self._ask_others(task)

    def _ask_owned(self, task: Task[UrlInput]) -> Outcome[RawResult]:
        self._pacer.granted(OWNED_LANE)
        return self._owned.check(task)

    def _ask_others(self, task: Task[UrlInput]) -> Outcome[RawResult]:
        return with_inspection(self.carry_out(task), task)

    def carry_out(self, task: Task[UrlInput]) -> Outcome[RawResult]:
        """Check one URL."""
        if task.input.fault is not None:
            self._pacer.granted(FAULTY_LANE)
            return Failed(faulty(task.input.fault))
        url, lane = task.input.url, lane_of(task.input.engine, task.input.index)
        granted = self._pacer.granted(lane)  # first: left behind by an error, it would be the next URL's, and long over
        progress = CheckProgress.read(task.checkpoint)
        set_aside = self._feedback.set_aside(task.job_id)
        wanted = [name for name in self._lanes.get(lane, ()) if is_wanted(self._providers[name], task.input)]
        left = [name for name in wanted if name not in progress.erred and name not in set_aside]
        if not left:
            self._pacer.give_back(granted)
            return Failed(UrlUnchecked(next(iter(set_aside.values()), "engine_unavailable")))
        return self._ask_providers(UrlCheck(task, url, match_key(url) or url, lane, progress, left), granted)

    def _ask_providers(self, check: UrlCheck, granted: Permit | OutOfUse | None) -> Outcome[RawResult]:
        """Ask the providers that are left, one after the other, until something is known or nobody may be asked."""
        for permit in self._pacer.permits(granted, check.left):
            if check.task.is_stopped():
                # Cancelled meanwhile: another query would cost the provider's pace, or an API's price, for nobody.
                self._pacer.give_back(permit)
                return Release()
            if isinstance(permit, OutOfUse):
                error = failure(check.blocked) if check.blocked else unasked(permit.provider, permit.reason)
                return self._known(check, check.left) or Failed(error)
            if (known := self._known(check, [permit.provider])) is not None:
                self._pacer.give_back(permit)
                return known
            try:
                asked = self._ask(check, permit)
            except RequestStopped:
                return Release()
            if isinstance(asked, MoreToAsk):
                continue
            if asked.wait:
                check.task.save(check.progress.written())
                return Release(asked.wait)
            if asked.verdict.is_answer:
                return self._answered(check, asked, permit)
            if (outcome := self._not_answered(check, asked)) is not None:
                return outcome
        return self._put_back(check)

    def _ask(self, check: UrlCheck, permit: Permit) -> ProviderAnswer | MoreToAsk:
        """Ask the provider of a permit. Raises Stopped."""
        provider = self._providers[permit.provider]
        stop = check.task.is_stopped
        try:
            asked = self._asker.ask(check.url, check.key, provider, check.progress, permit, stop=stop)
        except RequestStopped:
            self._feedback.note(provider, Event.INCONCLUSIVE)  # else nobody may ask it before its booking is over
            raise
        if not asked.is_spent:
            self._pacer.give_back(permit)
        return asked

    def _known(self, check: UrlCheck, names: Sequence[str]) -> Outcome[RawResult] | None:
        """Return what one of some providers said of the page lately, whether or not it can be asked now.

        It is told as if the URL had been asked for: another account may have asked, with what is nobody else's
        business in its query (a session, a campaign). None as well where that query would be too long, or what was
        said is older than a job that wants new answers, or of another index than the provider has now."""
        reuse = self._settings.reuse
        if not reuse.longest:
            return None
        since = check.task.job_id if check.task.input.fresh else None
        known = self._database.run(verdicts.find_verdict(names, check.page, reuse=reuse, since_job=since))
        if known is None:
            return None
        provider = self._providers[known.output["provider"]]
        found = {"index": provider.index, **known.output}
        query = next((query for query in provider.queries(check.url) if query[:4] == found["query"][:4]), None)
        if query is None or found["index"] != provider.index:
            return None
        proof = {"proofUrl": provider.proof_url(query)} if "proofUrl" in found else {}
        age = {"reused": True, "age_seconds": int(known.age.total_seconds())}
        return Done(RawResult(**{**found, "query": query, **proof, **age}), engine=provider.name, credits=0)

    def _answered(self, check: UrlCheck, asked: ProviderAnswer, permit: Permit) -> Outcome[RawResult]:
        provider, output = asked.provider, asked.raw_result()
        self._feedback.forget_unusable(check.task.job_id, provider.name)
        if self._settings.reuse.longest:
            # Where nothing was asked, nothing is noted: the provider may be somebody else's by now.
            pace_name = provider.pace_name if asked.is_spent else ""
            self._database.run(verdicts.keep_verdict(provider.name, check.page, output, pace_name=pace_name))
        elif permit.is_booked and asked.is_spent:
            self._feedback.note(provider, Event.ANSWERED)
        return Done(RawResult(**output), engine=provider.name)

    def _not_answered(self, check: UrlCheck, asked: ProviderAnswer) -> Outcome[RawResult] | None:
        """Return what becomes of a URL whose provider did not answer; None: another one may."""
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
            return Retry(wait, failure(asked, remedy="It is asked for again."))
        return Failed(failure(asked))

    def _put_back(self, check: UrlCheck) -> Failed | Release:
        """Give the URL back, unless it was blocked too often.

        It stays ready until its lane is admitted, or waits for the providers that are left."""
        # Where another provider is well, and only not due, it will be asked next: one provider alone is no round.
        if check.blocked is not None and self._pacer.all_rest(check.left):
            check.progress.blocked += 1
            if check.progress.blocked >= self._settings.rounds:
                return Failed(failure(check.blocked))
        check.task.save(check.progress.written())
        is_whole_lane = len(check.left) == len(self._lanes[check.lane])
        return Release(timedelta() if is_whole_lane else self._pacer.wait(check.left))


def lanes_of(providers: Iterable[Provider]) -> dict[str, list[str]]:
    """Return the lanes that some providers serve, each with the names of those that may answer in it, in order."""
    lanes: dict[str, list[str]] = {}
    for provider in providers:
        # One from elsewhere has no lane of its own: its URLs are in that of all.
        for lane in dict.fromkeys((lane_of(None), lane_of(provider.name), lane_of(None, provider.index))):
            lanes.setdefault(lane, []).append(provider.name)
    return lanes


def is_wanted(provider: Provider, url: UrlInput) -> bool:
    """Return whether a provider is the one that a URL names, and has the index."""
    return url.engine in (None, provider.name) and url.index in (None, provider.index)


def failure(asked: ProviderAnswer, *, remedy: str = "") -> UrlUnchecked:
    """Return why a URL has no answer, with what its record shows; `remedy` instead of what helps by the code."""
    shown = {name: value for name, value in asked.raw_result().items() if name != "code"}
    return UrlUnchecked(asked.verdict.code, cause=cause_of(asked.verdict.cause), remedy=remedy, **shown)
