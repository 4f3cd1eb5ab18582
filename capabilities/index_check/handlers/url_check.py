"""URL check: one URL on its way through the search providers, and their answers."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from capabilities.index_check.engines.search.base.provider import Provider
from capabilities.index_check.engines.search.base.verdict import MAX_NEAR, Match, Verdict
from capabilities.index_check.kinds.index_check import UrlInput
from capabilities.index_check.providers.causes import UrlUnchecked, cause_of
from pipeline.timestamps import timestamp
from workers.handler import Task


@dataclass
class CheckProgress:
    """The progress of a URL's check. It is stored as the item's checkpoint, so its fields stay."""

    blocked: int = 0  # rounds in which all providers blocked it
    erred: list[str] = field(default_factory=list)  # providers that gave no answer
    provider: str = ""
    form: int = 0  # of the query, at `provider`; those before it don't list the page
    code: str = ""  # of the verdict "not indexed"
    near: list[tuple[str, str]] = field(default_factory=list)  # rows that are nearly the page, with their relation
    #: When the last form was asked whose answer was empty and needs proof; seconds since the epoch, by the database's
    #: clock.
    missed_at: float = 0.0
    inspection: dict[str, Any] | None = None  # facts from a service for site owners (owned.py)

    @classmethod
    def read(cls, checkpoint: Mapping[str, Any] | None) -> Self:
        """Return the progress in a checkpoint, also in one of a later release."""
        known = {one.name for one in fields(cls)}
        progress = cls(**{name: value for name, value in (checkpoint or {}).items() if name in known})
        progress.near = [(url, relation) for url, relation in progress.near]  # JSON has no tuples
        return progress

    def written(self) -> dict[str, Any]:
        """Return the checkpoint, without fields that have their first value."""
        first = CheckProgress()
        return {name: value for name, value in vars(self).items() if value != getattr(first, name)}

    def begin(self, provider: str) -> None:
        if self.provider != provider:
            self.provider, self.form, self.code, self.near, self.missed_at = provider, 0, "", [], 0.0

    def miss(self, verdict: Verdict) -> None:
        self.form += 1
        self.code = verdict.code if self.code != "no_match" else self.code
        self.near = list(dict.fromkeys([*self.near, *verdict.match.near]))[:MAX_NEAR]

    @property
    def negative(self) -> Verdict:
        """The verdict if no form lists the page."""
        return Verdict("not_indexed", self.code, Match(near=tuple((url, relation) for url, relation in self.near)))


@dataclass(frozen=True, slots=True)
class ProviderAnswer:
    """A provider's answer to a query, and the verdict on it."""

    provider: Provider
    query: str
    verdict: Verdict
    is_spent: bool = True  # the permit was used
    wait: timedelta = timedelta()  # the URL is put back for so long: nothing can be proven before

    def raw_result(self) -> dict[str, Any]:
        """Return the fields of the URL's record (docs/indexing.md, Records), without addresses: they may hold a key."""
        verdict = self.verdict
        found: dict[str, Any] = {
            "reason": verdict.reason,
            "code": verdict.code,
            "provider": self.provider.name,
            "index": self.provider.index,
            "query": self.query,
            "checked_at": timestamp(datetime.now(UTC)),
            "matched_url": verdict.match.url,
        }
        if verdict.reason == "indexed":
            found["proofUrl"] = self.provider.proof_url(self.query)
        if verdict.match.near:
            found["near_matches"] = [{"url": url, "relation": relation} for url, relation in verdict.match.near]
        return found

    def failure(self, *, remedy: str = "") -> UrlUnchecked:
        """Return why the URL has no answer; `remedy` replaces the advice that belongs to the code."""
        shown = {name: value for name, value in self.raw_result().items() if name != "code"}
        return UrlUnchecked(self.verdict.code, cause=cause_of(self.verdict.cause), remedy=remedy, **shown)


@dataclass
class UrlCheck:
    """One URL, and the providers that may still be asked about it."""

    task: Task[UrlInput]
    key: str  # the URL's match key
    lane: str
    progress: CheckProgress
    left: list[str]
    blocked: ProviderAnswer | None = None  # the block that the check ends with if no provider takes over

    @property
    def page(self) -> bytes:
        return hashlib.sha256(self.key.encode()).digest()
