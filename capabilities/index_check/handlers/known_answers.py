"""Known answers: recent answers of providers and site services, shared by all processes."""

from collections.abc import Sequence
from typing import Any

from capabilities.index_check.engines.search.base.provider import Provider
from capabilities.index_check.handlers.feedback import Feedback
from capabilities.index_check.handlers.url_check import ProviderAnswer, UrlCheck
from capabilities.index_check.kinds.index_check import UrlInput
from capabilities.index_check.providers.circuit_breaker import Event
from capabilities.index_check.results.raw_result import RawResult
from capabilities.index_check.results.verdicts import find_verdict, keep_verdict
from capabilities.index_check.settings import Reuse
from pipeline.database import Database
from workers.handler import Done, Task


class KnownAnswers:
    """Finds and keeps answers."""

    def __init__(self, reuse: Reuse, database: Database) -> None:
        self._reuse = reuse
        self._database = database

    def find(self, task: Task[UrlInput], page: bytes, names: Sequence[str]) -> dict[str, Any] | None:
        """Return the first fresh answer of some names about a page; fresh jobs use none from before them."""
        since = task.job_id if task.input.fresh else None
        return self._database.run(find_verdict(names, page, reuse=self._reuse, since_job=since))

    def find_for(self, check: UrlCheck, providers: Sequence[Provider]) -> Done[RawResult] | None:
        """Return what one of some providers said about the page lately, whether or not it can be asked now.

        It shows this URL's own query: another account's may hold what is private to it (a session, a campaign). None as
        well if this query would be too long, or the provider has another index by now."""
        if not self._reuse.longest:
            return None
        by_name = {provider.name: provider for provider in providers}
        known = self.find(check.task, check.page, list(by_name))
        if known is None:
            return None
        provider = by_name[known["provider"]]
        queries = provider.queries(check.task.input.url)
        query = next((query for query in queries if query[:4] == known["query"][:4]), None)
        if query is None or known["index"] != provider.index:
            return None
        proof = {"proofUrl": provider.proof_url(query)} if "proofUrl" in known else {}
        return Done(RawResult(**{**known, "query": query, **proof}), engine=provider.name, credits=0)

    def deliver(
        self, check: UrlCheck, asked: ProviderAnswer, feedback: Feedback, *, is_booked: bool
    ) -> Done[RawResult]:
        provider, output = asked.provider, asked.raw_result()
        if self._reuse.longest:
            # If nothing was asked, nothing is noted: another process may be asking the provider by now.
            pace_name = provider.pace_name if asked.is_spent else ""
            self._database.run(keep_verdict(provider.name, check.page, output, pace_name=pace_name))
        elif is_booked and asked.is_spent:
            feedback.note(provider, Event.ANSWERED)
        feedback.forget_unusable(check.task.job_id, provider.name)
        return Done(RawResult(**output), engine=provider.name)
