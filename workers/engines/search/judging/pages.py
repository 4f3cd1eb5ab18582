"""Pages: what a search provider answered, as it came and as it reads."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Form = Literal["site", "url", "quoted"]


@dataclass(frozen=True, slots=True)
class Query:
    """What a provider is asked, and in which form."""

    form: Form
    text: str


@dataclass(frozen=True, slots=True)
class Sent:
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
