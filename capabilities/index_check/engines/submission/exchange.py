"""Parts that the submission engines share: their requests, and the answers that mean the same everywhere."""

from collections.abc import Mapping
from datetime import timedelta
from typing import ClassVar, Self

from capabilities.index_check.engines.search.base.client import PageTooLarge, SearchClient, Unreachable
from capabilities.index_check.engines.search.base.provider import Reply, SearchRequest
from capabilities.index_check.engines.submission import SubmissionVerdict
from capabilities.index_check.settings import SearchSettings, SubmissionSettings
from pipeline.settings import Settings


class SubmissionEngine:
    """An engine that is asked once by HTTP. It follows no redirect, which would drop the body."""

    title: ClassVar[str]

    def __init__(self, settings: Settings) -> None:
        self._all = settings
        self._submission = settings.of(SubmissionSettings)

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(settings)

    def setup(self) -> None:
        self._client = SearchClient(self._all.of(SearchSettings))

    def close(self) -> None:
        self._client.close()

    def _ask(
        self, url: str, query: Mapping[str, str] | None = None, body: Mapping[str, object] | None = None
    ) -> Reply | SubmissionVerdict:
        """Send a request, by POST if it has a body; return the reply, or a verdict if there was none."""
        request = SearchRequest(url, "GET" if body is None else "POST", query=query or {}, json=body, follows=False)
        try:
            return self._client.ask(request)
        except Unreachable as error:
            cause = f"{self.title} could not be reached: {error.message}"
            return SubmissionVerdict("transport", cause, wait=timedelta())
        except PageTooLarge:
            return SubmissionVerdict("page_too_large", f"{self.title} sent too large an answer")

    def _judge(self, reply: Reply) -> SubmissionVerdict:
        cause = f"{self.title} answers with HTTP {reply.status}"
        if reply.status == 429:
            return SubmissionVerdict("throttled", f"{cause}: too many submissions", wait=reply.retry_after())
        if reply.status >= 500:
            return SubmissionVerdict("unavailable", cause, wait=reply.retry_after())
        return SubmissionVerdict(f"http_{reply.status}", f"{cause}, an undocumented status")
