"""The request for an index check: its fields, the lanes of its URLs, and what is refused before a charge."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import ConfigDict, Field

from capabilities.index_check.requests.given import BOTH, NEITHER, SitemapUrl, read_url
from capabilities.index_check.results.jobs import KIND, OWNED_LANE, PROVIDERS
from capabilities.index_check.sites.connections import SEARCH_CONSOLE, OwnedSite, SiteMap
from pipeline.downloads.urls import MAX_CHARACTERS
from pipeline.errors import InvalidRequest
from pipeline.kind import Request, Source
from pipeline.offers.offers import Offer, Offers

#: URLs of one job (docs/api.md, Limits).
MAX_URLS = 10_000
#: Characters of a job's name, and the pattern of one: no control characters.
MAX_NAME = 200
NAME = r"^[^\x00-\x1f\x7f]+$"
MAX_NAMED = 20
#: Room for so many of the longest URLs.
MAX_BODY_BYTES = 32 * 2**20
INDEXES = tuple(dict.fromkeys(PROVIDERS.values()))
#: The lane of URLs that name a provider, or an index; others have the kind's.
ENGINE_LANES = {provider: f"{KIND}_{provider}" for provider in PROVIDERS}
INDEX_LANES = {index: f"{KIND}_index_{index}" for index in INDEXES}
#: The lane of invalid URLs, which are asked of nobody, and wait for nobody.
FAULTY_LANE = f"{KIND}_faulty"
#: The index of the service for site owners, which a request may name as its engine.
OWNED_INDEX = "google"
#: A row of an item: its input, price and lane.
ItemRow = tuple[Mapping[str, Any], int, str | None]


class IndexCheckRequest(Request):
    """The URLs, and the provider or index that has to answer."""

    model_config = ConfigDict(json_schema_extra={"not": {"anyOf": [NEITHER, BOTH]}})

    type: Literal["check", "submit"] = Field(description="check, or submit where the operator has enabled it.")
    urls: list[str] = Field(
        default_factory=list,
        min_length=1,
        max_length=MAX_URLS,
        description="URLs. Duplicates count once; example.org/a stands for https://example.org/a.",
    )
    sitemap_url: SitemapUrl | None = Field(
        None, max_length=MAX_CHARACTERS, description="A sitemap, or an index of sitemaps, instead of urls."
    )
    skip_invalid: bool = Field(False, description="Let an invalid URL fail alone. By default it refuses the request.")
    name: str | None = Field(
        None, min_length=1, max_length=MAX_NAME, pattern=NAME, description="A name to find the job by."
    )
    source: Literal[Source, "tts"] = Field("web", description="Where the request comes from.")
    engine: str | None = Field(None, description="A configured search provider; by default the operator's order.")
    index: str | None = Field(
        None, description="The index that has to answer: google, bing, brave, duckduckgo …; by default any."
    )
    fresh: bool = Field(False, description="Ask now, and reuse no earlier answer.")
    diagnose: bool = Field(False, description="Find out why pages are not indexed, free of charge.")


def lane_of(engine: str | None, index: str | None = None) -> str:
    """Return the lane of URLs that name a provider, an index or neither. A plug-in's provider has none of its own."""
    if engine == SEARCH_CONSOLE:
        return OWNED_LANE
    if engine:
        return ENGINE_LANES.get(engine, KIND)
    return INDEX_LANES.get(index, KIND) if index else KIND


