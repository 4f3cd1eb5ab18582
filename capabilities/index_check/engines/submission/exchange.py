"""Exchange: one request to a submission engine, and the answers that mean the same everywhere."""

from collections.abc import Mapping
from datetime import timedelta

from capabilities.index_check.engines.search.base.client import PageTooLarge, SearchClient, Unreachable
from capabilities.index_check.engines.search.base.provider import Reply, SearchRequest
from capabilities.index_check.engines.submission import SubmissionVerdict
from capabilities.index_check.settings import SearchSettings
from pipeline.settings import Settings


class Exchange:
    """Asks an engine once. It follows no redirect, which would drop the body."""

    def __init__(self, settings: Settings, who: str) -> None:
        self._client = SearchClient(settings.of(SearchSettings))
        self._who = who

    def get(self, url: str, query: Mapping[str, str]) -> Reply | SubmissionVerdict:
        """Return the reply, or a verdict if there was none."""
        return self._ask(SearchRequest(url, query=query, follows=False))

    def post(
        self, url: str, body: Mapping[str, object], query: Mapping[str, str] | None = None
    ) -> Reply | SubmissionVerdict:
        """Send JSON; return the reply, or a verdict if there was none."""
        return self._ask(SearchRequest(url, "POST", query=query or {}, json=body, follows=False))

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def judge(self, reply: Reply) -> SubmissionVerdict:
        """Return the verdict on a status that the engine does not document."""
        cause = f"{self._who} answers with HTTP {reply.status}"
        if reply.status == 429:
            return SubmissionVerdict("throttled", f"{cause}: it is told too much", wait=reply.retry_after())
        if reply.status >= 500:
            return SubmissionVerdict("unavailable", cause, wait=reply.retry_after())
        return SubmissionVerdict(f"http_{reply.status}", f"{cause}, which it does not document")

    def _ask(self, request: SearchRequest) -> Reply | SubmissionVerdict:
        try:
            return self._client.ask(request)
        except Unreachable as error:
            cause = f"{self._who} could not be reached: {error.message}"
            return SubmissionVerdict("transport", cause, wait=timedelta())
        except PageTooLarge:
            return SubmissionVerdict("page_too_large", f"{self._who} answers without an end")
