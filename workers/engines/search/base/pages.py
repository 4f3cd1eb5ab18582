"""Pages: a query to a search provider, its reply, and what the reply says."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from pipeline.retry_after import MAX_DIGITS, read_retry_after

Form = Literal["site", "url", "quoted"]


@dataclass(frozen=True, slots=True)
class Query:
    """What a provider is asked, and in which form."""

    form: Form
    text: str


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """An HTTP request to a provider."""

    url: str
    method: Literal["GET", "POST"] = "GET"
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] | None = None
    json: Mapping[str, object] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


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
    blocked_inside: str = ""  # a search engine behind this one has blocked it


def retry_after_of(reply: Reply, *, now: datetime | None = None) -> timedelta:
    """Return how long Retry-After (seconds or a date) or X-RateLimit-Reset asks us to wait; zero without either."""
    if header := reply.headers.get("retry-after", "").strip():
        return read_retry_after(header, now=now) or timedelta()
    # Brave: the seconds until the limit of this second, and until that of this month, are reset. Only one that is used
    # up is waited for; where none is said to be, it is the first.
    resets = _numbers(reply, "x-ratelimit-reset")
    used_up = [reset for reset, left in zip(resets, _numbers(reply, "x-ratelimit-remaining"), strict=False) if not left]
    return timedelta(seconds=max(used_up, default=next(iter(resets), 0)))


def _numbers(reply: Reply, header: str) -> list[int]:
    """Return the whole numbers of a header, separated by commas; none when something else is among them."""
    parts = [part.strip() for part in reply.headers.get(header, "").split(",")]
    are_numbers = all(part.isascii() and part.isdecimal() and len(part) <= MAX_DIGITS for part in parts)
    return [int(part) for part in parts] if are_numbers else []