def check_urls(request: IndexCheckRequest) -> None:
    """Refuse a request without URLs, and one with invalid URLs unless they are skipped. Raises InvalidRequest."""
    if not request.urls:
        missing = {"field": "urls", "message": "This field is required.", "code": "field_missing"}
        raise InvalidRequest("Send urls or sitemap_url.", details=[missing])
    if request.skip_invalid:
        return
    faults = [
        {"field": f"urls.{index}", "message": f"{url[:200]!a}: {fault}.", "code": "url_invalid"}
        for index, url in enumerate(request.urls)
        if (fault := read_url(url).fault) is not None
    ]
    if faults:
        raise InvalidRequest(
            f"{len(faults):,} of {len(request.urls):,} URLs can't be checked, and nothing was charged. The first: "
            f"{faults[0]['message']} Correct them or leave them out; a job skips them with skip_invalid: true.",
            code="urls_invalid",
            details=faults[:MAX_NAMED],
            invalid_urls=len(faults),
        )


def check_engine(request: IndexCheckRequest, offers: Offers) -> None:
    """Refuse a provider or an index that is not set up. Raises InvalidRequest."""
    offered = offers.of("search")
    # Until a pool has published its offers, any known provider may be named.
    known = [offer.engine for offer in offered if offer.ready] if offered else list(PROVIDERS)
    # The account is not known yet: connected sites are looked up later.
    require_engine(request.engine, [*known, SEARCH_CONSOLE])
    if request.index is not None:
        _check_index(request.index, request.engine, offered)


def require_engine(engine: str | None, known: Sequence[str]) -> None:
    """Refuse an engine that is not among the known ones. Raises InvalidRequest."""
    if engine is not None and engine not in known:
        raise InvalidRequest(
            f"engine can't be {engine[:40]!a}; set up here are {', '.join(known) or 'none'}. "
            "Name one of them, or leave it out.",
            code="engine_unknown",
            field="engine",
        )


def index_of(offer: Offer) -> str:
    """Return the index that a provider answers from; by default its own."""
    return str(offer.content.get("index") or offer.engine)


def _check_index(index: str, engine: str | None, offered: Sequence[Offer]) -> None:
    ready: dict[str, list[str]] = {}
    if engine == SEARCH_CONSOLE:
        ready[OWNED_INDEX] = [engine]
    for offer in offered:
        if offer.ready and engine in (None, offer.engine):
            ready.setdefault(index_of(offer), []).append(offer.engine)
    if index not in (ready if offered or ready else INDEXES):
        listed = ", ".join(f"{name} (by {', '.join(engines)})" for name, engines in ready.items())
        raise InvalidRequest(
            f"index can't be {index[:40]!a}: {f'the engine {engine} answers from' if engine else 'set up here are'} "
            f"{listed or ('none' if offered else ', '.join(INDEXES))}. Name one of them, or leave it out.",
            code="index_unknown",
            field="index",
        )


def is_for_owners(engine: str | None, index: str | None) -> bool:
    """Return whether the service for site owners may answer a request."""
    return engine == SEARCH_CONSOLE or (engine is None and index in (None, OWNED_INDEX))


def with_lanes(rows: Sequence[ItemRow], request: IndexCheckRequest, sites: Iterable[OwnedSite]) -> list[ItemRow]:
    """Return rows, with their own lane for URLs of connected sites. Raises InvalidRequest."""
    owned = SiteMap(sites if is_for_owners(request.engine, request.index) else ())
    placed: list[ItemRow] = []
    missing: list[str] = []
    for given, price, lane in rows:
        is_faulty = given.get("fault") is not None
        is_owned = not is_faulty and bool(owned.find(given["url"]))
        placed.append((given, price, OWNED_LANE if is_owned else lane))
        if not is_owned and not is_faulty:
            missing.append(given["url"])
    if request.engine == SEARCH_CONSOLE and missing:
        raise InvalidRequest(
            f"{len(missing):,} of {len(rows):,} URLs belong to no site that this account has connected to"
            f" {request.engine}; nothing was charged. The first: {missing[0][:200]!a}. Connect their sites, or"
            " leave `engine` out.",
            details=[
                {"field": "urls", "message": f"{url[:200]!a}: its site is not connected.", "code": "site_not_connected"}
                for url in missing[:MAX_NAMED]
            ],
            code="site_not_connected",
            field="engine",
        )
    return placed
