"""Indexing: the routes of index jobs, their URLs, exports and retries."""

import asyncio
import hashlib
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal

import falcon.asgi
from pydantic import BaseModel, Field

from api.http.bodies.bodies import parse_object, read_body, refuse_length
from api.http.bodies.fields import read_sent_fields
from api.http.bodies.forms import Upload
from api.http.operations import Operation, Reply
from api.http.parameters import IDEMPOTENCY_KEY, OFFSET, SINCE, UNTIL, choice, choices, limit, show_page, text
from api.jobs.job_resources import JobNotFound, read_job_id
from api.services.auth import header_key, query_key
from api.services.resource import Resource
from api.services.services import Services
from api.work.answers import refuse_gone, show_json
from api.work.submitting import Order
from api.work.work import Work
from capabilities.index_check.kinds.index_check import IndexJobCreated
from capabilities.index_check.requests.request import MAX_NAME, IndexCheckRequest, is_for_owners, with_lanes
from capabilities.index_check.results.jobs import (
    FAMILIES,
    JOB_STATUSES,
    KIND,
    KINDS,
    CountedJob,
    IndexJob,
    find_index_job,
    list_index_jobs,
    providers_for,
    type_of,
)
from capabilities.index_check.results.raw_result import REASONS
from capabilities.index_check.results.urls import STATUSES, UrlRecord, list_urls, urls_to_retry
from capabilities.index_check.routes.export import COLUMNS, XLSX, Export, csv_pieces, xlsx_pieces
from capabilities.index_check.routes.from_sitemap import FromSitemap
from capabilities.index_check.settings import ProviderSettings
from capabilities.index_check.sites.connections import sites_of
from pipeline.accounts.keys import Caller
from pipeline.errors import Conflict
from pipeline.kind import AnyKind, Request, as_json
from pipeline.offers.offers import preferred_engines

TAG = "search_check"
RETRY = "/indexing/jobs/{job_id}/retry"
TYPE = choice("type", "Only jobs of this type.", tuple(KINDS))
JOB_NAME = text("name", "Only jobs of this name.", longest=MAX_NAME)
JOB_STATUS = choices("status", "Only jobs in these statuses, separated by commas.", JOB_STATUSES)
JOB_LIMIT = limit(20, 100)
STATUS = choices("status", "Only URLs in these statuses, separated by commas.", STATUSES)
REASON = choices("reason", "Only URLs with these reasons, separated by commas.", REASONS)
URL_LIMIT = limit(100, 1_000)
FORMAT = choice(
    "format", "xlsx: a spreadsheet, with real dates and all other cells as text.", ("csv", "xlsx"), default="csv"
)
EXPORTED = choice(
    "columns", "basic: without provider, index, code, matched_url and checked_at.", COLUMNS, default="all"
)
FOR_EXCEL = choice(
    "excel",
    "Start the CSV with a byte order mark, which Excel needs to read UTF-8.",
    ("true", "false"),
    default="false",
)
#: Fields that a retry keeps from its job.
KEPT = ("engine", "index", "source", "fresh", "diagnose", "name")


class RetryRequest(Request):
    """The URLs to retry."""

    reason: Literal["rate_limited", "error", "not_indexed"] | None = Field(
        None, description="rate_limited, error or not_indexed; by default all failed URLs."
    )


def show_index_job(services: Services, counted: CountedJob) -> dict[str, Any]:
    """Return an index job's document, with its expected end at the first provider's pace."""
    family = FAMILIES[counted.job.kind]
    asked = providers_for(counted.job.request, preferred_engines(services.settings, family))
    first = next(iter(asked), "")
    provider = getattr(getattr(services.settings, family), first, None)
    seconds = provider.interval_seconds if isinstance(provider, ProviderSettings) else 0
    return as_json(IndexJob.of(counted, interval=timedelta(seconds=seconds)))


async def find_own(services: Services, caller: Caller, job_id: str) -> CountedJob:
    """Return an index job of the caller's account. Raises JobNotFound; Gone if its URLs have been deleted."""
    found = await services.database.run(
        find_index_job(read_job_id(job_id), caller.account_id, providers=preferred_engines(services.settings, "search"))
    )
    if found is None:
        raise JobNotFound
    # Its counts come from its URLs.
    refuse_gone(found.job)
    return found


class IndexWork(Work):
    """Makes index jobs, of the kind that belongs to the request's type.

    URLs of sites that the account has connected go to the services for site owners first."""

    def _kind_of(self, request: BaseModel) -> AnyKind:
        return self._services.kinds[KINDS[request.type] if isinstance(request, IndexCheckRequest) else KIND]

    async def _order_of(self, req: falcon.asgi.Request, caller: Caller, request: BaseModel, upload: Upload) -> Order:
        """Return the order, with their own lane for URLs of connected sites. Raises InvalidRequest."""
        order = await super()._order_of(req, caller, request, upload)
        if order.submission.kind != KIND or not isinstance(request, IndexCheckRequest):
            return order
        if not is_for_owners(request.engine, request.index):
            return order
        sites = await self._services.database.run(sites_of(caller.account_id))
        if not sites and request.engine is None:
            return order
        items = await asyncio.to_thread(with_lanes, order.submission.items, request, sites)
        return replace(order, submission=replace(order.submission, items=items))


