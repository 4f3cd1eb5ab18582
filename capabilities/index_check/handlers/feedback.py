"""Feedback: the effect of a provider's answer on its circuit breaker, its pace, and the job that asked."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

from capabilities.index_check.engines.search.base.provider import Provider
from capabilities.index_check.engines.search.base.verdict import EVASIONS, UNUSABLE, Verdict
from capabilities.index_check.providers.circuit_breaker import RESTING, Event, Noted, note
from capabilities.index_check.settings import SearchSettings
from pipeline.database import Database
from pipeline.log import get_logger

log = get_logger(__name__)

#: Longest wait that an API may name without being taken for a block: it has a limit a second.
BRIEF = timedelta(minutes=1)
#: More of them in a row, without an answer, are a block, such as a month's quota that is used up.
MAX_BRIEF_LIMITS = 30
#: Jobs whose unusable pages are remembered.
MAX_JOBS = 1_000


def event_of(provider: Provider, verdict: Verdict) -> Event:
    """Return the event that a verdict is for its provider."""
    if verdict.is_answer:
        return Event.ANSWERED
    if verdict.reason == "rate_limited":
        is_brief = provider.is_api and verdict.code == "throttled" and timedelta() < verdict.rest <= BRIEF
        return Event.BRIEF_LIMIT if is_brief else Event.BLOCKED
    if verdict.code == "config":
        return Event.REFUSED
    if verdict.code in EVASIONS:
        return Event.EVADED
    return Event.UNREACHABLE if verdict.is_passing else Event.INCONCLUSIVE


class Feedback:
    """Notes events for all processes, and counts each job's unusable pages in this one."""

    def __init__(self, settings: SearchSettings, database: Database) -> None:
        self._settings = settings
        self._database = database
        self._unusable: OrderedDict[UUID, dict[str, list[str]]] = OrderedDict()
        self._lock = threading.Lock()

    def set_aside(self, job_id: UUID) -> Mapping[str, str]:
        """Return the providers that are of no use for a job, each with the code of its last page.

        An unusable page will look the same for the job's next URL, but maybe not for another job."""
        with self._lock:
            pages = self._unusable.get(job_id, {})
            return {name: codes[-1] for name, codes in pages.items() if len(codes) >= self._settings.strikes}

    def note(self, provider: Provider, event: Event, verdict: Verdict | None = None) -> Noted | None:
        reason, asked_for = (verdict.cause, verdict.rest) if verdict else ("", timedelta())
        noted = self._database.run(note(provider.pace_name, event, self._settings, reason=reason, asked_for=asked_for))
        if event in {Event.BLOCKED, Event.REFUSED} and noted is not None and noted.state in RESTING:
            seconds = round(noted.rest.total_seconds()) if noted.rest else 0
            log.warning("provider rests", provider=provider.name, state=noted.state, reason=reason, seconds=seconds)
        return noted

    def note_failure(self, job_id: UUID, provider: Provider, verdict: Verdict) -> Event:
        """Note that a provider gave no answer; return the event."""
        event = event_of(provider, verdict)
        noted = self.note(provider, event, verdict)
        if event is Event.BRIEF_LIMIT and noted is not None and noted.brief_limits > MAX_BRIEF_LIMITS:
            event = Event.BLOCKED
            self.note(provider, event, verdict)
        if event is Event.EVADED and noted is not None and noted.evasions >= self._settings.strikes:
            # The provider rests, but the URL goes on to the next one, since it was not blocked.
            self.note(provider, Event.BLOCKED, verdict)
        if verdict.code in UNUSABLE:
            self._count_unusable(job_id, provider.name, verdict.code)
        return event

    def forget_unusable(self, job_id: UUID, provider: str) -> None:
        """Forget a job's unusable pages of a provider that has answered: only those in a row count."""
        with self._lock:
            if job_id in self._unusable:
                self._unusable[job_id].pop(provider, None)

    def _count_unusable(self, job_id: UUID, provider: str, code: str) -> None:
        with self._lock:
            codes = self._unusable.setdefault(job_id, {}).setdefault(provider, [])
            codes.append(code)
            self._unusable.move_to_end(job_id)
            if len(self._unusable) > MAX_JOBS:
                self._unusable.popitem(last=False)
        if len(codes) == self._settings.strikes:
            log.warning("provider set aside for a job", provider=provider, reason=code, job_id=str(job_id))
