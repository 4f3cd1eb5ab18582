"""Index check: are these pages in a search engine's results?"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from pipeline.database import Statement
from pipeline.errors import InvalidRequest
from pipeline.jobs import Job
from pipeline.kind import Answer, FinishedItem, Kind, Limits, NewItem, Request, Response, Stored, as_json
from pipeline.kinds.index_check.connections import SEARCH_CONSOLE
from pipeline.kinds.index_check.jobs import KIND, PROVIDERS, CountedJob, IndexJob, status_of_job, type_of
from pipeline.kinds.index_check.urls import RawResult
from pipeline.kinds.index_check.verdicts import forget_verdicts
from pipeline.lifecycle import SWEEP_ROWS
from pipeline.offers import Offer, Offers
from pipeline.settings import Settings
from pipeline.sources import Source
from pipeline.urls import fault_of

#: URLs of one job (docs/api.md, Limits).
MAX_URLS = 10_000
#: Faulty URLs that a refusal names.
MAX_NAMED = 20
#: Room for so many of the longest URLs.
MAX_BODY_BYTES = 32 * 2**20
#: The indexes that the providers answer from (jobs.py).
INDEXES = tuple(dict.fromkeys(PROVIDERS.values()))
#: The lane of URLs that name a provider, or an index; those that name neither have the kind's.
ENGINE_LANES = {provider: f"{KIND}_{provider}" for provider in PROVIDERS}
INDEX_LANES = {index: f"{KIND}_index_{index}" for index in INDEXES}
#: The lane of URLs of connected sites, which their owners' services are asked about first (owned.py).
OWNED_LANE = f"{KIND}_owned"
#: Services for site owners that a request may name, and the index of each. Bing's gives no verdict.
OWNED_ENGINES = {SEARCH_CONSOLE: "google"}


class UrlsInvalid(InvalidRequest):
    """Some URLs can't be checked; nothing was charged for the others."""

    code = "urls_invalid"


class IndexCheckRequest(Request):
    """Which URLs, and, if it matters, in whose results."""

    type: Literal["check", "submit"] = Field(description="check, or submit where the operator has turned it on.")
    urls: list[str] = Field(min_length=1, max_length=MAX_URLS, description="Full URLs; the same one twice counts once.")
    source: Literal[Source, "tts"] = Field("web", description="Where the request comes from.")
    engine: str | None = Field(None, description="A configured search provider; by default the operator's order.")
    index: str | None = Field(
        None, description="Whose index has to answer: google, bing, brave, duckduckgo …; by default any."
    )
    fresh: bool = Field(False, description="Ask now, whatever was answered lately.")


class IndexJobCreated(BaseModel):
    """What is answered at once."""

    job_id: str
    type: str
    total_urls: int
    status: str


class UrlInput(Stored):
    """A URL to be checked, the search provider or index that the request names, and whether it wants a new answer."""

    url: str
    engine: str | None = None
    index: str | None = None
    fresh: bool = False


class IndexCheck(Kind[IndexCheckRequest, UrlInput, RawResult]):
    """POST /indexing/jobs. URLs that name a provider or an index have lanes: other paces don't stop them."""

    name = KIND
    queue = "search_check"
    routes: ClassVar[tuple[str, ...]] = ("/indexing/jobs",)
    handler = "workers.handlers.index_check.check:IndexCheckHandler"
    unit = "urls"
    summary = "Check whether up to 10,000 URLs are in a search engine's results; answers at once, with a job."
    example = {"type": "check", "urls": ["https://www.python.org/"]}
    bulky = frozenset({"urls"})
    answer = Answer(model=IndexJob, receipt=IndexJobCreated, without_success=True)
    #: A run has tries and forms of a query at each of some providers, all of which keep us waiting to the last.
    lanes = (KIND, *ENGINE_LANES.values(), *INDEX_LANES.values(), OWNED_LANE)
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
        """Delete verdicts that are too old to be used."""
        return {"verdicts": forget_verdicts(older_than=settings.search.reuse.longest, limit=SWEEP_ROWS)}

    def check(self, request: IndexCheckRequest, offers: Offers) -> None:
        """Refuse what is not available, and URLs that can't be checked, the first of which are named."""
        self.check_engine(request, offers)
        faults = [
            {"field": f"urls.{index}", "message": f"{url[:200]!a}: {fault}.", "code": "url_invalid"}
            for index, url in enumerate(request.urls)
            if (fault := fault_of(url)) is not None
        ]
        if faults:
            raise UrlsInvalid(
                f"{len(faults):,} of {len(request.urls):,} URLs can't be checked, and nothing was charged. The first: "
                f"{faults[0]['message']} Correct them, or leave them out.",
                details=faults[:MAX_NAMED],
                invalid_urls=len(faults),
            )

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
        asked_for = {"engine": request.engine, "index": request.index, "fresh": request.fresh}
        # What is not asked for is not stored: ten thousand items say it once each.
        more: dict[str, Any] = {name: value for name, value in asked_for.items() if value}
        lane = lane_of(request.engine, request.index)
        return [NewItem(UrlInput(url=url, **more), 1, lane=lane) for url in dict.fromkeys(request.urls)]

    def receipt(self, job: Job) -> Response:
        """Return what is answered at once."""
        created = IndexJobCreated(
            job_id=str(job.id), type=type_of(job.kind), total_urls=job.items_total, status=status_of_job(job)
        )
        return Response(created.model_dump(), status=201, headers={"Location": f"/indexing/jobs/{job.id}"})

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


def require_engine(engine: str | None, known: Sequence[str]) -> None:
    """Refuse an engine that is not among those that are known; None is any of them. Raises InvalidRequest."""
    if engine is not None and engine not in known:
        raise InvalidRequest(
            f"engine can't be {engine[:40]!a}; configured are {', '.join(known) or 'none'}.",
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
            f"index can't be {index[:40]!a}; {'engine answers from' if engine else 'configured are'} "
            f"{listed or ('none' if offered else ', '.join(INDEXES))}.",
            code="index_unknown",
            field="index",
        )
