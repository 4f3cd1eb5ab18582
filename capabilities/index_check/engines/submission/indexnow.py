"""IndexNow: one call submits up to 10,000 URLs of a site to all search engines that take part (indexnow.org)."""

from collections.abc import Sequence

from capabilities.index_check.engines.search.base.provider import Reply
from capabilities.index_check.engines.submission import SubmissionVerdict, SubmittedSite
from capabilities.index_check.engines.submission.exchange import SubmissionEngine
from capabilities.index_check.engines.submission.site_keys import PREFIX, KeyFiles, SiteKey, SiteKeys
from pipeline.errors import NotReady

#: The meaning of its answers (indexnow.org, Documentation). 202: taken, while it validates the key.
ANSWERS = {200: "accepted", 202: "received", 400: "request_refused", 403: "key_invalid", 422: "urls_refused"}
CAUSES = {
    "request_refused": "IndexNow can't read our request (HTTP 400)",
    "key_invalid": "IndexNow does not accept the site's key (HTTP 403)",
    "urls_refused": "IndexNow says that URLs do not belong to the site, or that its key is malformed (HTTP 422)",
}


class IndexNow(SubmissionEngine):
    """Submits to the endpoint that passes URLs on to all engines. Sending the same again is harmless."""

    name = "indexnow"
    title = "IndexNow"

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
        super().setup()

    def close(self) -> None:
        self._files.close()
        super().close()

    def covers(self, site: SubmittedSite) -> bool:
        return self._keys.of(site) is not None

    def submit(self, site: SubmittedSite, urls: Sequence[str]) -> Sequence[SubmissionVerdict]:
        """Submit URLs in one call, if the site serves its key. URLs that the key doesn't cover are left out."""
        key = self._keys.of(site)
        if key is None:
            return [SubmissionVerdict("key_missing", "there is no IndexNow key for its site")] * len(urls)
        covered = [url for url in urls if key.covers(url)]
        outside = SubmissionVerdict("url_not_covered", f"{key.shown(site)} counts only for URLs in its own folder")
        verdict = self._call(site, key, covered) if covered else outside
        return [verdict if key.covers(url) else outside for url in urls]

    def _call(self, site: SubmittedSite, key: SiteKey, urls: Sequence[str]) -> SubmissionVerdict:
        if (fault := self._files.fault(key, site)) is not None:
            return fault
        body = {"host": site.host, "key": key.key, "keyLocation": key.file(site), "urlList": list(urls)}
        reply = self._ask(self._submission.indexnow.url, body=body)
        if not isinstance(reply, Reply):
            return reply
        code = ANSWERS.get(reply.status)
        if code is None:
            return self._judge(reply)
        cause = CAUSES.get(code, "")
        return SubmissionVerdict(code, f"{cause}. {key.remedy(site)}" if code == "key_invalid" else cause)
