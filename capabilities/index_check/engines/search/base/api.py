"""APIs: search providers that answer with JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from capabilities.index_check.engines.search.base.provider import Provider, Reading, Refusal, Reply

QUOTA_WORDS = ("quota", "rate limit", "rate_limit", "too many", "usage limit")
#: What a refusal's status says of its cause, where its words say nothing.
REFUSALS: Mapping[int, Refusal] = {401: "key", 402: "credits", 403: "key"}


class ApiProvider(Provider):
    """What reads its answers the same way: a list under a path of names, each with an address."""

    is_api = True
    is_parallel = True
    needs_key = True
    #: Where the list of results is, and what an entry's address is called.
    rows_at: ClassVar[tuple[str, ...]]
    address: ClassVar[str]
    #: Where a refusal says why, and the words (lower case) that tell the cause: several have one status for all.
    #: Nothing else of a refusal is looked at: it may repeat the query, and with it whatever a URL says.
    said_at: ClassVar[tuple[str, ...]] = ("message",)
    causes: ClassVar[Mapping[str, Refusal]] = {}

    def parse(self, reply: Reply) -> Reading:
        """Return what an answer says."""
        document = document_of(reply)
        if not reply.is_success:
            return self._refused(reply.status, document or {})
        if document is None:
            return Reading()
        entries = self.rows(document)
        rows = [str(row[self.address]) for row in entries if row.get(self.address)]
        # Entries without an address are in a form that we don't know: that is not nothing.
        return Reading(tuple(dict.fromkeys(rows)), is_none=not entries and self.is_valid(document))

    def is_valid(self, document: dict[str, Any]) -> bool:
        """Return whether an answer without rows is one that found nothing."""
        raise NotImplementedError

    def rows(self, document: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the organic results of an answer."""
        return objects(found_at(document, self.rows_at))

    def _refused(self, status: int, document: dict[str, Any]) -> Reading:
        said = found_at(document, self.said_at)
        words = said.lower() if isinstance(said, str) else ""
        cause = next((cause for part, cause in self.causes.items() if part in words), None)
        is_quota = any(word in words for word in QUOTA_WORDS)
        return Reading(is_quota=is_quota, refused=cause or ("" if is_quota else REFUSALS.get(status, "")))


def document_of(reply: Reply) -> dict[str, Any] | None:
    """Return the JSON object of an answer, None when it is none."""
    try:
        document = json.loads(reply.body)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def found_at(document: dict[str, Any], names: Sequence[str]) -> Any:
    """Return what is under a path of names; None where there is nothing."""
    found: Any = document
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def objects(found: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; none where it is no list."""
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
