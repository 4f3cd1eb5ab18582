"""Submission engines: programs that tell search engines about a site's URLs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

ENGINES: Mapping[str, str] = {
    "indexnow": "capabilities.index_check.engines.submission.indexnow:IndexNow",
}
#: Codes of accepted submissions; `received`: the site's key is still to be validated.
TAKEN = frozenset(("accepted", "received"))


@dataclass(frozen=True, slots=True)
class SubmittedSite:
    """A host in ASCII, with its port unless that is the default."""

    host: str
    is_secure: bool = True  # at least one of the URLs is https

    @property
    def origin(self) -> str:
        return f"{'https' if self.is_secure else 'http'}://{self.host}"


@dataclass(frozen=True, slots=True)
class SubmissionVerdict:
    """An engine's answer about a URL. `cause` says why it was not taken, and how to mend that.

    With a `wait` it may be taken later: the time that the engine asks for, or zero where it names none."""

    code: str
    cause: str = ""
    wait: timedelta | None = None

    @property
    def is_taken(self) -> bool:
        return self.code in TAKEN


class Submitter(Protocol):
    """An engine of this family, beside what all engines have."""

    name: str

    def covers(self, site: SubmittedSite) -> bool:
        """Return whether it is set up for a site."""

    def submit(self, site: SubmittedSite, urls: Sequence[str]) -> Sequence[SubmissionVerdict]:
        """Submit up to 10,000 URLs of a site, in the form of RFC 3986; return a verdict on each, in order."""

    def close(self) -> None:
        """Close all connections."""
