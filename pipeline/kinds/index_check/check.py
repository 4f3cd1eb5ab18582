"""Index check: are these pages in a search engine's results?"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field

from pipeline.errors import InvalidRequest
from pipeline.jobs import Item, Job
from pipeline.kind import Kind, Part, Request, Response
from pipeline.kinds.index_check.jobs import IndexJob, count_items, index_job_document, status_of_job
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
#: The providers that there are (workers/engines/registry.py).
PROVIDERS = ("duckduckgo", "bing", "google", "searxng", "brave_api", "serper", "serpapi")


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


class IndexCheck(Kind[IndexCheckRequest]):
    """POST /indexing/jobs. Items that name a provider are claimed as a kind of its own, which its pace alone stops."""

    queue = "search_check"
    handler = "workers.handlers.index_check.check:IndexCheckHandler"
    unit = "urls"
    summary = "Check whether up to 10,000 URLs are in a search engine's results; answers at once, with a job."
    example: ClassVar[dict[str, Any]] = {"type": "check", "urls": ["https://www.python.org/"]}
    bulky: ClassVar[frozenset[str]] = frozenset({"urls"})
    slice_size = 10
    #: Tries and forms of a query at each of some providers, all of which keep us waiting to the last.
    run_limit = timedelta(minutes=20)
    max_body_bytes = MAX_BODY_BYTES
    answers_failed = True
    answer = IndexJob
    created = IndexJobCreated
    request = IndexCheckRequest

    def __init__(
        self, engine: str | None = None, *, deadline: timedelta | None = None, keep_for: timedelta | None = None
    ) -> None:
        self._engine = engine
        self.name = kind_name(engine)  # type: ignore[misc]  # one object a provider
        self.routes = () if engine else ("/indexing/jobs",)  # type: ignore[misc]
        self.deadline = deadline  # type: ignore[misc]  # the operator's
        self.keep_for = keep_for  # type: ignore[misc]

    def configured(self, settings: Settings) -> "IndexCheck":
        """Return the kind with the operator's deadline and retention: 10,000 URLs may take a day."""
        return IndexCheck(
            self._engine,
            deadline=timedelta(days=settings.work.index_deadline_days),
            keep_for=timedelta(days=settings.retention.index_days),
        )

    def claimed_as(self, request: IndexCheckRequest) -> str:
        """Return the kind of the provider that is named, with a pace of its own."""
        return kind_name(request.engine)

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

    def parts(self, request: IndexCheckRequest) -> list[Part]:
        """Return an item a URL, in order, the same one only once."""
        named = {"engine": request.engine} if request.engine else {}
        return [Part({"url": url, **named}, 1) for url in dict.fromkeys(request.urls)]

    def receipt(self, job: Job) -> Response:
        """Return what is answered at once."""
        created = IndexJobCreated(
            job_id=str(job.id), type="check", total_urls=job.items_total, status=status_of_job(job)
        )
        return Response(created.model_dump(), status=201, headers={"Location": f"/indexing/jobs/{job.id}"})

    def response(self, job: Job, items: Sequence[Item]) -> Response:
        """Return the index job as it has ended."""
        return Response(index_job_document(job, count_items(items)))


def kind_name(engine: str | None) -> str:
    """Return the kind of items that name a provider, or none."""
    return f"index_check_{engine}" if engine else "index_check"


def _check_engine(engine: str, offers: Offers) -> None:
    offered = [offer for offer in offers.engines if offer.family == "search"]
    # Before any pool has spoken up, its word is waited for.
    known = [offer.engine for offer in offered if offer.ready] if offered else list(PROVIDERS)
    if engine not in known:
        raise InvalidRequest(
            f"engine can't be {engine[:40]!a}; configured are {', '.join(known) or 'none'}.",
            code="engine_unknown",
            field="engine",
        )
