"""APIs: search providers that answer with JSON."""

import json
from typing import Any, ClassVar

from workers.engines.search.base.provider import Provider, Reading, Reply

QUOTA_WORDS = ("quota", "rate limit", "rate_limit", "too many", "credits", "usage limit")


class ApiProvider(Provider):
    """What reads its answers the same way: a list under a path of names, each with an address."""

    is_api = True
    is_parallel = True
    needs_key = True
    #: Where the list of results is, and what an entry's address is called.
    rows_at: ClassVar[tuple[str, ...]]
    address: ClassVar[str]

    def parse(self, reply: Reply) -> Reading:
        """Return what an answer says."""
        document = document_of(reply)
        if not reply.is_success:
            text = reply.text[:2_000].lower()
            return Reading(is_quota=any(word in text for word in QUOTA_WORDS))
        if document is None:
            return Reading()
        rows = [str(row[self.address]) for row in self._rows(document) if row.get(self.address)]
        return Reading(tuple(dict.fromkeys(rows)), is_none=not rows and self.is_valid(document))

    def is_valid(self, document: dict[str, Any]) -> bool:
        """Return whether an answer without rows is one that found nothing."""
        raise NotImplementedError

    def _rows(self, document: dict[str, Any]) -> list[dict[str, Any]]:
        found: Any = document
        for name in self.rows_at:
            found = found.get(name) if isinstance(found, dict) else None
        return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def document_of(reply: Reply) -> dict[str, Any] | None:
    """Return the JSON object of an answer, None when it is none."""
    try:
        document = json.loads(reply.body)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
