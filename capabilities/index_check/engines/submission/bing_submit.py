"""Bing submit: Bing Webmaster's API for URLs of sites that are verified there, within each site's quota of the day."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from capabilities.index_check.engines.search.base.provider import Reply
from capabilities.index_check.engines.submission import SubmissionVerdict, SubmittedSite
from capabilities.index_check.engines.submission.exchange import Exchange
from capabilities.index_check.settings import SubmissionSettings
from pipeline.settings import Settings

#: URLs of one call.
MAX_URLS = 500
#: What its error codes mean for us (bing_errors.toml says where they are from).
ERRORS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name("bing_errors.toml").read_text("utf-8")
)["errors"]
#: Where the quota is not told: as many as one job has.
MOST = 10_000
ACCEPTED = SubmissionVerdict("accepted")
SPENT = SubmissionVerdict(
    "quota", "the site's quota at Bing Webmaster is used up for today; it begins anew at midnight UTC. Retry it then"
)


#: Refusals that say nothing of the next call.
OF_ITS_URLS = frozenset(("urls_refused",))


@dataclass(frozen=True, slots=True)
class Quota:
    """URLs that Bing still takes of a site; `left` counts the day and the month."""

    left: int


class BingSubmit:
    """SubmitUrlBatch, at most 500 URLs a call; a call beyond the quota is refused whole, so it is asked for first."""

    name = "bing_submit"

    def __init__(self, settings: Settings) -> None:
        self._all = settings
        self._settings = settings.of(SubmissionSettings).bing_submit

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the engine, not set up yet."""
        return cls(settings)

    def readiness(self) -> str | None:
        """Return what is missing; None: nothing."""
        return None if self._settings.is_set_up else "set PRESSROOM_SUBMISSION__BING_SUBMIT__API_KEY"

    def setup(self) -> None:
        """Open what connects."""
        key = self._settings.api_key
        self._key = {"apikey": key.get_secret_value() if key else ""}
        self._exchange = Exchange(self._all, "Bing Webmaster")

    def close(self) -> None:
        """Close all connections."""
        self._exchange.close()

    def covers(self, site: SubmittedSite) -> bool:
        """Return True: which sites are verified, the API says."""
        return True

    def submit(self, site: SubmittedSite, urls: Sequence[str]) -> Sequence[SubmissionVerdict]:
        """Tell of as many URLs as the quota has room for; the others have the verdict that it is used up."""
        quota = self._quota(site)
        if isinstance(quota, SubmissionVerdict):
            return [quota] * len(urls)
        verdicts: list[SubmissionVerdict] = []
        while len(verdicts) < min(len(urls), quota.left):
            sent = urls[len(verdicts) : min(len(verdicts) + MAX_URLS, quota.left)]
            told = self._tell(site, sent)
            verdicts += [told] * len(sent)
            if not told.is_taken and told.code not in OF_ITS_URLS:
                return verdicts + [told] * (len(urls) - len(verdicts))
        return verdicts + [SPENT] * (len(urls) - len(verdicts))

    def _quota(self, site: SubmittedSite) -> Quota | SubmissionVerdict:
        found = self._exchange.get(f"{self._url}/GetUrlSubmissionQuota", {"siteUrl": site.origin, **self._key})
        if isinstance(found, SubmissionVerdict) or found.status != 200:
            return found if isinstance(found, SubmissionVerdict) else self._refusal(found)
        numbers = _document(found).get("d")
        left = [numbers.get(name) for name in ("DailyQuota", "MonthlyQuota")] if isinstance(numbers, dict) else []
        known = [number for number in left if isinstance(number, int)]
        # Where it does not say, the call is made, and says itself.
        return Quota(max(0, min(known, default=MOST)))

    def _tell(self, site: SubmittedSite, urls: Sequence[str]) -> SubmissionVerdict:
        body = {"siteUrl": site.origin, "urlList": list(urls)}
        reply = self._exchange.post(f"{self._url}/SubmitUrlbatch", body, self._key)
        if isinstance(reply, SubmissionVerdict):
            return reply
        if reply.status == 200 and "ErrorCode" not in _document(reply):
            return ACCEPTED
        quota = self._quota(site)
        # Its error for a spent quota has no number of its own. Somebody else was faster then.
        is_spent = isinstance(quota, Quota) and quota.left < len(urls)
        return SPENT if is_spent else self._refusal(reply)

    def _refusal(self, reply: Reply) -> SubmissionVerdict:
        number = _document(reply).get("ErrorCode")
        meaning = ERRORS.get(str(number))
        if meaning is None:
            return self._exchange.judge(reply)
        wait = reply.retry_after() if meaning.get("passes") else None
        return SubmissionVerdict(meaning["code"], f"Bing Webmaster: {meaning['cause']} (error {number})", wait)

    @property
    def _url(self) -> str:
        return self._settings.url.rstrip("/")


def _document(reply: Reply) -> dict[str, Any]:
    """Return the JSON object of a reply; an empty one where it is none."""
    try:
        document = json.loads(reply.body)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
