"""Index check: are these pages in a search engine's results?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from capabilities.index_check.kinds.given import BOTH, NEITHER, Given, SitemapUrl, read_url, read_urls
from capabilities.index_check.kinds.jobs import (
    KIND,
    OWNED_LANE,
    PROVIDERS,
    CountedJob,
    IndexJob,
    status_of_job,
    type_of,
)
from capabilities.index_check.kinds.urls import RawResult
from capabilities.index_check.kinds.verdicts import forget_verdicts
from capabilities.index_check.monitors.changes import forget_changes, forget_pages
from capabilities.index_check.providers.provider_states import list_breakers
from capabilities.index_check.settings import SearchSettings
from capabilities.index_check.sites.connections import SEARCH_CONSOLE
from pipeline.database import Database, Statement
from pipeline.downloads.urls import MAX_CHARACTERS
from pipeline.errors import InvalidRequest
from pipeline.kind import Answer, FinishedItem, Kind, Limits, NewItem, Request, Response, Stored, as_json
from pipeline.lifecycle import SWEEP_ROWS
from pipeline.lifecycle.jobs import Job
from pipeline.offers.breakers import Breaker
from pipeline.offers.offers import Offer, Offers
from pipeline.settings import Settings
from pipeline.sources import Source

#: URLs of one job (docs/api.md, Limits).
MAX_URLS = 10_000
#: Characters of a job's name.
MAX_NAME = 200
#: What it is made of: no control characters.
NAME = r"^[^\x00-\x1f\x7f]+$"
#: Faulty URLs that a refusal names.
MAX_NAMED = 20
#: Room for so many of the longest URLs.
MAX_BODY_BYTES = 32 * 2**20
#: The indexes that the providers answer from (jobs.py).
INDEXES = tuple(dict.fromkeys(PROVIDERS.values()))
#: The lane of URLs that name a provider, or an index; those that name neither have the kind's.
ENGINE_LANES = {provider: f"{KIND}_{provider}" for provider in PROVIDERS}
INDEX_LANES = {index: f"{KIND}_index_{index}" for index in INDEXES}
#: Services for site owners that a request may name, and the index of each. Bing's gives no verdict.
OWNED_ENGINES = {SEARCH_CONSOLE: "google"}
#: The lane of URLs that can't be checked, which no provider is asked about, and which wait for none.
FAULTY_LANE = f"{KIND}_faulty"


class UrlsInvalid(InvalidRequest):
    """Some URLs can't be checked; nothing was charged for the others."""

    code = "urls_invalid"


class UrlsMissing(InvalidRequest):
    """There is nothing to check."""

    message = "urls: This field is required, or else sitemap_url."

    def __init__(self) -> None:
        super().__init__(details=[{"field": "urls", "message": "This field is required.", "code": "field_missing"}])


class IndexCheckRequest(Request):
    """Which URLs, and, if it matters, in whose results."""

    model_config = ConfigDict(json_schema_extra={"not": {"anyOf": [NEITHER, BOTH]}})

    type: Literal["check", "submit"] = Field(description="check, or submit where the operator has turned it on.")
    urls: list[str] = Field(
        default_factory=list,
        min_length=1,
        max_length=MAX_URLS,
        description="URLs; the same one twice counts once, and example.org/a stands for https://example.org/a.",
    )
    sitemap_url: SitemapUrl | None = Field(
        None, max_length=MAX_CHARACTERS, description="A sitemap, or an index of sitemaps, instead of urls."
    )
    skip_invalid: bool = Field(
        False, description="A URL that can't be checked fails alone; by default all are refused for it."
    )
    name: str | None = Field(
        None,
        min_length=1,
        max_length=MAX_NAME,
        pattern=NAME,
        description="Of the job, to find it again.",
    )
    source: Literal[Source, "tts"] = Field("web", description="Where the request comes from.")
    engine: str | None = Field(None, description="A configured search provider; by default the operator's order.")
    index: str | None = Field(
        None, description="Whose index has to answer: google, bing, brave, duckduckgo …; by default any."
    )
    fresh: bool = Field(False, description="Ask now, whatever was answered lately.")
    diagnose: bool = Field(False, description="Look at pages without a good answer, and say why; it costs nothing.")


