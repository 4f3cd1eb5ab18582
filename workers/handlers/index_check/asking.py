"""Asking: one query to a search provider, at its pace, and the verdict on the reply."""

import random
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

from pipeline.engine_settings import SearchSettings
from pipeline.kinds.index_check.transitions import Event
from pipeline.log import get_logger
from pipeline.timestamps import timestamp
from workers.engines.search.base.client import PageTooLarge, SearchClient, Unreachable
from workers.engines.search.base.provider import Provider, Reading, Reply
from workers.engines.search.base.verdict import Verdict, classify
from workers.handlers.index_check.feedback import Feedback
from workers.handlers.index_check.pacer import Pacer, Permit

log = get_logger(__name__)

#: Longest pause before the second try, so that not all processes come back at once; twice that before the third.
PAUSE_SECONDS = 0.2
#: Another try that would have to wait longer for its permit is not made.
LONGEST_WAIT_FOR_A_PERMIT = timedelta(seconds=15)


@dataclass
class CheckProgress:
    """How far the check of a URL is; kept as its item's checkpoint, so its fields stay."""

    blocked: int = 0  # rounds in which all providers blocked it
    form: int = 0  # of the query, at `provider`
    provider: str = ""
    erred: list[str] = field(default_factory=list)  # providers that could not tell


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, who was asked, and the verdict."""

    provider: Provider
    query: str
    verdict: Verdict

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


class Asker:
    """Asks a provider, and again after what passes by itself. It never asks again after a captcha."""

    def __init__(self, settings: SearchSettings, pacer: Pacer, feedback: Feedback) -> None:
        self._settings = settings
        self._pacer = pacer
        self._feedback = feedback
        self._client = SearchClient(settings)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def ask(self, url: str, key: str, provider: Provider, progress: CheckProgress, permit: Permit) -> Asked:
        """Ask a provider about a URL in the next form of its query, and judge its reply; `key` is its match key."""
        queries = provider.queries(url)
        if progress.provider != provider.name:
            progress.provider, progress.form = provider.name, 0
        if progress.form >= len(queries):
            return Asked(provider, url, Verdict("error", "query_too_long"))
        query = queries[progress.form]
        try:
            reply, reading = self._reply(provider, query, permit)
        except PageTooLarge:
            return Asked(provider, query, Verdict("error", "page_too_large"))
        verdict = classify(
            provider,
            reply,
            reading,
            key,
            is_first=progress.form == 0,
            accept_variants=self._settings.accept_variants,
        )
        if verdict.ask_again:
            progress.form += 1
            if progress.form < len(queries):
                self._feedback.note(provider, Event.ANSWERED)
            else:
                # There is no other form: this is the answer, and is noted as one.
                verdict = replace(verdict, ask_again=False)
        return Asked(provider, query, verdict)

    def _reply(self, provider: Provider, query: str, permit: Permit) -> tuple[Reply | None, Reading]:
        """Ask, and again after a lost connection or a server's error. Raises PageTooLarge."""
        for tries in count(1):
            reply, reading, lost = None, Reading(), ""
            try:
                came = self._client.ask(provider.request(query), while_waiting=partial(self._pacer.renew, permit))
                reply = provider.meaning(came)
                reading = provider.parse(reply)
            except Unreachable as error:
                lost = error.message
            # A page with 503 may be a challenge; it is not asked for again. One that names a time is asked for then.
            is_over = reply and (reply.status < 500 or reply.retry_after() or reading.is_challenge)
            if is_over or tries >= self._settings.tries or not self._wait(provider, tries):
                break
        if lost:
            log.info("provider not reached", provider=provider.name, reason=lost)
        return reply, reading

    def _wait(self, provider: Provider, tries: int) -> bool:
        """Wait for another try, which keeps the provider's pace as the first one did; false: that takes too long."""
        time.sleep(random.uniform(0, PAUSE_SECONDS * tries))  # noqa: S311  no secret
        self._feedback.note(provider, Event.INCONCLUSIVE)
        if not self._pacer.take_again(provider.name, most=LONGEST_WAIT_FOR_A_PERMIT):
            log.info("no permit for another try", provider=provider.name)
            return False
        return True
