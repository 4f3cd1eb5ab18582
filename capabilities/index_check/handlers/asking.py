"""Asking: one query to a search provider, at its pace, and the verdict on the reply."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any, Self

from capabilities.index_check.engines.search.base.client import PageTooLarge, RequestStopped, SearchClient, Unreachable
from capabilities.index_check.engines.search.base.provider import OPERATORS, Provider, Reading, Reply
from capabilities.index_check.engines.search.base.verdict import MAX_NEAR, Match, Verdict, classify
from capabilities.index_check.handlers.feedback import Feedback
from capabilities.index_check.handlers.pacer import Pacer, Permit, sleep
from capabilities.index_check.handlers.proofs import Proofs
from capabilities.index_check.providers.transitions import Event
from capabilities.index_check.settings import SearchSettings
from pipeline.downloads.urls import match_key
from pipeline.log import get_logger
from pipeline.timestamps import timestamp

log = get_logger(__name__)

#: Longest pause before the second try, so that not all processes come back at once; twice that before the third.
PAUSE_SECONDS = 0.2
#: Another try that would have to wait longer for its permit is not made.
LONGEST_WAIT_FOR_A_PERMIT = timedelta(seconds=15)


@dataclass
class CheckProgress:
    """How far the check of a URL is; kept as its item's checkpoint, so its fields stay."""

    blocked: int = 0  # rounds in which all providers blocked it
    erred: list[str] = field(default_factory=list)  # providers that could not tell
    provider: str = ""
    form: int = 0  # of the query, at `provider`; those before it don't list the page
    code: str = ""  # of the verdict that the page is not indexed
    near: list[tuple[str, str]] = field(default_factory=list)  # rows that are nearly the page, with their relation
    #: When the last form was asked whose answer was empty, and is to be proven; seconds since the epoch, by the
    #: database's clock.
    missed_at: float = 0.0
    inspection: dict[str, Any] | None = None  # facts of a service for site owners (owned.py)

    @classmethod
    def read(cls, checkpoint: Mapping[str, Any] | None) -> Self:
        """Return what a checkpoint says, that of a later release as well."""
        known = {one.name for one in fields(cls)}
        progress = cls(**{name: value for name, value in (checkpoint or {}).items() if name in known})
        progress.near = [(url, relation) for url, relation in progress.near]  # JSON has no tuples
        return progress

    def written(self) -> dict[str, Any]:
        """Return the checkpoint: what is as it was at first is left out."""
        first = CheckProgress()
        return {name: value for name, value in vars(self).items() if value != getattr(first, name)}

    def begin(self, provider: str) -> None:
        """Ask a provider, in the first form if it is another than before."""
        if self.provider != provider:
            self.provider, self.form, self.code, self.near, self.missed_at = provider, 0, "", [], 0.0

    def miss(self, verdict: Verdict) -> None:
        """Note that a form does not list the page."""
        self.form += 1
        self.code = verdict.code if self.code != "no_match" else self.code
        self.near = list(dict.fromkeys([*self.near, *verdict.match.near]))[:MAX_NEAR]

    @property
    def negative(self) -> Verdict:
        """The verdict where no form lists the page."""
        return Verdict("not_indexed", self.code, Match(near=tuple((url, relation) for url, relation in self.near)))


@dataclass(frozen=True, slots=True)
class ProviderAnswer:
    """A query, who was asked, and the verdict."""

    provider: Provider
    query: str
    verdict: Verdict
    is_spent: bool = True  # the permit was used
    wait: timedelta = timedelta()  # until then nothing can be told, and the URL is put back

    def raw_result(self) -> dict[str, Any]:
        """Return what a URL's record says of it (docs/indexing.md, Records); no address that may hold a key."""
        verdict = self.verdict
        found: dict[str, Any] = {
            "reason": verdict.reason,
            "code": verdict.code,
            "provider": self.provider.name,
            "index": self.provider.index,
            "query": self.query,
            "checked_at": timestamp(datetime.now(UTC)),
            "matched_url": verdict.match.url,
        }
        if verdict.reason == "indexed":
            found["proofUrl"] = self.provider.proof_url(self.query)
        if verdict.match.near:
            found["near_matches"] = [{"url": url, "relation": relation} for url, relation in verdict.match.near]
        return found


@dataclass(frozen=True, slots=True)
class MoreToAsk:
    """A query was not enough: the next form, or what proves an empty page, is to be asked."""

    is_spent: bool = True  # the permit was used


