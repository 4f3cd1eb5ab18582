"""Bing submit: Bing Webmaster's API for URLs of sites that are verified there, within each site's daily quota."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from capabilities.index_check.engines.search.base.provider import Reply, document_of
from capabilities.index_check.engines.submission import SubmissionVerdict, SubmittedSite
from capabilities.index_check.engines.submission.exchange import Exchange
from capabilities.index_check.settings import SubmissionSettings
from pipeline.settings import Settings

#: URLs of one call.
MAX_URLS = 500
#: What its error codes mean for us (bing_errors.toml has their source).
ERRORS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name("bing_errors.toml").read_text("utf-8")
)["errors"]
#: The quota where Bing names none: as many as a job has.
MOST = 10_000
ACCEPTED = SubmissionVerdict("accepted")
SPENT = SubmissionVerdict(
    "quota", "the site's quota at Bing Webmaster is used up for today; it begins anew at midnight UTC. Retry it then"
)
#: Refusals that say nothing about the next call.
OF_ITS_URLS = frozenset(("urls_refused",))


class BingSubmit:
    """Calls SubmitUrlBatch. A call beyond the quota is refused whole, so the quota is asked for first."""

    name = "bing_submit"

    def __init__(self, settings: Settings) -> None:
        self._all = settings
        self._settings = settings.of(SubmissionSettings).bing_submit
        self._url = self._settings.url.rstrip("/")

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(settings)

    def readiness(self) -> str | None:
        return None if self._settings.is_set_up else "set PRESSROOM_SUBMISSION__BING_SUBMIT__API_KEY"

    def setup(self) -> None:
        """Open connections."""
        key = self._settings.api_key
        self._key = {"apikey": key.get_secret_value() if key else ""}
        self._exchange = Exchange(self._all, "Bing Webmaster")

    def close(self) -> None:
        self._exchange.close()

    def covers(self, site: SubmittedSite) -> bool:
        return True

    def submit(self, site: SubmittedSite, urls: Sequence[str]) -> Sequence[SubmissionVerdict]:
        """Submit as many URLs as the quota has room for."""
        quota = self._quota(site)
        if isinstance(quota, SubmissionVerdict):
            return [quota] * len(urls)
        verdicts: list[SubmissionVerdict] = []
        while len(verdicts) < min(len(urls), quota):
            sent = urls[len(verdicts) : min(len(verdicts) + MAX_URLS, quota)]
            verdict = self._call(site, sent)
            verdicts += [verdict] * len(sent)
            if not verdict.is_taken and verdict.code not in OF_ITS_URLS:
                return verdicts + [verdict] * (len(urls) - len(verdicts))
        return verdicts + [SPENT] * (len(urls) - len(verdicts))

    def _quota(self, site: SubmittedSite) -> int | SubmissionVerdict:
        """Return how many URLs Bing still takes of a site, today and this month."""
        found = self._exchange.get(f"{self._url}/GetUrlSubmissionQuota", {"siteUrl": site.origin, **self._key})
        if isinstance(found, SubmissionVerdict):
            return found
        if found.status != 200:
            return self._refusal(found)
        numbers = (document_of(found) or {}).get("d")
        left = [numbers.get(name) for name in ("DailyQuota", "MonthlyQuota")] if isinstance(numbers, dict) else []
        # Without a number the call is made, and its answer tells.
        return max(0, min((number for number in left if isinstance(number, int)), default=MOST))

    def _call(self, site: SubmittedSite, urls: Sequence[str]) -> SubmissionVerdict:
        body = {"siteUrl": site.origin, "urlList": list(urls)}
        reply = self._exchange.post(f"{self._url}/SubmitUrlbatch", body, self._key)
        if isinstance(reply, SubmissionVerdict):
            return reply
        if reply.status == 200 and "ErrorCode" not in (document_of(reply) or {}):
            return ACCEPTED
        quota = self._quota(site)
        # The error for a spent quota has no number of its own: somebody else was faster.
        is_spent = isinstance(quota, int) and quota < len(urls)
        return SPENT if is_spent else self._refusal(reply)

    def _refusal(self, reply: Reply) -> SubmissionVerdict:
        number = (document_of(reply) or {}).get("ErrorCode")
        meaning = ERRORS.get(str(number))
        if meaning is None:
            return self._exchange.judge(reply)
        wait = reply.retry_after() if meaning.get("passes") else None
        return SubmissionVerdict(meaning["code"], f"Bing Webmaster: {meaning['cause']} (error {number})", wait)
