"""Submission engines: programs that tell search engines of a site's URLs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

#: In order of preference: IndexNow costs no quota, and tells more search engines than Bing.
ENGINES: Mapping[str, str] = {
    "indexnow": "capabilities.index_check.engines.submission.indexnow:IndexNow",
    "bing_submit": "capabilities.index_check.engines.submission.bing_submit:BingSubmit",
}
#: Codes of submissions that were taken; `received`: the site's key is still to be validated.
TAKEN = frozenset(("accepted", "received"))


@dataclass(frozen=True, slots=True)
class SubmittedSite:
    """The host that URLs have in common, with its port unless that is the usual one, as name servers have it."""

    host: str
    is_secure: bool = True  # at least one of the URLs is https

    @property
    def origin(self) -> str:
        """The address of its root, without a slash at the end."""
        return f"{'https' if self.is_secure else 'http'}://{self.host}"


@dataclass(frozen=True, slots=True)
class SubmissionVerdict:
    """What became of a URL. `cause` says why it was not taken, and what helps.

    `wait` is for what may be taken later: how long the engine asks us to wait, or nothing where it names no time."""

    code: str
    cause: str = ""
    wait: timedelta | None = None

    @property
    def is_taken(self) -> bool:
        """Whether the engine has taken the URL."""
        return self.code in TAKEN


class Submitter(Protocol):
    """What every engine of this family has, beside what all engines have."""

    name: str

    def covers(self, site: SubmittedSite) -> bool:
        """Return whether it is set up for a site."""

    def submit(self, site: SubmittedSite, urls: Sequence[str]) -> Sequence[SubmissionVerdict]:
        """Tell of up to 10,000 URLs of a site, each as RFC 3986 has it; returns a verdict on each, in order."""

    def close(self) -> None:
        """Close all connections."""
