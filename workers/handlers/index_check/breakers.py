"""Breakers: what a provider's answers do to its breaker, its pace, and the job that asks."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Mapping
from datetime import timedelta
from uuid import UUID

from pipeline.database import Database, Statement
from pipeline.engine_settings import SearchSettings
from pipeline.kinds.index_check import pacing
from pipeline.log import get_logger
from workers.engines.search.judging.resting import read_ladder
from workers.engines.search.judging.verdict import UNUSABLE
from workers.handlers.index_check.asking import Asked

log = get_logger(__name__)

#: An API that names its own time, and one as short as this, has a limit a second; it is no block.
BRIEF = timedelta(minutes=1)
#: So many of them in a row, and no answer between, are a block after all: a month's quota that is used up, say.
MOST_BRIEF = 30
#: Jobs whose unusable pages are remembered; an older one meets them again.
MOST_JOBS = 1_000


class Breakers:
    """Opens and closes breakers in the rows, for all processes; counts a job's unusable pages in this one."""

    def __init__(self, settings: SearchSettings, database: Database, *, most_brief: int = MOST_BRIEF) -> None:
        self._settings = settings
        self._database = database
        self._most_brief = most_brief
        self._captcha_ladder = read_ladder(settings.captcha_minutes)
        self._throttle_ladder = read_ladder(settings.throttle_minutes)
        self._strikes: OrderedDict[UUID, dict[str, list[str]]] = OrderedDict()
        self._brief: Counter[str] = Counter()
        self._lock = threading.Lock()

    def struck_out(self, job_id: UUID) -> Mapping[str, str]:
        """Return the providers that are of no use for a job, each with the code of its last page.

        A page that can't be read will look the same for the job's next URL; another job's may be read well."""
        with self._lock:
            strikes = self._strikes.get(job_id, {})
            return {name: codes[-1] for name, codes in strikes.items() if len(codes) >= self._settings.strikes}

    def note_answer(self, job_id: UUID, provider: str) -> None:
        """Forget a job's unusable pages of a provider, and its brief limits: only those in a row count."""
        with self._lock:
            del self._brief[provider]
            if job_id in self._strikes:
                self._strikes[job_id].pop(provider, None)

    def note_block(self, asked: Asked) -> bool:
        """Let a provider rest; false when it is only its own limit a second."""
        verdict, provider = asked.verdict, asked.provider
        is_brief = provider.traits.is_api and verdict.code == "throttled" and timedelta() < verdict.rest <= BRIEF
        if is_brief and not self._is_endless(provider.name):
            self._database.run(pacing.paused(provider.pace_name, verdict.rest))
            return False
        ladder = self._throttle_ladder if verdict.code == "throttled" else self._captcha_ladder
        rest = self._database.run(
            pacing.blocked(
                provider.pace_name,
                ladder=ladder,
                retry_after=verdict.rest,
                most=timedelta(hours=self._settings.max_rest_hours),
                rounds=self._settings.give_up_rounds,
                reason=verdict.code,
            )
        )
        log.warning("provider rests", provider=provider.name, reason=verdict.code, seconds=round(rest.total_seconds()))
        return True

    def note_error(self, job_id: UUID, asked: Asked) -> None:
        """End a turn that came to nothing, with what follows from its cause."""
        name, code = asked.provider.pace_name, asked.verdict.code
        statement: Statement[None] = pacing.stumbled(name)
        if code == "config":
            log.error("provider out of use", provider=asked.provider.name, reason=code)
            off_for = timedelta(minutes=self._settings.off_minutes)
            statement = pacing.put_off(name, off_for=off_for, reason=code)
        elif asked.verdict.is_passing:
            most = timedelta(hours=self._settings.max_rest_hours)
            wait = min(most, asked.verdict.rest) or timedelta(seconds=self._settings.unreachable_seconds)
            statement = pacing.paused(name, wait)
        elif code in UNUSABLE:
            self._strike(job_id, asked.provider.name, code)
        self._database.run(statement)

    def _is_endless(self, provider: str) -> bool:
        with self._lock:
            self._brief[provider] += 1
            return self._brief[provider] > self._most_brief

    def _strike(self, job_id: UUID, provider: str, code: str) -> None:
        with self._lock:
            codes = self._strikes.setdefault(job_id, {}).setdefault(provider, [])
            codes.append(code)
            self._strikes.move_to_end(job_id)
            if len(self._strikes) > MOST_JOBS:
                self._strikes.popitem(last=False)
        if len(codes) == self._settings.strikes:
            log.warning("provider of no use for a job", provider=provider, reason=code, job_id=str(job_id))
