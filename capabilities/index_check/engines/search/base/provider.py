"""Provider: how a search provider is asked and read; each overrides what it does in its own way."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import ClassVar, Literal, Self
from urllib.parse import urlencode, urlsplit

from capabilities.index_check.providers.pacing import Pace
from capabilities.index_check.results.jobs import PROVIDERS
from capabilities.index_check.settings import ProviderSettings, SearchSettings
from pipeline.downloads.retry_after import MAX_DIGITS, read_retry_after
from pipeline.downloads.urls import listed_form
from pipeline.errors import NotReady
from pipeline.settings import Settings

#: What a query begins with that is for pages of one site alone.
OPERATORS = ("site:", "url:")
#: Why an API refuses us for good: it does not know our key, or our account has nothing left to pay with.
Refusal = Literal["", "key", "credits"]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """An HTTP request to a provider."""

    url: str
    method: Literal["GET", "POST"] = "GET"
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] | None = None
    json: Mapping[str, object] | Sequence[Mapping[str, object]] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Whether a redirect is followed; it would be without what was sent.
    follows: bool = True


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `url` was asked last, `location` is where it would have sent us on; headers in lower case."""

    status: int
    url: str
    body: bytes = b""
    location: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        """The body as text, whatever it is."""
        return self.body.decode("utf-8", "replace")

    @property
    def places(self) -> list[tuple[str, str]]:
        """Host and path that were asked last, and those that it would have sent us on to."""
        found = [urlsplit(address) for address in (self.url, self.location)]
        return [(parts.hostname or "", parts.path) for parts in found]

    def retry_after(self, *, now: datetime | None = None) -> timedelta:
        """Return how long Retry-After (seconds or a date) or X-RateLimit-Reset asks us to wait; zero without either."""
        if header := self.headers.get("retry-after", "").strip():
            return read_retry_after(header, now=now) or timedelta()
        # Brave: the seconds until the limit of this second, and until that of this month, are reset. Only one that is
        # used up is waited for; where none is said to be, it is the first.
        resets, left = self._numbers("x-ratelimit-reset"), self._numbers("x-ratelimit-remaining")
        used_up = [reset for reset, some_left in zip(resets, left, strict=False) if not some_left]
        return timedelta(seconds=max(used_up, default=next(iter(resets), 0)))

    def _numbers(self, header: str) -> list[int]:
        """Return the whole numbers of a header, separated by commas; none when something else is among them."""
        parts = [part.strip() for part in self.headers.get(header, "").split(",")]
        are_numbers = all(part.isascii() and part.isdecimal() and len(part) <= MAX_DIGITS for part in parts)
        return [int(part) for part in parts] if are_numbers else []


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply says. `rows` are the addresses of organic results, unwrapped; ads and self-links are none."""

    rows: tuple[str, ...] = ()
    opaque: int = 0  # rows whose address can't be read
    is_none: bool = False  # it says itself that there are no results
    is_challenge: bool = False  # it wants to know whether we are a person, or complains of our traffic
    is_consent: bool = False  # it wants us to agree to something first
    is_script: bool = False  # it only works with JavaScript
    is_quota: bool = False  # an API's refusal, because of how much we asked
    refused: Refusal = ""  # an API's refusal, because of our key or account
    blocked_inside: str = ""  # a search engine behind this one has blocked it
    shown_by: tuple[str, ...] = ()  # the search engines behind this one that have shown rows


class Provider:
    """A provider at an address, with a key if it wants one. It does no I/O: what it asks for is sent by the client."""

    name: ClassVar[str]
    is_api: ClassVar[bool] = False
    #: Statuses with which it says that it is asked too often.
    throttle_statuses: ClassVar[frozenset[int]] = frozenset((429,))
    #: Whether several queries may be on their way at once.
    is_parallel: ClassVar[bool] = False
    needs_key: ClassVar[bool] = False
    #: Whether it may say "no results" where it only does not want to answer us.
    needs_proof: ClassVar[bool] = False
    #: The engines behind it that it is to ask, each of which has to have answered something of late.
    engines: tuple[str, ...] = ()
    #: Longest query that it takes, in characters.
    max_query: ClassVar[int] = 2_000
    #: How it is asked for one page, where `site:` does not list it.
    second_form: ClassVar[str] = '"{url}"'
    #: What is sent besides the query, and whether both are a form rather than a part of the address.
    parameters: ClassVar[Mapping[str, str]] = {}
    sends_form: ClassVar[bool] = False
    #: Where a person sees the same results.
    page: str

    def __init__(self, settings: ProviderSettings) -> None:
        self.settings = settings
        self.url = settings.url or ""
        self.key = settings.api_key.get_secret_value() if settings.api_key else ""

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the provider as the operator wants it."""
        return cls(getattr(settings.of(SearchSettings), cls.name))

    def setup(self) -> None:
        """Raise NotReady unless it can be asked."""
        if (needs := self.readiness()) is not None:
            raise NotReady(f"{self.name}: {needs}")

    @property
    def index(self) -> str:
        """Whose index it answers from: google, bing, brave …; one from elsewhere has its own, or says."""
        return PROVIDERS.get(self.name, self.name)

    @property
    def pace(self) -> Pace:
        """How it wants to be asked: a page one at a time, unless all pacing is off."""
        interval = timedelta(seconds=self.settings.interval_seconds)
        alone = not self.is_parallel and bool(interval)
        return Pace(self.pace_name, interval, self.settings.jitter, alone)

    @property
    def pace_name(self) -> str:
        """The name that its pace is kept under: another address or key has another."""
        return f"{self.name}:{hashlib.sha256(f'{self.url} {self.key}'.encode()).hexdigest()[:12]}"

    def readiness(self) -> str | None:
        """Return what is missing before it can be asked; None: nothing."""
        prefix = f"PRESSROOM_SEARCH__{self.name.upper()}__"
        if not self.url:
            return f"set {prefix}URL"
        if not self.url.startswith(("http://", "https://")):
            return f"{prefix}URL has to begin with http:// or https://"
        return f"set {prefix}API_KEY" if self.needs_key and not self.key else None

    @property
    def promise(self) -> str:
        """What may be expected of it once it is ready, as `pressroom doctor` says it."""
        answers = f"answers from the index {self.index}"
        return answers if self.is_api else f"{answers}, as long as its pages let us: it may block us at any time"

    def forms(self, url: str) -> list[str]:
        """Return the ways to ask for a page, best first; only when none of them lists it, it is not indexed."""
        listed = listed_form(url)
        return [self.site_query(listed), self.second_form.format(url=listed)]

    def site_query(self, listed: str) -> str:
        """Return the query for what is listed of a site, or of a part of it.

        Without `www.` and the last slash, as where pages are matched: engines list a page with or without them."""
        place = listed.partition("://")[2].removeprefix("www.")
        return f"site:{place if '?' in place or '#' in place else place.rstrip('/')}"

    def is_askable(self, query: str) -> bool:
        """Return whether a query is not too long."""
        return len(query) < self.max_query

    def queries(self, url: str) -> list[str]:
        """Return the forms that are not too long."""
        return [query for query in self.forms(url) if self.is_askable(query)]

    def request(self, query: str) -> SearchRequest:
        """Return the request that asks."""
        asked = {"q": query, **self.parameters}
        return SearchRequest(self.url, "POST", form=asked) if self.sends_form else SearchRequest(self.url, query=asked)

    def meaning(self, reply: Reply) -> Reply:
        """Return a reply with the status that it means: some APIs answer 200 and say in it what went wrong."""
        return reply

    def parse(self, reply: Reply) -> Reading:
        """Return what a reply says."""
        raise NotImplementedError

    def proof_url(self, query: str) -> str:
        """Return a results page that a person can open."""
        return f"{self.page}?{urlencode({'q': query})}"