class Asker:
    """Asks a provider, and again after what passes by itself. It never asks again after a captcha."""

    def __init__(self, settings: SearchSettings, pacer: Pacer, feedback: Feedback, proofs: Proofs) -> None:
        self._settings = settings
        self._pacer = pacer
        self._feedback = feedback
        self._proofs = proofs
        self._client = SearchClient(settings)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def ask(
        self,
        url: str,
        key: str,
        provider: Provider,
        progress: CheckProgress,
        permit: Permit,
        *,
        stop: Callable[[], bool],
    ) -> ProviderAnswer | MoreToAsk:
        """Ask a provider about a URL in the next form of its query, and judge its reply; `key` is its match key.

        After the last form, ask what proves that its empty pages count. Raises Stopped."""
        progress.begin(provider.name)
        forms = provider.forms(url)
        if progress.form >= len(forms):
            return self._prove(provider, forms[-1], progress, permit, stop)
        query = forms[progress.form]
        if not provider.is_askable(query):
            # The page may well be listed under a form that can't be asked.
            return ProviderAnswer(provider, query, Verdict("error", "query_too_long"))
        began = time.monotonic()
        verdict = self._judge(provider, query, key, permit, stop)
        if verdict.reason != "not_indexed":
            return ProviderAnswer(provider, query, verdict)
        progress.miss(verdict)
        is_answer = verdict.match.has_host or not provider.needs_proof
        if progress.form < len(forms):
            return self._ask_more(provider, permit, Event.ANSWERED if is_answer else Event.INCONCLUSIVE)
        if is_answer or self._proofs.has_seen(provider, began):
            return ProviderAnswer(provider, query, progress.negative)
        progress.missed_at = self._proofs.missed_at(provider, began)
        return self._ask_more(provider, permit, Event.INCONCLUSIVE)

    def _ask_more(self, provider: Provider, permit: Permit, event: Event) -> MoreToAsk:
        if permit.is_booked:  # else it would change nothing
            self._feedback.note(provider, event)
        return MoreToAsk()

    def _prove(
        self, provider: Provider, query: str, progress: CheckProgress, permit: Permit, stop: Callable[[], bool]
    ) -> ProviderAnswer | MoreToAsk:
        """Say that a page is not indexed if its provider has shown rows since it missed it: else ask for the control
        site, or wait until that may be asked."""
        proof = self._proofs.find(provider)
        if proof.blocked_at > progress.missed_at:
            # It has blocked or evaded since, and may well have begun with this URL: it is asked about it anew.
            progress.provider = ""
            return MoreToAsk(is_spent=False)
        if proof.proves(progress.missed_at, provider.engines):
            return ProviderAnswer(provider, query, progress.negative, is_spent=False)
        if wait := self._proofs.book_control(provider):
            return ProviderAnswer(provider, query, Verdict("error", "empty_unproven"), is_spent=False, wait=wait)
        site = self._settings.control_site
        verdict = self._judge(provider, provider.site_query(f"https://{site}"), match_key(site) or site, permit, stop)
        if not verdict.is_answer:
            return ProviderAnswer(provider, query, verdict)
        if not verdict.match.has_host:
            return ProviderAnswer(provider, query, Verdict("error", "empty_unproven"))
        if silent := self._proofs.find(provider).silent(provider.engines):
            log.info("engines showed no row today", provider=provider.name, engines=silent)
            return ProviderAnswer(provider, query, Verdict("error", "engines_blocked"))
        return ProviderAnswer(provider, query, progress.negative)

    def _judge(self, provider: Provider, query: str, key: str, permit: Permit, stop: Callable[[], bool]) -> Verdict:
        """Return the verdict on the reply to one query. Raises Stopped."""
        try:
            reply, reading = self._reply(provider, query, permit, stop)
        except PageTooLarge:
            return Verdict("error", "page_too_large")
        verdict = classify(
            provider,
            reply,
            reading,
            key,
            is_operator=query.startswith(OPERATORS),
            accept_variants=self._settings.accept_variants,
        )
        if provider.needs_proof and verdict.match.has_host:
            self._proofs.keep(provider, reading.shown_by)
        return verdict

    def _reply(
        self, provider: Provider, query: str, permit: Permit, stop: Callable[[], bool]
    ) -> tuple[Reply | None, Reading]:
        """Ask, and again after a lost connection or a server's error. Raises PageTooLarge, Stopped."""
        for tries in count(1):
            reply, reading, lost = None, Reading(), ""
            try:
                renew = partial(self._pacer.renew, permit)
                came = self._client.ask(provider.request(query), while_waiting=renew, stop=stop)
                reply = provider.meaning(came)
                reading = provider.parse(reply)
            except Unreachable as error:
                lost = error.message
            # A page with 503 may be a challenge; it is not asked for again. One that names a time is asked for then.
            is_over = reply and (reply.status < 500 or reply.retry_after() or reading.is_challenge)
            if is_over or tries >= self._settings.tries or not self._wait(provider, tries, stop):
                break
        if lost:
            log.info("provider not reached", provider=provider.name, reason=lost)
        return reply, reading

    def _wait(self, provider: Provider, tries: int, stop: Callable[[], bool]) -> bool:
        """Wait for another try, which keeps the provider's pace as the first one did; false: that takes too long.

        Raises Stopped."""
        sleep(random.uniform(0, PAUSE_SECONDS * tries), stop)  # noqa: S311  no secret
        self._feedback.note(provider, Event.INCONCLUSIVE)
        is_taken = self._pacer.take_again(provider.name, most=LONGEST_WAIT_FOR_A_PERMIT, stop=stop)
        if stop():
            raise RequestStopped
        if not is_taken:
            log.info("no permit for another try", provider=provider.name)
        return is_taken
