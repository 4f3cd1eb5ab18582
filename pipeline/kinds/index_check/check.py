"""Index check: are these pages in a search engine's results?"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Literal

from pydantic import BaseModel, Field

from pipeline.database import Statement
from pipeline.errors import InvalidRequest
from pipeline.jobs import Job
from pipeline.kind import Answer, FinishedItem, Kind, Limits, NewItem, Request, Response, Stored, as_json
from pipeline.kinds.index_check.jobs import KIND, CountedJob, IndexJob, status_of_job
from pipeline.kinds.index_check.urls import RawResult
from pipeline.kinds.index_check.verdicts import forget_verdicts
from pipeline.lifecycle import SWEEP_ROWS
from pipeline.offers import Offers
from pipeline.settings import Settings
from pipeline.sources import Source
from pipeline.urls import fault_of

#: URLs of one job (docs/api.md, Limits).
MAX_URLS = 10_000
#: Faulty URLs that a refusal names.
MAX_NAMED = 20
#: Room for so many of the longest URLs.
MAX_BODY_BYTES = 32 * 2**20
#: The providers that there are (workers/engines/search/__init__.py).
PROVIDERS = ("duckduckgo", "bing", "google", "searxng", "brave_api", "serper", "serpapi")
#: The lane of URLs that any provider may answer, and one for each provider that a request may name.
LANES: dict[str | None, str] = {None: KIND} | {provider: f"{KIND}_{provider}" for provider in PROVIDERS}


class UrlsInvalid(InvalidRequest):
    """Some URLs can't be checked; nothing was charged for the others."""

    code = "urls_invalid"


class IndexCheckRequest(Request):
    """Which URLs, and, if it matters, in whose results."""

    type: Literal["check", "submit"] = Field(description="check; submit is announced, and not available yet.")
    urls: list[str] = Field(min_length=1, max_length=MAX_URLS, description="Full URLs; the same one twice counts once.")
    source: Literal[Source, "tts"] = Field("web", description="Where the request comes from.")
    engine: str | None = Field(None, description="A configured search provider; by default the operator's order.")


class IndexJobCreated(BaseModel):
    """What is answered at once."""

    job_id: str
    type: str
    total_urls: int
    status: str


class UrlInput(Stored):
    """A URL to be checked, and the search provider that the request names, if it does."""

    url: str
    engine: str | None = None


class IndexCheck(Kind[IndexCheckRequest, UrlInput, RawResult]):
    """POST /indexing/jobs. URLs that name a provider have a lane of their own, which its pace alone stops."""

    name = KIND
    queue = "search_check"
    routes = ("/indexing/jobs",)
    handler = "workers.handlers.index_check.check:IndexCheckHandler"
    unit = "urls"
    summary = "Check whether up to 10,000 URLs are in a search engine's results; answers at once, with a job."
    example = {"type": "check", "urls": ["https://www.python.org/"]}
    bulky = frozenset({"urls"})
    answer = Answer(model=IndexJob, receipt=IndexJobCreated, without_success=True)
    #: A run has tries and forms of a query at each of some providers, all of which keep us waiting to the last.
    lanes = tuple(LANES.values())
    limits = Limits(run=timedelta(minutes=20), body_bytes=MAX_BODY_BYTES, slice_size=10)

    def configured(self, settings: Settings) -> "IndexCheck":
        """Return the kind with the operator's deadline and retention (10,000 URLs may take a day), and providers."""
        kind = IndexCheck()
        kind.limits = replace(
            self.limits,
            deadline=timedelta(days=settings.work.index_deadline_days),
            keep_for=timedelta(days=settings.retention.index_days),
        )
        return kind

    def housekeeping(self, settings: Settings) -> Mapping[str, Statement[int]]:
        """Delete verdicts that are too old to be used."""
        return {"verdicts": forget_verdicts(older_than=timedelta(days=settings.search.fresh_days), limit=SWEEP_ROWS)}

    def check(self, request: IndexCheckRequest, offers: Offers) -> None:
        """Refuse what is not available, and URLs that can't be checked, the first of which are named."""
        if request.type != "check":
            raise InvalidRequest(
                "type submit is not available yet; send check.", code="type_not_available", field="type"
            )
        if request.engine is not None:
            _check_engine(request.engine, offers)
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

    def items(self, request: IndexCheckRequest) -> list[NewItem[UrlInput]]:
        """Return an item a URL, in order, the same one only once."""
        named = {"engine": request.engine} if request.engine else {}
        lane = lane_of(request.engine)
        return [NewItem(UrlInput(url=url, **named), 1, lane=lane) for url in dict.fromkeys(request.urls)]

    def receipt(self, job: Job) -> Response:
        """Return what is answered at once."""
        created = IndexJobCreated(
            job_id=str(job.id), type="check", total_urls=job.items_total, status=status_of_job(job)
        )
        return Response(created.model_dump(), status=201, headers={"Location": f"/indexing/jobs/{job.id}"})

    def response(self, job: Job, items: Sequence[FinishedItem[UrlInput, RawResult]]) -> Response:
        """Return the index job as it has ended."""
        reasons = [item.output.reason if item.output else str(item.error.get("reason", "error")) for item in items]
        counted = CountedJob(job, reasons.count("indexed"), reasons.count("rate_limited"))
        return Response(as_json(IndexJob.of(counted)))


def lane_of(engine: str | None) -> str:
    """Return the lane of URLs that name a provider, or none; a provider from elsewhere has none of its own."""
    return LANES.get(engine, KIND)


def _check_engine(engine: str, offers: Offers) -> None:
    offered = offers.of("search")
    # Before any pool has spoken up, its word is waited for.
    known = [offer.engine for offer in offered if offer.ready] if offered else list(PROVIDERS)
    if engine not in known:
        raise InvalidRequest(
            f"engine can't be {engine[:40]!a}; configured are {', '.join(known) or 'none'}.",
            code="engine_unknown",
            field="engine",
        )
