"""Asking: one query to a search provider, at its pace, and the verdict on what it says."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from tenacity import Retrying, retry_if_exception_type, retry_if_result, stop_after_attempt
from tenacity.wait import wait_random_exponential

from pipeline.database import Database
from pipeline.engine_settings import SearchSettings
from pipeline.kinds.index_check import pacing
from pipeline.log import get_logger
from pipeline.timestamps import timestamp
from workers.engines.search.client import PageTooLarge, SearchClient, Unreachable
from workers.engines.search.judging.pages import Query, Reading, Reply
from workers.engines.search.judging.resting import retry_after_of
from workers.engines.search.judging.verdict import Verdict, classify
from workers.engines.search.provider import Provider
from workers.handlers.index_check.turns import Turn, Turns

log = get_logger(__name__)

#: A try that would have to wait longer for its turn is not made: the URL is put back, or another provider is asked.
LONGEST_WAIT_FOR_A_TURN = timedelta(seconds=15)


@dataclass
class Standing:
    """How far the check of a URL is; kept as its item's checkpoint."""

    blocked: int = 0  # rounds in which all providers blocked it
    form: int = 0  # of the query, at `provider`
    provider: str = ""
    erred: list[str] = field(default_factory=list)  # providers that could not tell

    @classmethod
    def of(cls, checkpoint: Mapping[str, Any] | None) -> "Standing":
        """Read it from a checkpoint."""
        return cls(**checkpoint) if checkpoint else cls()


@dataclass(frozen=True, slots=True)
class Asked:
    """A query, who was asked, and the verdict."""

    provider: Provider
    query: Query
    verdict: Verdict

    def raw_result(self) -> dict[str, Any]:
        """Return what a URL's record says of it (docs/indexing.md, Records); no address that may hold a key."""
        verdict = self.verdict
        found: dict[str, Any] = {
            "reason": verdict.reason,
            "code": verdict.code,
            "provider": self.provider.name,
            "query": self.query.text,
            "checked_at": timestamp(datetime.now(UTC)),
            "matched_url": verdict.match.url,
        }
        if verdict.reason == "indexed":
            found["proofUrl"] = self.provider.proof_url(self.query)
        if verdict.match.near:
            found["near_matches"] = [{"url": url, "relation": relation} for url, relation in verdict.match.near]
        return found


class NoTurn(Exception):
    """It is not our turn soon enough for another try."""


class Asker:
    """Asks with patience for what passes by itself, and for nothing else: a captcha is never asked for twice."""

    def __init__(self, settings: SearchSettings, database: Database, turns: Turns) -> None:
        self._settings = settings
        self._database = database
        self._turns = turns
        self._client = SearchClient(settings)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def ask(self, url: str, provider: Provider, standing: Standing, turn: Turn) -> Asked:
        """Ask a provider in the form that is next, and judge what it says."""
        queries = provider.queries(url)
        if standing.provider != provider.name:
            standing.provider, standing.form = provider.name, 0
        if standing.form >= len(queries):
            return Asked(provider, Query("site", url), Verdict("error", "query_too_long"))
        query = queries[standing.form]
        verdict = self._verdict(url, provider, query, turn)
        if verdict.ask_again:
            standing.form += 1
            if standing.form >= len(queries):
                # It is the answer, and is noted as one.
                verdict = Verdict(verdict.reason, verdict.code, verdict.match)
            else:
                self._database.run(pacing.answered(provider.pace_name))
        return Asked(provider, query, verdict)

    def _verdict(self, url: str, provider: Provider, query: Query, turn: Turn) -> Verdict:
        try:
            reply = self._reply(provider, query, turn)
        except Unreachable as error:
            log.info("provider not reached", provider=provider.name, reason=error.message)
            return classify(None, Reading(), url=url, form=query.form, traits=provider.traits)
        except PageTooLarge:
            return Verdict("error", "page_too_large")
        return classify(
            reply,
            provider.parse(reply),
            url=url,
            form=query.form,
            traits=provider.traits,
            accept_variants=self._settings.accept_variants,
        )

    def _reply(self, provider: Provider, query: Query, turn: Turn) -> Reply:
        """Ask, and again after a lost connection or a server's error. Raises Unreachable, PageTooLarge."""
        tries: list[Reply | Unreachable] = []

        def ask_once() -> Reply:
            try:
                reply = self._client.ask(provider.sent(query), while_waiting=partial(self._turns.renew, turn))
            except Unreachable as error:
                tries.append(error)
                raise
            tries.append(reply)
            return reply

        retrying = Retrying(
            retry=retry_if_exception_type(Unreachable) | retry_if_result(partial(_is_passing, provider)),
            stop=stop_after_attempt(self._settings.tries),
            wait=wait_random_exponential(multiplier=0.2, max=5),
            sleep=partial(self._wait_for_turn, provider.name),
            retry_error_callback=lambda state: None,
        )
        try:
            retrying(ask_once)
        except NoTurn:
            log.info("no turn for another try", provider=provider.name)
        last = tries[-1]
        if isinstance(last, Unreachable):
            raise last
        return last

    def _wait_for_turn(self, provider: str, seconds: float) -> None:
        """Wait before another try, which keeps the provider's pace as the first one did."""
        time.sleep(seconds)
        if not self._turns.again(provider, most=LONGEST_WAIT_FOR_A_TURN):
            raise NoTurn


def _is_passing(provider: Provider, reply: Reply) -> bool:
    """Return whether the next try may well be answered.

    A page with 503 may be a challenge, which never is; one that names its time is asked again then, and not now."""
    return reply.status >= 500 and not retry_after_of(reply) and not provider.parse(reply).is_challenge
