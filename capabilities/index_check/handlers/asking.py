"""Asking: one query to a search provider, at its pace, and the verdict on the reply."""

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import count

from capabilities.index_check.engines.search.base.client import PageTooLarge, RequestStopped, SearchClient, Unreachable
from capabilities.index_check.engines.search.base.provider import OPERATORS, Provider, Reading, Reply
from capabilities.index_check.engines.search.base.verdict import Verdict, classify
from capabilities.index_check.handlers.feedback import Feedback
from capabilities.index_check.handlers.pacer import Pacer, Permit, sleep
from capabilities.index_check.handlers.url_check import CheckProgress, ProviderAnswer, UrlCheck
from capabilities.index_check.providers.circuit_breaker import Event
from capabilities.index_check.settings import SearchSettings
from pipeline.database import Database, Statement, nothing
from pipeline.downloads.urls import match_key
from pipeline.log import get_logger

log = get_logger(__name__)

#: Longest pause before the second try, so that not all processes come back at once; twice that before the third.
PAUSE_SECONDS = 0.2
#: A try that would wait longer for its permit is not made.
LONGEST_WAIT_FOR_A_PERMIT = timedelta(seconds=15)
#: The control query is asked at most once in so many queries.
CONTROL_EVERY_QUERIES = 10


class Asker:
    """Asks a provider, and asks again after a passing fault. It never asks again after a captcha."""

    def __init__(
        self, settings: SearchSettings, client: SearchClient, pacer: Pacer, feedback: Feedback, database: Database
    ) -> None:
        self._settings = settings
        self._pacer = pacer
        self._feedback = feedback
        self._database = database
        self._client = client

    def ask(self, check: UrlCheck, provider: Provider, permit: Permit) -> ProviderAnswer | None:
        """Ask about a URL in the next form of its query. After the last form, ask for proof of the empty pages.

        Return None while the next form, or the proof, is still to be asked. Raises RequestStopped."""
        check.progress.begin(provider.name)
        forms = provider.forms(check.task.input.url)
        try:
            if check.progress.form < len(forms):
                return self._ask_form(check, provider, forms, permit)
            return self._prove(provider, forms[-1], check.progress, permit, check.task.is_stopped)
        except RequestStopped:
            self._feedback.note(provider, Event.INCONCLUSIVE)  # else nobody may ask it before its booking is over
            raise

    def _ask_form(self, check: UrlCheck, provider: Provider, forms: list[str], permit: Permit) -> ProviderAnswer | None:
        progress = check.progress
        query = forms[progress.form]
        if not provider.is_askable(query):
            # The page may well be listed under a form that can't be asked.
            return ProviderAnswer(provider, query, Verdict("error", "query_too_long"))
        began = time.monotonic()
        verdict = self._judge(provider, query, check.key, permit, check.task.is_stopped)
        if verdict.reason != "not_indexed":
            return ProviderAnswer(provider, query, verdict)
        progress.miss(verdict)
        is_answer = verdict.match.has_host or not provider.needs_proof
        is_last = progress.form >= len(forms)
        if is_last and is_answer:
            return ProviderAnswer(provider, query, progress.negative)
        if is_last:
            took = time.monotonic() - began  # before the database's time is read: too late a moment proves less
            proof = self._database.run(find_proof(provider.pace_name))
            progress.missed_at = proof.now - took
            if proof.proves(progress.missed_at, provider.engines):
                return ProviderAnswer(provider, query, progress.negative)
        if permit.is_booked:  # else it would change nothing
            self._feedback.note(provider, Event.ANSWERED if is_answer else Event.INCONCLUSIVE)
        return None

    def _prove(
        self, provider: Provider, query: str, progress: CheckProgress, permit: Permit, stop: Callable[[], bool]
    ) -> ProviderAnswer | None:
        """Return "not indexed" if the provider has shown rows since it missed the page.

        Else ask for the control site, or put the URL back until that may be asked."""
        proof = self._database.run(find_proof(provider.pace_name))
        if proof.blocked_at > progress.missed_at:
            # A block since then may have begun with this URL: it is asked about anew.
            progress.provider = ""
            self._pacer.give_back(permit)
            return None
        if proof.proves(progress.missed_at, provider.engines):
            self._pacer.give_back(permit)
            return ProviderAnswer(provider, query, progress.negative, is_spent=False)
        every = CONTROL_EVERY_QUERIES * provider.pace.interval
        if wait := self._database.run(book_control(provider.pace_name, every)):
            self._pacer.give_back(permit)
            return ProviderAnswer(provider, query, Verdict("error", "empty_unproven"), is_spent=False, wait=wait)
        site = self._settings.control_site
        verdict = self._judge(provider, provider.site_query(f"https://{site}"), match_key(site) or site, permit, stop)
        if verdict.is_answer and not verdict.match.has_host:
            verdict = Verdict("error", "empty_unproven")
        elif verdict.is_answer and (
            silent := self._database.run(find_proof(provider.pace_name)).silent(provider.engines)
        ):
            log.info("engines showed no row today", provider=provider.name, engines=silent)
            verdict = Verdict("error", "engines_blocked")
        elif verdict.is_answer:
            verdict = progress.negative
        return ProviderAnswer(provider, query, verdict)

    def _judge(self, provider: Provider, query: str, key: str, permit: Permit, stop: Callable[[], bool]) -> Verdict:
        """Return the verdict on the reply to one query. Raises RequestStopped."""
        try:
            reply, reading = self._reply(provider, query, permit, stop)
        except PageTooLarge as error:
            return Verdict("error", error.code)
        is_operator = query.startswith(OPERATORS)
        verdict = classify(provider, reply, reading, key, is_operator=is_operator)
        if provider.needs_proof and verdict.match.has_host:
            self._database.run(keep_proof(provider.pace_name, reading.shown_by))
        return verdict

    def _reply(
        self, provider: Provider, query: str, permit: Permit, stop: Callable[[], bool]
    ) -> tuple[Reply | None, Reading]:
        """Ask, and ask again after a lost connection or a server error. Raises PageTooLarge, RequestStopped."""
        for tries in count(1):
            reply, reading, lost = None, Reading(), ""
            try:
                renew = partial(self._pacer.renew, permit)
                reply = provider.meaning(self._client.ask(provider.request(query), while_waiting=renew, stop=stop))
                reading = provider.parse(reply)
            except Unreachable as error:
                lost = error.message
            # A page with 503 may be a challenge, which is not asked again. A reply that names a time is asked then.
            is_over = reply and (reply.status < 500 or reply.retry_after() or reading.is_challenge)
            if is_over or tries >= self._settings.tries or not self._wait(provider, tries, stop):
                break
        if lost:
            log.info("provider not reached", provider=provider.name, reason=lost)
        return reply, reading

    def _wait(self, provider: Provider, tries: int, stop: Callable[[], bool]) -> bool:
        """Wait for another try, which keeps the provider's pace; return False if that takes too long.

        Raises RequestStopped."""
        sleep(random.uniform(0, PAUSE_SECONDS * tries), stop)  # noqa: S311  no secret
        self._feedback.note(provider, Event.INCONCLUSIVE)
        is_taken = self._pacer.take_again(provider.name, most=LONGEST_WAIT_FOR_A_PERMIT, stop=stop)
        if stop():
            raise RequestStopped
        if not is_taken:
            log.info("no permit for another try", provider=provider.name)
        return is_taken