class IndexJobs(FromSitemap, IndexWork):
    """POST and GET /indexing/jobs."""

    @Operation(
        id="get_indexing_jobs",
        tag=TAG,
        summary="List the account's index jobs, newest first.",
        parameters=(TYPE, JOB_NAME, JOB_STATUS, SINCE, UNTIL, JOB_LIMIT, OFFSET),
        replies={200: Reply("A page, with its neighbours in Link.", list[IndexJob])},
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        services = self._services
        caller = await services.authenticate_reader(req)
        limit, offset = JOB_LIMIT.read(req), OFFSET.read(req)
        providers = preferred_engines(services.settings, "search")
        page, total = await services.database.run(
            list_index_jobs(
                caller.account_id,
                providers=providers,
                wanted=TYPE.read(req) or None,
                name=JOB_NAME.read(req),
                statuses=JOB_STATUS.read(req),
                since=SINCE.read(req),
                until=UNTIL.read(req),
                limit=limit,
                offset=offset,
            )
        )
        show_page(req, resp, limit=limit, offset=offset, total=total)
        show_json(resp, [show_index_job(services, counted) for counted in page])

    on_head = on_get


class IndexJobResource(Resource):
    """GET /indexing/jobs/{id}."""

    @Operation(
        id="get_indexing_job",
        tag=TAG,
        summary="Return an index job with its counts.",
        replies={200: Reply("The job.", IndexJob)},
        errors=(410,),
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        caller = await self._services.authenticate_reader(req)
        show_json(resp, show_index_job(self._services, await find_own(self._services, caller, job_id)))


class IndexJobUrls(Resource):
    """GET /indexing/jobs/{id}/urls."""

    @Operation(
        id="get_indexing_job_urls",
        tag=TAG,
        summary="List the job's URLs in input order.",
        parameters=(STATUS, REASON, URL_LIMIT, OFFSET),
        replies={200: Reply("A page, with its neighbours in Link.", list[UrlRecord])},
        errors=(410,),
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        caller = await self._services.authenticate_reader(req)
        statuses, reasons = STATUS.read(req), REASON.read(req)
        limit, offset = URL_LIMIT.read(req), OFFSET.read(req)
        counted = await find_own(self._services, caller, job_id)
        waits = counted.waiting_for.description if counted.waiting_for else None
        listing = list_urls(counted.job.id, statuses=statuses, reasons=reasons, waits=waits, limit=limit, offset=offset)
        page, total = await self._services.database.run(listing)
        show_page(req, resp, limit=limit, offset=offset, total=total)
        show_json(resp, [as_json(record) for record in page])


class IndexJobExport(Resource):
    """GET /indexing/jobs/{id}/export."""

    @Operation(
        id="get_indexing_job_export",
        tag=TAG,
        summary="Return the job's URLs as CSV or as a spreadsheet, in their present state.",
        parameters=(FORMAT, EXPORTED, FOR_EXCEL),
        replies={200: Reply("The file.", content=("text/csv", XLSX))},
        errors=(410,),
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str) -> None:
        services = self._services
        caller = await services.authenticate_reader(req)
        form, columns = FORMAT.read(req), COLUMNS[EXPORTED.read(req)]
        for_excel = FOR_EXCEL.read(req) == "true"
        export = Export(services.database, (await find_own(services, caller, job_id)).job.id, columns)
        resp.set_header("Content-Disposition", f"attachment; filename=index-job-{export.job_id}.{form}")
        if form == "xlsx":
            resp.content_type = XLSX
            resp.stream = xlsx_pieces(export, services.large_requests)
        else:
            resp.content_type = "text/csv; charset=utf-8"
            resp.stream = csv_pieces(export, byte_order_mark=for_excel)


class IndexRetry(IndexWork):
    """POST /indexing/jobs/{id}/retry."""

    def __init__(self, services: Services) -> None:
        super().__init__(services, services.kinds[KIND], RETRY)

    @Operation(
        id="post_indexing_job_retry",
        tag=TAG,
        summary="Retry the URLs that failed, or those with a reason, as a new job; the same job while it runs.",
        parameters=(IDEMPOTENCY_KEY,),
        body=RetryRequest,
        needs_body=False,
        replies={201: Reply("The job.", IndexJobCreated)},
        errors=(402, 409, 410, 422),
    )
    async def on_post(  # type: ignore[override]  # this route has a job in its path
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, job_id: str
    ) -> None:
        """Make a new job of another job's URLs; while it runs, the same retry returns it."""
        req.context.job_id = job_id
        await super().on_post(req, resp)

    async def _order(self, req: falcon.asgi.Request, upload: Upload) -> Order:
        services = self._services
        max_bytes = services.settings.api.max_json_bytes
        refuse_length(req, max_bytes)
        # A key in a header is checked before the body is read.
        key = header_key(req)
        caller = await services.authenticate(req, key) if key else None
        body = await read_body(req, max_bytes=max_bytes)
        fields = parse_object(body) if body else {}
        caller = caller or await services.authenticate(req, fields.get("api_key") or query_key(req))
        wanted = read_sent_fields(req, RetryRequest, body or b"{}")
        job = (await find_own(services, caller, req.context.job_id)).job
        urls = await services.database.run(urls_to_retry(job.id, reason=wanted.reason))
        if not urls:
            wanted_one = f"has ended with the reason {wanted.reason}" if wanted.reason else "has failed"
            message = f"No URL of this job {wanted_one} yet; there is nothing to retry."
            raise Conflict(message, code="nothing_to_retry")
        kept = {name: job.request[name] for name in KEPT if name in job.request}
        if wanted.reason == "not_indexed":
            kept["fresh"] = True  # a retry wants a new answer
        request = IndexCheckRequest.model_validate({"type": type_of(job.kind), "urls": urls, **kept})
        order = await self._order_of(req, caller, request, upload)
        # The hash of what was sent: more URLs may have failed since, but a repeated request is the same.
        sent = hashlib.sha256(f"{job.id} {wanted.reason}".encode()).digest()
        submission = replace(order.submission, request_hash=sent, joins_open=True)
        again = replace(order, submission=submission).with_webhook(job.webhook_url, job.webhook_events)
        return await self._with_common(req, fields, again)
