"""APIs: search providers that answer with JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from capabilities.index_check.engines.search.base.provider import Provider, Reading, Refusal, Reply

QUOTA_WORDS = ("quota", "rate limit", "rate_limit", "too many", "usage limit")
#: The cause that a refusal's status means, where its words say nothing.
REFUSALS: Mapping[int, Refusal] = {401: "key", 402: "credits", 403: "key"}


class ApiProvider(Provider):
    """A provider whose answer has a list of results, each with an address."""

    is_api = True
    is_parallel = True
    needs_key = True
    #: Path of names to the list of results, and the name of an entry's address.
    rows_at: ClassVar[tuple[str, ...]]
    address: ClassVar[str]
    #: Path to a refusal's words, and those (lower case) that tell the cause: one status may stand for several.
    #: The rest of a refusal is not read: it may repeat the query, and so whatever a URL says.
    said_at: ClassVar[tuple[str, ...]] = ("message",)
    causes: ClassVar[Mapping[str, Refusal]] = {}

    def parse(self, reply: Reply) -> Reading:
        """Return an answer's reading."""
        document = document_of(reply)
        if not reply.is_success:
            return self._refused(reply.status, document or {})
        if document is None:
            return Reading()
        entries = self.rows(document)
        rows = [str(row[self.address]) for row in entries if row.get(self.address)]
        # Entries without an address have an unknown form, which proves nothing.
        return Reading(tuple(dict.fromkeys(rows)), is_none=not entries and self.is_valid(document))

    def is_valid(self, document: dict[str, Any]) -> bool:
        """Return whether an answer without rows says that nothing was found."""
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
    """Return an answer's JSON object, or None if it has none."""
    try:
        document = json.loads(reply.body)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def found_at(document: dict[str, Any], names: Sequence[str]) -> Any:
    """Return the value at a path of names, or None."""
    found: Any = document
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def objects(found: Any) -> list[dict[str, Any]]:
    """Return the objects in a list, or none if it is no list."""
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
