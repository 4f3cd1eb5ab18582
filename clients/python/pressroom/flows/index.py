"""Index checks: whether pages are in search results. Submissions: pages announced to search engines."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Unpack

from pressroom.documents.index import IndexJob, IndexMonitor, IndexMonitorChange, UrlRecord
from pressroom.exchange import Ask, Flow, StreamFlow
from pressroom.flows.pages import Page, page, pages
from pressroom.options import Options, SubmitOptions, order
from pressroom.service import Answer, Service, Target, given

#: Most URLs and changes of one request (docs/api.md, Lists).
MAX_URLS = 1_000
JOBS = "/indexing/jobs"
MONITORS = "/indexing/monitors"


class CheckOptions(SubmitOptions, total=False):
    """Options of index checks (docs/indexing.md)."""

    sitemap_url: str | None
    skip_invalid: bool | None
    name: str | None
    engine: str | None
    index: str | None
    fresh: bool | None  #: ignore recent answers
    diagnose: bool | None  #: say why a page is not found


class WaitedCheckOptions(CheckOptions, Options, total=False):
    """Options of index checks that the method waits for."""


def submit_index(
    service: Service,
    urls: Iterable[str] | None = None,
    *,
    type: Literal["check", "submit"] = "check",
    **options: Unpack[CheckOptions],
) -> Flow[IndexJob]:
    """Submit an index job of up to 10,000 URLs, or a sitemap, and return it without waiting."""
    return (yield from _submit(service, urls, type, options))


def check_index(
    service: Service, urls: Iterable[str] | None = None, **options: Unpack[WaitedCheckOptions]
) -> Flow[list[UrlRecord]]:
    """Check whether pages are in search results, and return the records; it takes minutes, or days for many."""
    progress = options.pop("progress", None)
    made = yield from _submit(service, urls, "check", options)
    yield from service.wait(made.id, progress)
    found: list[UrlRecord] = []
    while True:
        some = yield from page(service, f"{JOBS}/{made.id}/urls", UrlRecord, limit=MAX_URLS, offset=len(found))
        found += some
        if not some or len(found) >= some.total:
            return found


def index_jobs(
    service: Service,
    *,
    type: Literal["check", "submit"] | None = None,
    name: str | None = None,
    limit: int | None = None,
    offset: int | None = None,
) -> Flow[Page[IndexJob]]:
    """List the account's index jobs, newest first."""
    return page(service, JOBS, IndexJob, type=type, name=name, limit=limit, offset=offset)


def index_job(service: Service, job_id: str) -> Flow[IndexJob]:
    """Return an index job with its counts."""
    return IndexJob.read((yield from service.get(f"{JOBS}/{job_id}")).json)


def index_urls(
    service: Service, job_id: str, *, status: str | None = None, reason: str | None = None
) -> StreamFlow[UrlRecord]:
    """Iterate over the records of an index job's URLs, in their order."""
    return pages(service, f"{JOBS}/{job_id}/urls", UrlRecord, limit=MAX_URLS, status=status, reason=reason)


def export_index(service: Service, job_id: str, *, to: Target = None) -> Flow[Answer]:
    """Export an index job's URLs as CSV, preferably into a file."""
    return service.ask(Ask("GET", f"{JOBS}/{job_id}/export"), to=to)


def retry_index(
    service: Service,
    job_id: str,
    *,
    reason: Literal["rate_limited", "error", "not_indexed"] | None = None,
    idempotency_key: str | None = None,
) -> Flow[IndexJob]:
    """Check failed or missing URLs again, as a new index job."""
    ask = order(f"{JOBS}/{job_id}/retry", {"reason": reason}, {"idempotency_key": idempotency_key})
    made = (yield from service.ask(ask)).json
    return (yield from index_job(service, made["job_id"]))


def monitors(service: Service, *, limit: int | None = None, offset: int | None = None) -> Flow[Page[IndexMonitor]]:
    """List the account's monitors, newest first."""
    return page(service, MONITORS, IndexMonitor, limit=limit, offset=offset)


def monitor(service: Service, monitor_id: str) -> Flow[IndexMonitor]:
    """Return a monitor."""
    return IndexMonitor.read((yield from service.get(f"{MONITORS}/{monitor_id}")).json)


def create_monitor(
    service: Service,
    urls: Sequence[str] | None = None,
    *,
    every: Literal["day", "week"],
    sitemap_url: str | None = None,
    name: str | None = None,
    engine: str | None = None,
    index: str | None = None,
    webhook_url: str | None = None,
    diagnose: bool | None = None,
    until_indexed: bool | None = None,
) -> Flow[IndexMonitor]:
    """Check URLs, or those of a sitemap, every day or week. This answer alone has the `webhook_secret`.

    `diagnose` finds out why pages are missing; `until_indexed` pauses it once none is."""
    fields = {"urls": urls, "every": every, "sitemap_url": sitemap_url, "name": name}
    more = {"engine": engine, "index": index, "webhook_url": webhook_url}
    ticked = {"diagnose": diagnose, "until_indexed": until_indexed}
    ask = Ask("POST", MONITORS, fields=given(fields | more | ticked), repeatable=False)
    return IndexMonitor.read((yield from service.ask(ask)).json)


def change_monitor(service: Service, monitor_id: str, changes: Mapping[str, Any]) -> Flow[IndexMonitor]:
    """Change a monitor's fields, such as `{"state": "paused"}`."""
    answer = yield from service.ask(Ask("PATCH", f"{MONITORS}/{monitor_id}", fields=changes))
    return IndexMonitor.read(answer.json)


def delete_monitor(service: Service, monitor_id: str) -> Flow[None]:
    """Delete a monitor."""
    yield from service.ask(Ask("DELETE", f"{MONITORS}/{monitor_id}"))


def monitor_changes(
    service: Service, monitor_id: str, *, change: Literal["newly_indexed", "dropped"] | None = None
) -> StreamFlow[IndexMonitorChange]:
    """List changes, newest first."""
    path = f"{MONITORS}/{monitor_id}/changes"
    return pages(service, path, IndexMonitorChange, limit=MAX_URLS, change=change)


def _submit(service: Service, urls: Iterable[str] | None, wanted: str, options: Mapping[str, Any]) -> Flow[IndexJob]:
    fields = {"type": wanted, "urls": list(urls) if urls is not None else None}
    made = (yield from service.ask(order(JOBS, fields, options))).json
    return (yield from index_job(service, made["job_id"]))
