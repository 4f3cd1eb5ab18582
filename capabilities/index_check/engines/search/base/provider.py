"""Provider: how a search provider is asked and read. Each provider overrides what it does in its own way."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal, Self
from urllib.parse import urlencode, urlsplit

from capabilities.index_check.providers.pacing import Pace
from capabilities.index_check.results.jobs import PROVIDERS
from capabilities.index_check.settings import ProviderSettings, SearchSettings
from pipeline.downloads.failures import MAX_DIGITS, read_retry_after
from pipeline.downloads.urls import listed_form
from pipeline.errors import NotReady
from pipeline.settings import Settings

#: Beginnings of queries for pages of one site alone.
OPERATORS = ("site:", "url:")
#: Why an API refuses us for good: our key is wrong, or our account is empty.
Refusal = Literal["", "key", "credits"]
QUOTA_WORDS = ("quota", "rate limit", "rate_limit", "too many", "usage limit")
#: The cause that a refusal's status means, where its words say nothing.
REFUSALS: Mapping[int, Refusal] = {401: "key", 402: "credits", 403: "key"}


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """An HTTP request to a provider."""

    url: str
    method: Literal["GET", "POST"] = "GET"
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] | None = None
    json: Mapping[str, object] | Sequence[Mapping[str, object]] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: True if a redirect is followed; it drops the body.
    follows: bool = True


@dataclass(frozen=True, slots=True)
class Reply:
    """A provider's reply. `url` was asked last, `location` is where it redirects to; header names are lower case."""

    status: int
    url: str
    body: bytes = b""
    location: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def paths(self) -> list[str]:
        """Paths of the URL that was asked last, and of the redirect's target."""
        return [urlsplit(address).path for address in (self.url, self.location)]

    def retry_after(self, *, now: datetime | None = None) -> timedelta:
        """Return the wait that Retry-After (seconds or a date) or X-RateLimit-Reset asks for, or zero."""
        if header := self.headers.get("retry-after", "").strip():
            return read_retry_after(header, now=now) or timedelta()
        # Brave names the seconds until the limit of this second, and that of this month, are reset. A limit that is
        # used up is waited for; where none is named, the first.
        resets, left = self._numbers("x-ratelimit-reset"), self._numbers("x-ratelimit-remaining")
        used_up = [reset for reset, some_left in zip(resets, left, strict=False) if not some_left]
        return timedelta(seconds=max(used_up, default=next(iter(resets), 0)))

    def _numbers(self, header: str) -> list[int]:
        """Return a header's whole numbers, separated by commas, or none if anything else is among them."""
        parts = [part.strip() for part in self.headers.get(header, "").split(",")]
        are_numbers = all(part.isascii() and part.isdecimal() and len(part) <= MAX_DIGITS for part in parts)
        return [int(part) for part in parts] if are_numbers else []


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of a reply. `rows` are the addresses of organic results, unwrapped, without ads and self-links."""

    rows: tuple[str, ...] = ()
    opaque: int = 0  # rows whose address can't be read
    is_none: bool = False  # it says itself that there are no results
    is_challenge: bool = False  # it asks whether we are a person, or complains of our traffic
    is_quota: bool = False  # an API's refusal, because of how much we asked
    refused: Refusal = ""  # an API's refusal, because of our key or account
    blocked_inside: str = ""  # a search engine behind this one has blocked it
    shown_by: tuple[str, ...] = ()  # the search engines behind this one that have shown rows


class Provider:
    """A provider at an address, with its key. It does no I/O; the client sends its requests."""

    name: ClassVar[str]
    is_api: ClassVar[bool] = False
    throttle_statuses: ClassVar[frozenset[int]] = frozenset((429,))
    #: True if several queries may be on their way at once.
    is_parallel: ClassVar[bool] = False
    needs_key: ClassVar[bool] = False
    #: True if it may say "no results" when it only does not want to answer.
    needs_proof: ClassVar[bool] = False
    #: The engines that it is told to ask, each of which must have shown a row of late.
    engines: tuple[str, ...] = ()
    max_query: ClassVar[int] = 2_000
    #: The query for one page where `site:` does not list it.
    second_form: ClassVar[str] = '"{url}"'
    #: Parameters besides the query, and whether all are sent as a form rather than in the address.
    parameters: ClassVar[Mapping[str, str]] = {}
    sends_form: ClassVar[bool] = False
    #: The page where a person sees the same results.
    page: str

    def __init__(self, settings: ProviderSettings) -> None:
        self.settings = settings
        self.url = settings.url or ""
        self.key = settings.api_key.get_secret_value() if settings.api_key else ""

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        return cls(getattr(settings.of(SearchSettings), cls.name))

    def setup(self) -> None:
        """Raise NotReady unless it can be asked."""
        if (needs := self.readiness()) is not None:
            raise NotReady(f"{self.name}: {needs}")

    @property
    def index(self) -> str:
        """The index that it answers from: google, bing, brave …; a plug-in's provider has its own."""
        return PROVIDERS.get(self.name, self.name)

    @property
    def pace(self) -> Pace:
        """Its pace: a page takes one query at a time, unless all pacing is off."""
        interval = timedelta(seconds=self.settings.interval_seconds)
        alone = not self.is_parallel and bool(interval)
        return Pace(self.pace_name, interval, self.settings.jitter, alone)

    @property
    def pace_name(self) -> str:
        """The name of its row: each address and key has its own."""
        return f"{self.name}:{hashlib.sha256(f'{self.url} {self.key}'.encode()).hexdigest()[:12]}"

    def readiness(self) -> str | None:
        prefix = f"PRESSROOM_SEARCH__{self.name.upper()}__"
        if not self.url:
            return f"set {prefix}URL"
        if not self.url.startswith(("http://", "https://")):
            return f"{prefix}URL has to begin with http:// or https://"
        return f"set {prefix}API_KEY" if self.needs_key and not self.key else None

    @property
    def promise(self) -> str:
        answers = f"answers from the index {self.index}"
        return answers if self.is_api else f"{answers}, as long as its pages let us: it may block us at any time"

    def forms(self, url: str) -> list[str]:
        """Return the queries for a page, best first. Only when none of them lists it, it is not indexed."""
        listed = listed_form(url)
        return [self.site_query(listed), self.second_form.format(url=listed)]

    def site_query(self, listed: str) -> str:
        """Return the query for a site, or a part of it.

        Without `www.` and the last slash, as in matching: engines list a page with or without them."""
        place = listed.partition("://")[2].removeprefix("www.")
        return f"site:{place if '?' in place or '#' in place else place.rstrip('/')}"

    def is_askable(self, query: str) -> bool:
        return len(query) < self.max_query

    def queries(self, url: str) -> list[str]:
        return [query for query in self.forms(url) if self.is_askable(query)]

    def request(self, query: str) -> SearchRequest:
        asked = {"q": query, **self.parameters}
        return SearchRequest(self.url, "POST", form=asked) if self.sends_form else SearchRequest(self.url, query=asked)

    def meaning(self, reply: Reply) -> Reply:
        """Return a reply with the status that it means: some APIs answer 200 and put the error inside."""
        return reply

    def parse(self, reply: Reply) -> Reading:
        raise NotImplementedError

    def proof_url(self, query: str) -> str:
        """Return a results page that a person can open."""
        return f"{self.page}?{urlencode({'q': query})}"


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
        return objects(found_at(document, self.rows_at))

    def _refused(self, status: int, document: dict[str, Any]) -> Reading:
        said = found_at(document, self.said_at)
        words = said.lower() if isinstance(said, str) else ""
        cause = next((cause for part, cause in self.causes.items() if part in words), None)
        is_quota = any(word in words for word in QUOTA_WORDS)
        return Reading(is_quota=is_quota, refused=cause or ("" if is_quota else REFUSALS.get(status, "")))


def document_of(reply: Reply) -> dict[str, Any] | None:
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
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