class IndexJobCreated(BaseModel):
    """What is answered at once."""

    job_id: UUID
    type: str
    total_urls: int
    status: str


class UrlInput(Stored):
    """A URL to be checked, the search provider or index that the request names, and whether it wants a new answer.

    `sent` is what the URL was made of, where that is not the same; `fault` why it can't be checked."""

    url: str
    sent: str | None = None
    fault: str | None = None
    engine: str | None = None
    index: str | None = None
    fresh: bool = False
    diagnose: bool = False


class IndexCheck(Kind[IndexCheckRequest, UrlInput, RawResult]):
    """POST /indexing/jobs. URLs that name a provider or an index have lanes: other paces don't stop them."""

    name = KIND
    queue = "search_check"
    routes: ClassVar[tuple[str, ...]] = ("/indexing/jobs",)
    handler = "capabilities.index_check.handlers.check:IndexCheckHandler"
    unit = "urls"
    summary = "Check whether up to 10,000 URLs are in a search engine's results; answers at once, with a job."
    example = {"type": "check", "urls": ["https://www.python.org/"]}
    bulky = frozenset({"urls"})
    subject: ClassVar[str | None] = "url"
    downloads: ClassVar[Mapping[str, str]] = {
        "CSV": "/indexing/jobs/{job_id}/export",
        "Excel": "/indexing/jobs/{job_id}/export?format=xlsx",
    }
    answer = Answer(model=IndexJob, receipt=IndexJobCreated, without_success=True)
    #: A run has tries and forms of a query at each of some providers, all of which keep us waiting to the last.
    lanes = (KIND, *ENGINE_LANES.values(), *INDEX_LANES.values(), OWNED_LANE, FAULTY_LANE)
    limits = Limits(run=timedelta(minutes=20), body_bytes=MAX_BODY_BYTES, slice_size=10)

    def configured(self, settings: Settings) -> "IndexCheck":
        """Return the kind with the operator's deadline and retention (10,000 URLs may take a day), and providers."""
        kind = type(self)()
        kind.limits = replace(
            self.limits,
            deadline=timedelta(days=settings.work.index_deadline_days),
            keep_for=timedelta(days=settings.retention.index_days),
        )
        return kind

    def housekeeping(self, settings: Settings) -> Mapping[str, Statement[int]]:
        """Delete verdicts that are too old to be used, and what monitors have found out long ago."""
        change_days = timedelta(days=settings.retention.change_days)
        return {
            "verdicts": forget_verdicts(older_than=settings.of(SearchSettings).reuse.longest, limit=SWEEP_ROWS),
            "monitor_changes": forget_changes(older_than=change_days, limit=SWEEP_ROWS),
            "monitor_pages": forget_pages(older_than=change_days, limit=SWEEP_ROWS),
        }

    def can_repeat(self, given: Mapping[str, Any]) -> bool:
        """Return whether the URL can be checked at all: one that can't is no other the next time."""
        return given.get("fault") is None

    def chores(self, settings: Settings) -> Mapping[str, Callable[[Database], int]]:
        """Return what makes the jobs of monitors, and looks at those that have ended."""
        from capabilities.index_check.monitors.running import MonitorRuns  # which makes requests of this kind

        return {"monitors": MonitorRuns(self, settings).run}

    def breakers(self) -> Statement[list[Breaker]]:
        """Return what reads how the search providers are."""
        return list_breakers()

    def check(self, request: IndexCheckRequest, offers: Offers) -> None:
        """Refuse what is not available, and URLs that can't be checked, the first of which are named."""
        self.check_engine(request, offers)
        check_urls(request)

    def check_engine(self, request: IndexCheckRequest, offers: Offers) -> None:
        """Refuse a provider, and an index, that none is set up for. Raises InvalidRequest."""
        offered = offers.of("search")
        # Before any pool has spoken up, its word is waited for.
        known = [offer.engine for offer in offered if offer.ready] if offered else list(PROVIDERS)
        # Whether the URLs' sites are connected is looked up when the account is known.
        require_engine(request.engine, [*known, *OWNED_ENGINES])
        if request.index is not None:
            _check_index(request.index, request.engine, offers)

    def items(self, request: IndexCheckRequest) -> list[NewItem[UrlInput]]:
        """Return an item a URL, in order, the same one only once."""
        asked_for = {name: getattr(request, name) for name in ("engine", "index", "fresh", "diagnose")}
        # What is not asked for is not stored: ten thousand items say it once each.
        more: dict[str, Any] = {name: value for name, value in asked_for.items() if value}
        lane = lane_of(request.engine, request.index)
        return [new_item(given, more, lane=lane, faulty_lane=FAULTY_LANE) for given in read_urls(request.urls)]

    def receipt(self, job: Job) -> Response:
        """Return what is answered at once."""
        created = IndexJobCreated(
            job_id=job.id, type=type_of(job.kind), total_urls=job.items_total, status=status_of_job(job)
        )
        return Response(as_json(created), status=201, headers={"Location": f"/indexing/jobs/{job.id}"})

    def response(self, job: Job, items: Sequence[FinishedItem[UrlInput, RawResult]]) -> Response:
        """Return the index job as it has ended."""
        reasons = [item.output.reason if item.output else str(item.error.get("reason", "error")) for item in items]
        counted = CountedJob(job, reasons.count("indexed"), reasons.count("rate_limited"))
        return Response(as_json(IndexJob.of(counted)))


