"""IndexNow: one call submits up to 10,000 URLs of a site to all search engines that take part (indexnow.org)."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Self

from capabilities.index_check.engines.search.base.client import PageTooLarge, SearchClient, Unreachable
from capabilities.index_check.engines.search.base.provider import Reply, SearchRequest
from capabilities.index_check.engines.submission import SubmissionVerdict, SubmittedSite
from capabilities.index_check.engines.submission.site_keys import PREFIX, KeyFiles, SiteKey, SiteKeys
from capabilities.index_check.settings import SearchSettings, SubmissionSettings
from pipeline.errors import NotReady
from pipeline.settings import Settings

#: The meaning of its answers (indexnow.org, Documentation). 202: taken, while it validates the key.
ANSWERS = {200: "accepted", 202: "received", 400: "request_refused", 403: "key_invalid", 422: "urls_refused"}
CAUSES = {
    "request_refused": "IndexNow can't read our request (HTTP 400)",
    "key_invalid": "IndexNow does not accept the site's key (HTTP 403)",
    "urls_refused": "IndexNow says that URLs do not belong to the site, or that its key is malformed (HTTP 422)",
}


class IndexNow:
    """Submits to the endpoint that passes URLs on to all engines. Sending the same again is harmless."""

    name = "indexnow"

    def __init__(self, settings: Settings) -> None:
        self._all = settings
        self._submission = settings.of(SubmissionSettings)

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(settings)

    def readiness(self) -> str | None:
        if not self._submission.indexnow.is_set_up:
            return f"set {PREFIX}KEY or {PREFIX}KEYS"
        try:
            SiteKeys.read(self._submission.indexnow)
        except NotReady as error:
            return error.message
        return None

    def setup(self) -> None:
        """Read the keys and open connections. Raises NotReady."""
        self._keys = SiteKeys.read(self._submission.indexnow)
        self._files = KeyFiles(self._all.fetch)
        self._client = SearchClient(self._all.of(SearchSettings))

    def close(self) -> None:
        self._files.close()
        self._client.close()

    def covers(self, site: SubmittedSite) -> bool:
        return self._keys.of(site) is not None

    def submit(self, site: SubmittedSite, urls: Sequence[str]) -> Sequence[SubmissionVerdict]:
        """Submit URLs in one call, if the site serves its key."""
        key = self._keys.of(site)
        if key is None:
            return [SubmissionVerdict("key_missing", "there is no IndexNow key for its site")] * len(urls)
        return [self._call(site, key, urls)] * len(urls)

    def _call(self, site: SubmittedSite, key: SiteKey, urls: Sequence[str]) -> SubmissionVerdict:
        if (fault := self._files.fault(key, site)) is not None:
            return fault
        body = {
            "host": site.host,
            "key": key.key,
            "keyLocation": key.file(site),
            "urlList": list(urls),
        }
        try:
            # No redirect is followed: it would drop the body.
            reply = self._client.ask(SearchRequest(self._submission.indexnow.url, "POST", json=body, follows=False))
        except Unreachable as error:
            cause = f"IndexNow could not be reached: {error.message}"
            return SubmissionVerdict("transport", cause, wait=timedelta())
        except PageTooLarge:
            return SubmissionVerdict("page_too_large", "IndexNow sent too large an answer")
        code = ANSWERS.get(reply.status)
        if code is None:
            return _judge(reply)
        cause = CAUSES.get(code, "")
        return SubmissionVerdict(code, f"{cause}. {key.remedy(site)}" if code == "key_invalid" else cause)


def _judge(reply: Reply) -> SubmissionVerdict:
    """Return the verdict on an answer that the documentation doesn't name."""
    cause = f"IndexNow answers with HTTP {reply.status}"
    if reply.status == 429:
        return SubmissionVerdict("throttled", f"{cause}: too many submissions", wait=reply.retry_after())
    if reply.status >= 500:
        return SubmissionVerdict("unavailable", cause, wait=reply.retry_after())
    return SubmissionVerdict(f"http_{reply.status}", f"{cause}, an undocumented status")
