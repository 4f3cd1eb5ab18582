"""Index check: are these pages in a search engine's results?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, ClassVar
from uuid import UUID

from pydantic import BaseModel

from capabilities.index_check.monitors.changes import forget_changes, forget_pages
from capabilities.index_check.monitors.running import MonitorRuns
from capabilities.index_check.providers.provider_states import list_breakers
from capabilities.index_check.requests.given import Given, read_urls
from capabilities.index_check.requests.refusals import check_engine, check_urls
from capabilities.index_check.requests.request import (
    ENGINE_LANES,
    FAULTY_LANE,
    INDEX_LANES,
    MAX_BODY_BYTES,
    IndexCheckRequest,
    lane_of,
)
from capabilities.index_check.results.jobs import (
    KIND,
    OWNED_LANE,
    CountedJob,
    IndexJob,
    status_of_job,
    type_of,
)
from capabilities.index_check.results.raw_result import RawResult
from capabilities.index_check.results.verdicts import forget_verdicts
from capabilities.index_check.settings import SearchSettings
from pipeline.database import Database, Statement
from pipeline.kind import Answer, FinishedItem, Kind, Limits, NewItem, Response, Stored, as_json
from pipeline.lifecycle import SWEEP_ROWS
from pipeline.lifecycle.jobs import Job
from pipeline.offers.breakers import Breaker
from pipeline.offers.offers import Offers
from pipeline.settings import Settings


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
        return {"monitors": MonitorRuns(self, settings).run}

    def breakers(self) -> Statement[list[Breaker]]:
        """Return what reads how the search providers are."""
        return list_breakers()

    def check(self, request: IndexCheckRequest, offers: Offers) -> None:
        """Refuse what is not available, and URLs that can't be checked, the first of which are named."""
        check_engine(request, offers)
        check_urls(request)

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


def new_item(
    given: Given, more: Mapping[str, Any], *, lane: str | None = None, faulty_lane: str | None = None
) -> NewItem[UrlInput]:
    """Return the item of a URL, with `more` that its request asks for; one that can't be checked costs nothing."""
    if given.fault is not None:
        return NewItem(UrlInput(url=given.url, fault=given.fault), 0, lane=faulty_lane)
    if given.sent is not None:
        more = {**more, "sent": given.sent}
    return NewItem(UrlInput(url=given.url, **more), 1, lane=lane)