#: How long a row proves that the engine behind a provider answers.
SHOWN_LASTS = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Proof:
    """When a provider last showed rows of a site that was asked for, and blocked or evaded us; and when each engine
    behind it last showed a row. In seconds since the epoch, by the database's clock; 0: never."""

    now: float
    proven_at: float = 0.0
    blocked_at: float = 0.0
    shown_by: Mapping[str, float] = field(default_factory=dict)

    def proves(self, missed_at: float, engines: Sequence[str]) -> bool:
        """Return whether a miss counts: rows came after it and no block, and all engines have shown one of late."""
        return self.blocked_at <= missed_at < self.proven_at and not self.silent(engines)

    def silent(self, engines: Sequence[str]) -> list[str]:
        since = self.now - SHOWN_LASTS.total_seconds()
        return [engine for engine in engines if self.shown_by.get(engine, 0) < since]


def find_proof(name: str) -> Statement[Proof]:
    return Statement(
        "SELECT extract(epoch FROM now())::float8 AS now,"
        " coalesce(extract(epoch FROM proven_at)::float8, 0) AS proven_at,"
        " coalesce(extract(epoch FROM blocked_at)::float8, 0) AS blocked_at,"
        " coalesce(shown_by, '{}') AS shown_by FROM search_provider WHERE name = %(name)s",
        {"name": name},
        lambda rows: Proof(**rows[0]) if rows else Proof(0),
    )


def keep_proof(name: str, engines: Sequence[str]) -> Statement[None]:
    """Note that a provider has just shown rows of a site that was asked for, and the engines that had them.

    Each URL's rows prove the misses of others on their way. Nobody waits for the disk: a lost proof costs a query."""
    return Statement(
        "UPDATE search_provider SET proven_at = now(), shown_by = coalesce(shown_by, '{}') || coalesce((SELECT"
        " jsonb_object_agg(engine, extract(epoch FROM now())::float8) FROM unnest(%(engines)s::text[]) engine), '{}')"
        " FROM set_config('synchronous_commit', 'off', true) WHERE name = %(name)s RETURNING 1 AS kept",
        {"name": name, "engines": list(engines)},
        nothing,
    )


def book_control(name: str, every: timedelta) -> Statement[timedelta]:
    """Book a provider's control query, one in so long a time; return the time to wait, or zero if it is booked."""
    return Statement(
        "WITH booked AS (UPDATE search_provider SET control_at = now() WHERE name = %(name)s"
        " AND coalesce(control_at <= now() - %(every)s, true) RETURNING 1)"
        " SELECT CASE WHEN EXISTS (SELECT FROM booked) THEN interval '0' ELSE greatest(interval '10 ms',"
        " (SELECT control_at + %(every)s - now() FROM search_provider WHERE name = %(name)s)) END AS wait",
        {"name": name, "every": every},
        lambda rows: timedelta(seconds=rows[0]["wait"].total_seconds()),
    )
