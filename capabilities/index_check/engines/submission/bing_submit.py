"""Bing submit: Bing Webmaster's API for URLs of sites that are verified there, within each site's daily quota."""

from collections.abc import Mapping, Sequence

from capabilities.index_check.engines.search.base.provider import Reply, document_of
from capabilities.index_check.engines.submission import SubmissionVerdict, SubmittedSite
from capabilities.index_check.engines.submission.exchange import SubmissionEngine

MAX_URLS = 500
NO_ACCOUNT, NOT_VERIFIED = "key_invalid", "site_not_verified"
#: The meanings of error codes (learn.microsoft.com, ApiErrorCode): our code and the cause. They come with HTTP 400 and
#: {"ErrorCode": 3, "Message": "ERROR!!! InvalidApiKey"}.
ERRORS: Mapping[int, tuple[str, str]] = {
    1: ("unavailable", "an internal error"),
    2: ("unavailable", "an unknown error"),
    3: (NO_ACCOUNT, "the API key is not valid; the operator finds it at Bing Webmaster Tools, Settings, API access"),
    4: ("throttled", "too many calls of this account"),
    5: ("throttled", "too many calls from this address"),
    6: (NO_ACCOUNT, "the account is blocked"),
    7: ("urls_refused", "a URL of the call is not valid, or not of the site"),
    8: ("request_refused", "a parameter is not valid"),
    10: (NO_ACCOUNT, "there is no such account"),
    11: (NOT_VERIFIED, "the account has no such site; add and verify it at Bing Webmaster Tools"),
    13: (NOT_VERIFIED, "the account may not do this for the site; verify it at Bing Webmaster Tools"),
    14: (NOT_VERIFIED, "the account has not verified the site; do so at Bing Webmaster Tools"),
    15: ("unavailable", "an unexpected state"),
    16: ("request_refused", "this call is no longer offered"),
}
#: After these the same call may be taken later.
PASSING = frozenset(("unavailable", "throttled"))
#: The quota where Bing names none: as many as a job has.
MOST = 10_000
ACCEPTED = SubmissionVerdict("accepted")
SPENT = SubmissionVerdict(
    "quota", "the site's quota at Bing Webmaster is used up for today; it begins anew at midnight UTC. Retry it then"
)


class BingSubmit(SubmissionEngine):
    """Calls SubmitUrlBatch. A call beyond the quota is refused whole, so the quota is asked for first."""

    name = "bing_submit"
    title = "Bing Webmaster"

    def readiness(self) -> str | None:
        return None if self._submission.bing_submit.is_set_up else "set PRESSROOM_SUBMISSION__BING_SUBMIT__API_KEY"

    def setup(self) -> None:
        key = self._submission.bing_submit.api_key
        self._key = {"apikey": key.get_secret_value() if key else ""}
        self._url = self._submission.bing_submit.url.rstrip("/")
        super().setup()

    def covers(self, site: SubmittedSite) -> bool:
        return True

    def submit(self, site: SubmittedSite, urls: Sequence[str]) -> Sequence[SubmissionVerdict]:
        quota = self._quota(site)
        if isinstance(quota, SubmissionVerdict):
            return [quota] * len(urls)
        verdicts: list[SubmissionVerdict] = []
        while len(verdicts) < min(len(urls), quota):
            sent = urls[len(verdicts) : min(len(verdicts) + MAX_URLS, quota)]
            verdict = self._call(site, sent)
            verdicts += [verdict] * len(sent)
            # A refusal of its URLs says nothing about the next call.
            if not verdict.is_taken and verdict.code != "urls_refused":
                return verdicts + [verdict] * (len(urls) - len(verdicts))
        return verdicts + [SPENT] * (len(urls) - len(verdicts))

    def _quota(self, site: SubmittedSite) -> int | SubmissionVerdict:
        found = self._ask(f"{self._url}/GetUrlSubmissionQuota", {"siteUrl": site.origin, **self._key})
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
        reply = self._ask(f"{self._url}/SubmitUrlbatch", self._key, body)
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
        if not isinstance(number, int) or number not in ERRORS:
            return self._judge(reply)
        code, cause = ERRORS[number]
        wait = reply.retry_after() if code in PASSING else None
        return SubmissionVerdict(code, f"{self.title}: {cause} (error {number})", wait)
