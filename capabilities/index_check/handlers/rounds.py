"""Rounds: a URL's providers are asked one after another, until one answers or none may be asked now."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from capabilities.index_check.engines.search.base.client import RequestStopped
from capabilities.index_check.engines.search.base.provider import Provider
from capabilities.index_check.handlers.asking import Asker
from capabilities.index_check.handlers.feedback import Feedback
from capabilities.index_check.handlers.known_answers import KnownAnswers
from capabilities.index_check.handlers.pacer import OutOfUse, Pacer, Permit
from capabilities.index_check.handlers.unchecked import unasked
from capabilities.index_check.handlers.url_check import MoreToAsk, ProviderAnswer, UrlCheck
from capabilities.index_check.providers.transitions import Event
from capabilities.index_check.results.raw_result import RawResult
from capabilities.index_check.settings import SearchSettings
from workers.handler import Failed, Outcome, Release, Retry

#: Tries of a URL whose providers can't be reached, and the longest wait between them.
MAX_TRIES = 4
LONGEST_WAIT = timedelta(minutes=1)


class Rounds:
    """Asks the providers of a lane, in order. A URL that all of them block has had a round."""

    def __init__(
        self,
        settings: SearchSettings,
        providers: Mapping[str, Provider],
        lanes: Mapping[str, Sequence[str]],
        asker: Asker,
        pacer: Pacer,
        feedback: Feedback,
        answers: KnownAnswers,
    ) -> None:
        self._settings = settings
        self._providers = providers
        self._lanes = lanes
        self._asker = asker
        self._pacer = pacer
        self._feedback = feedback
        self._answers = answers

    def run(self, check: UrlCheck, granted: Permit | OutOfUse | None) -> Outcome[RawResult]:
        """Ask the providers that are left, the one of the granted permit first."""
        for permit in self._pacer.permits(granted, check.left):
            if check.task.is_stopped():
                # Cancelled meanwhile: another query would cost the provider's pace, or an API's price, for nobody.
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
            if isinstance(asked, MoreToAsk):
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
        # A provider that is well, and only not due, will be asked next: so this was no round.
        if check.blocked is not None and self._pacer.all_rest(check.left):
            check.progress.blocked += 1
            if check.progress.blocked >= self._settings.rounds:
                return Failed(check.blocked.failure())
        check.task.save(check.progress.written())
        is_whole_lane = len(check.left) == len(self._lanes[check.lane])
        return Release(timedelta() if is_whole_lane else self._pacer.wait(check.left))
