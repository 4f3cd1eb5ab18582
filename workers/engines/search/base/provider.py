"""Provider: how a search provider is asked and read; each overrides what it does in its own way."""

import hashlib
from datetime import timedelta
from typing import ClassVar, Self
from urllib.parse import urlencode

from pipeline.engine_settings import ProviderSettings
from pipeline.errors import NotReady
from pipeline.kinds.index_check.pacing import Pace
from pipeline.settings import Settings
from pipeline.urls import listed_form
from workers.engines.search.base.pages import Query, Reading, Reply, SearchRequest
from workers.engines.search.base.verdict import Traits


class Provider:
    """A provider at an address, with a key if it wants one. It does no I/O: what it asks for is sent by the client."""

    name: ClassVar[str]
    traits: ClassVar[Traits] = Traits()
    #: Whether several queries may be on their way at once.
    is_parallel: ClassVar[bool] = False
    needs_key: ClassVar[bool] = False
    #: Longest query that it takes, in characters.
    max_query: ClassVar[int] = 2_000
    #: Where a person sees the same results.
    page: ClassVar[str]

    def __init__(self, settings: ProviderSettings) -> None:
        self.settings = settings
        self.url = settings.url or ""
        self.key = settings.api_key.get_secret_value() if settings.api_key else ""

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the provider as the operator wants it."""
        return cls(getattr(settings.search, cls.name))

    def setup(self) -> None:
        """Raise NotReady unless it can be asked."""
        if (needs := self.readiness()) is not None:
            raise NotReady(f"{self.name}: {needs}")

    @property
    def pace(self) -> Pace:
        """Return how it wants to be asked: a page one at a time, unless all pacing is off."""
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
        return f"set {prefix}API_KEY" if self.needs_key and not self.key else None

    def queries(self, url: str) -> list[Query]:
        """Return the ways to ask for a page, best first; none when all are too long."""
        return [query for query in self.forms(listed_form(url)) if len(query.text) < self.max_query]

    def forms(self, url: str) -> list[Query]:
        """Return the ways to ask for a page, however long they are."""
        return [Query("site", f"site:{url.partition('://')[2]}"), Query("quoted", f'"{url}"')]

    def request(self, query: Query) -> SearchRequest:
        """Return the request that asks."""
        raise NotImplementedError

    def parse(self, reply: Reply) -> Reading:
        """Return what a reply says."""
        raise NotImplementedError

    def proof_url(self, query: Query) -> str:
        """Return a results page that a person can open."""
        return f"{self.page}?{urlencode({'q': query.text})}"
