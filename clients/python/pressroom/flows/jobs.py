"""Jobs: submit, list, wait, cancel and retry."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, TypedDict, Unpack

from pressroom.documents.jobs import Job
from pressroom.exchange import Ask, Flow, StreamFlow
from pressroom.flows.pages import Page, page, pages
from pressroom.options import SubmitOptions, order
from pressroom.service import Answer, Files, Progress, Service, Target, no_pressroom

#: Most jobs of one request (docs/api.md, Lists).
MAX_JOBS = 100


class JobFilter(TypedDict, total=False):
    """The jobs to list."""

    kind: str | Sequence[str] | None
    state: str | Sequence[str] | None
    since: date | None  #: a datetime, or a date, which is a day in UTC
    until: date | None
    text: str | None  #: in the job's name or request


def submit(
    service: Service,
    route: str,
    fields: Mapping[str, Any] | None = None,
    files: Files | None = None,
    **options: Unpack[SubmitOptions],
) -> Flow[Job]:
    """Submit a request to any route, and return its job without waiting: `submit("/tts/batch", {"text": "…"})`."""
    answer = yield from service.ask(order(route, fields or {}, options, files=files, prefer="respond-async"))
    if answer.status == 202:
        return Job.read(answer.json)
    # A job of this key has ended, so the answer is its result; or it is of a kind that is never waited for.
    job_id = answer.headers.get("X-Job-Id")
    if not job_id:
        raise no_pressroom(answer.status)
    return (yield from job(service, job_id))


def jobs(
    service: Service,
    *,
    request_id: str | None = None,
    limit: int | None = None,
    offset: int | None = None,
    **options: Unpack[JobFilter],
) -> Flow[Page[Job]]:
    """List the account's jobs, newest first, one page."""
    return page(service, "/jobs", Job, **_query(options), request_id=request_id, limit=limit, offset=offset)


def all_jobs(service: Service, **options: Unpack[JobFilter]) -> StreamFlow[Job]:
    """Iterate over all such jobs, newest first."""
    return pages(service, "/jobs", Job, limit=MAX_JOBS, **_query(options))


def _query(options: JobFilter) -> dict[str, Any]:
    kinds, states = options.get("kind") or (), options.get("state") or ()
    since, until = options.get("since"), options.get("until")
    return {
        "kind": (kinds if isinstance(kinds, str) else ",".join(kinds)) or None,
        "state": (states if isinstance(states, str) else ",".join(states)) or None,
        "from": since.isoformat() if since else None,
        "to": until.isoformat() if until else None,
        "q": options.get("text"),
    }


def job(service: Service, job_id: str) -> Flow[Job]:
    """Return a job as it is now."""
    return Job.read((yield from service.get(f"/jobs/{job_id}")).json)


def wait(service: Service, job_id: str, *, progress: Progress | None = None) -> Flow[Job]:
    """Wait until a job has ended, in any state, and return it."""
    return service.wait(job_id, progress)


def iter_events(service: Service, job_id: str) -> StreamFlow[Job]:
    """Iterate over a job's progress until it has ended."""
    return service.events(job_id)


def result(service: Service, job_id: str, *, to: Target = None) -> Flow[Answer]:
    """Return the answer of the job's route. Raises its errors, and Conflict while the job runs."""
    return service.result(job_id, to=to)


def cancel(service: Service, job_id: str) -> Flow[Job]:
    """Cancel a job that has not ended; only delivered work is charged."""
    return Job.read((yield from service.ask(Ask("POST", f"/jobs/{job_id}/cancel"))).json)


def retry(service: Service, job_id: str, *, idempotency_key: str | None = None) -> Flow[Job]:
    """Submit the undelivered rest of an ended job as a new job."""
    answer = yield from service.ask(order(f"/jobs/{job_id}/retry", {}, {"idempotency_key": idempotency_key}))
    return Job.read(answer.json)


def delete(service: Service, job_id: str) -> Flow[None]:
    """Delete an ended job's result, texts and files; its cost stays in the books."""
    yield from service.ask(Ask("DELETE", f"/jobs/{job_id}"))
