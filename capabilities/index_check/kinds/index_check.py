"""The kinds of index jobs: checks whether pages are in a search engine's results, and submissions of pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar
from uuid import UUID

from pydantic import BaseModel

from capabilities.index_check.monitors.running import MonitorRuns
from capabilities.index_check.providers.rests import list_breakers
from capabilities.index_check.requests.given import Given, read_urls
from capabilities.index_check.requests.request import (
    ENGINE_LANES,
    FAULTY_LANE,
    INDEX_LANES,
    MAX_BODY_BYTES,
    MAX_URLS,
    IndexCheckRequest,
    check_engine,
    check_urls,
    lane_of,
    require_engine,
)
from capabilities.index_check.results.jobs import (
    KIND,
    OWNED_LANE,
    SUBMIT_KIND,
    CountedJob,
    IndexJob,
    status_of_job,
    type_of,
)
from capabilities.index_check.results.raw_result import RawResult
from capabilities.index_check.results.verdicts import forget_checked
from capabilities.index_check.settings import IndexRetention, IndexWork, SearchSettings, SubmissionSettings
from pipeline.database import Database, Statement
from pipeline.errors import InvalidRequest
from pipeline.kind import Answer, FinishedItem, Kind, Limits, NewItem, Response, Stored, as_json
from pipeline.lifecycle import SWEEP_ROWS
from pipeline.lifecycle.jobs import Job
from pipeline.offers.offers import Breaker, Offers
from pipeline.settings import Settings


class IndexJobCreated(BaseModel):
    """The receipt of a new index job."""

    job_id: UUID
    type: str
    total_urls: int
    status: str


class UrlInput(Stored):
    """A URL to be checked, and what its request asks for (requests/given.py: `sent`, `fault`)."""

    url: str
    sent: str | None = None
    fault: str | None = None
    engine: str | None = None
    index: str | None = None
    fresh: bool = False
    diagnose: bool = False


class IndexCheck(Kind[IndexCheckRequest, UrlInput, RawResult]):
    """POST /indexing/jobs. URLs that name a provider or an index have their own lanes, which other paces don't stop."""

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
        "Excel": "/indexing/jobs/{job_id}/export?excel=true",
    }
    answer = Answer(model=IndexJob, receipt=IndexJobCreated, without_success=True)
    #: A run asks several providers, each in two forms and with several tries, and each may take its longest time.
    lanes = (KIND, *ENGINE_LANES.values(), *INDEX_LANES.values(), OWNED_LANE, FAULTY_LANE)
    limits = Limits(run=timedelta(minutes=20), body_bytes=MAX_BODY_BYTES, slice_size=10)

    def configured(self, settings: Settings) -> "IndexCheck":
        kind = type(self)()
        kind.limits = replace(
            self.limits,
            deadline=timedelta(days=settings.of(IndexWork).index_deadline_days),
            keep_for=timedelta(days=settings.of(IndexRetention).index_days),
        )
        return kind

    def housekeeping(self, settings: Settings) -> Mapping[str, Statement[int]]:
        """Delete expired verdicts, and old changes of monitors."""
        answers = settings.of(SearchSettings).reuse.longest
        changes = timedelta(days=settings.of(IndexRetention).change_days)
        return {
            "verdicts": forget_checked("verdict", ["page", "provider"], answers, SWEEP_ROWS),
            "monitor_changes": forget_checked("index_monitor_change", ["id"], changes, SWEEP_ROWS),
            # A page whose URL is checked no more.
            "monitor_pages": forget_checked("index_monitor_page", ["monitor_id", "page", "index"], changes, SWEEP_ROWS),
        }

    def can_repeat(self, given: Mapping[str, Any]) -> bool:
        return given.get("fault") is None

    def chores(self, settings: Settings) -> Mapping[str, Callable[[Database], int]]:
        return {"monitors": MonitorRuns(self, settings).run}

    def breakers(self) -> Statement[list[Breaker]]:
        return list_breakers()

    def check(self, request: IndexCheckRequest, offers: Offers) -> None:
        check_engine(request, offers)
        check_urls(request)

    def items(self, request: IndexCheckRequest) -> list[NewItem[UrlInput]]:
        asked_for = {name: getattr(request, name) for name in ("engine", "index", "fresh", "diagnose")}
        # Defaults are not stored: there may be ten thousand items.
        more: dict[str, Any] = {name: value for name, value in asked_for.items() if value}
        lane = lane_of(request.engine, request.index)
        return [new_item(given, more, lane=lane, faulty_lane=FAULTY_LANE) for given in read_urls(request.urls)]

    def receipt(self, job: Job) -> Response:
        status, total = status_of_job(job), job.items_total
        created = IndexJobCreated(job_id=job.id, type=type_of(job.kind), total_urls=total, status=status)
        return Response(as_json(created), status=201, headers={"Location": f"/indexing/jobs/{job.id}"})

    def response(self, job: Job, items: Sequence[FinishedItem[UrlInput, RawResult]]) -> Response:
        reasons = [item.output.reason if item.output else str(item.error.get("reason", "error")) for item in items]
        counted = CountedJob(job, reasons.count("indexed"), reasons.count("rate_limited"))
        return Response(as_json(IndexJob.of(counted)))


class IndexSubmit(IndexCheck):
    """POST /indexing/jobs with `"type": "submit"`. A worker takes a job's URLs all at once.

    Refused unless the operator has set up an engine (docs/indexing.md, Submission)."""

    name = SUBMIT_KIND
    #: None of its own: submissions share the route of checks.
    routes = ()
    handler = "capabilities.index_check.handlers.submit:IndexSubmitHandler"
    summary = "Tell search engines of up to 10,000 URLs; answers at once, with a job."
    example = {"type": "submit", "urls": ["https://www.example.com/"]}
    lanes = ()
    #: One slice for all of a job's URLs: those of a host go out in one call.
    limits = Limits(run=timedelta(minutes=20), body_bytes=MAX_BODY_BYTES, slice_size=MAX_URLS)
    engines: Sequence[str] = ()

    def configured(self, settings: Settings) -> "IndexSubmit":
        kind = IndexSubmit()
        kind.limits = super().configured(settings).limits
        kind.engines = settings.of(SubmissionSettings).set_up
        return kind

    def housekeeping(self, settings: Settings) -> Mapping[str, Statement[int]]:
        """Delete nothing: submissions have no verdicts."""
        return {}

    def chores(self, settings: Settings) -> Mapping[str, Callable[[Database], int]]:
        return {}

    def check(self, request: IndexCheckRequest, offers: Offers) -> None:
        """Refuse requests if no engine is set up, unknown engines, and invalid URLs."""
        if not self.engines:
            raise InvalidRequest(
                "type submit is not available: the operator has not enabled it. Send check.",
                code="type_not_available",
                field="type",
            )
        require_engine(request.engine, self.engines)
        check_urls(request)

    def items(self, request: IndexCheckRequest) -> list[NewItem[UrlInput]]:
        named = {"engine": request.engine} if request.engine else {}
        return [new_item(given, named) for given in read_urls(request.urls)]


def new_item(
    given: Given, more: Mapping[str, Any], *, lane: str | None = None, faulty_lane: str | None = None
) -> NewItem[UrlInput]:
    """Return the item of a URL, with what its request asks for. An invalid one costs nothing."""
    if given.fault is not None:
        return NewItem(UrlInput(url=given.url, fault=given.fault), 0, lane=faulty_lane)
    if given.sent is not None:
        more = {**more, "sent": given.sent}
    return NewItem(UrlInput(url=given.url, **more), 1, lane=lane)