def lane_of(engine: str | None, index: str | None = None) -> str:
    """Return the lane of URLs that name a provider, an index or neither; one from elsewhere has none of its own."""
    if engine in OWNED_ENGINES:
        return OWNED_LANE
    if engine:
        return ENGINE_LANES.get(engine, KIND)
    return INDEX_LANES.get(index, KIND) if index else KIND


def index_of(offer: Offer) -> str:
    """Return whose index a provider answers from; one that doesn't say has its own."""
    return str(offer.content.get("index") or offer.engine)


def new_item(
    given: Given, more: Mapping[str, Any], *, lane: str | None = None, faulty_lane: str | None = None
) -> NewItem[UrlInput]:
    """Return the item of a URL, with `more` that its request asks for; one that can't be checked costs nothing."""
    if given.fault is not None:
        return NewItem(UrlInput(url=given.url, fault=given.fault), 0, lane=faulty_lane)
    if given.sent is not None:
        more = {**more, "sent": given.sent}
    return NewItem(UrlInput(url=given.url, **more), 1, lane=lane)


def check_urls(request: IndexCheckRequest) -> None:
    """Refuse a request without URLs, and, unless they are skipped, one with URLs that can't be checked.

    Raises UrlsMissing; UrlsInvalid, which names the first of them."""
    if not request.urls:
        raise UrlsMissing
    if request.skip_invalid:
        return
    faults = [
        {"field": f"urls.{index}", "message": f"{url[:200]!a}: {fault}.", "code": "url_invalid"}
        for index, url in enumerate(request.urls)
        if (fault := read_url(url).fault) is not None
    ]
    if faults:
        raise UrlsInvalid(
            f"{len(faults):,} of {len(request.urls):,} URLs can't be checked, and nothing was charged. The first: "
            f"{faults[0]['message']} Correct them or leave them out; a job skips them with skip_invalid: true.",
            details=faults[:MAX_NAMED],
            invalid_urls=len(faults),
        )


def require_engine(engine: str | None, known: Sequence[str]) -> None:
    """Refuse an engine that is not among those that are known; None is any of them. Raises InvalidRequest."""
    if engine is not None and engine not in known:
        raise InvalidRequest(
            f"engine can't be {engine[:40]!a}; set up here are {', '.join(known) or 'none'}. "
            "Name one of them, or leave it out.",
            code="engine_unknown",
            field="engine",
        )


def _check_index(index: str, engine: str | None, offers: Offers) -> None:
    offered = offers.of("search")
    ready: dict[str, list[str]] = {}
    if engine in OWNED_ENGINES:
        ready[OWNED_ENGINES[engine]] = [engine]
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
