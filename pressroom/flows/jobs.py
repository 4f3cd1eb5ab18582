"""Jobs: what was asked for, its progress and its result."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Unpack

from pressroom.documents.jobs import Job
from pressroom.exchange import Ask, Flow, StreamFlow
from pressroom.flows.pages import Page, page, pages
from pressroom.options import SubmitOptions, order
from pressroom.service import Answer, Files, Progress, Service, Target, no_pressroom

#: Longest page of jobs (docs/api.md, Lists).
MAX_JOBS = 100


def submit(
    service: Service,
    route: str,
    fields: Mapping[str, Any] | None = None,
    files: Files | None = None,
    **options: Unpack[SubmitOptions],
) -> Flow[Job]:
    """Have any route's work done without waiting for it, and return its job: `submit("/tts/batch", {"text": "…"})`."""
    answer = yield from service.ask(order(route, fields or {}, options, files=files, prefer="respond-async"))
    if answer.status == 202:
        return Job.read(answer.json)
    # Sent before with this key, and ended: it is answered with its result. Or it is of a kind that is never waited for.
    job_id = answer.headers.get("X-Job-Id")
    if not job_id:
        raise no_pressroom(answer.status)
    return (yield from job(service, job_id))


def jobs(
    service: Service,
    *,
    kind: str | Sequence[str] | None = None,
    state: str | Sequence[str] | None = None,
    since: date | None = None,
    until: date | None = None,
    text: str | None = None,
    request_id: str | None = None,
    limit: int | None = None,
    offset: int | None = None,
) -> Flow[Page[Job]]:
    """Return a page of the account's jobs, newest first; `text` is looked for in what was asked."""
    wanted = _filter(kind, state, since, until, text)
    return page(service, "/jobs", Job, **wanted, request_id=request_id, limit=limit, offset=offset)


def all_jobs(
    service: Service,
    *,
    kind: str | Sequence[str] | None = None,
    state: str | Sequence[str] | None = None,
    since: date | None = None,
    until: date | None = None,
    text: str | None = None,
) -> StreamFlow[Job]:
    """Give all such jobs, newest first, page by page."""
    return pages(service, "/jobs", Job, limit=MAX_JOBS, **_filter(kind, state, since, until, text))


def _filter(
    kind: str | Sequence[str] | None,
    state: str | Sequence[str] | None,
    since: date | None,
    until: date | None,
    text: str | None,
) -> dict[str, Any]:
    """Return the parameters of a filter; a date without a time is a day (UTC)."""
    kinds, states = ([one] if isinstance(one, str) else one for one in (kind, state))
    return {
        "kind": ",".join(kinds) if kinds else None,
        "state": ",".join(states) if states else None,
        "from": since.isoformat() if since else None,
        "to": until.isoformat() if until else None,
        "q": text,
    }


def job(service: Service, job_id: str) -> Flow[Job]:
    """Return a job as it is now."""
    return Job.read((yield from service.get(f"/jobs/{job_id}")).json)


def wait(service: Service, job_id: str, *, progress: Progress | None = None) -> Flow[Job]:
    """Return a job when it has ended, in any state."""
    return service.wait(job_id, progress)


def iter_events(service: Service, job_id: str) -> StreamFlow[Job]:
    """Give a job whenever it has moved on, the last time when it has ended."""
    return service.events(job_id)


def result(service: Service, job_id: str, *, to: Target = None) -> Flow[Answer]:
    """Return what the job's route would have answered. Raises as it would have, and Conflict while the job runs."""
    return service.result(job_id, to=to)


def cancel(service: Service, job_id: str) -> Flow[Job]:
    """End a job at once, unless it has ended; what was not delivered is not charged."""
    return Job.read((yield from service.ask(Ask("POST", f"/jobs/{job_id}/cancel"))).json)


def retry(service: Service, job_id: str, *, idempotency_key: str | None = None) -> Flow[Job]:
    """Have done what an ended job did not deliver, as a new job."""
    answer = yield from service.ask(order(f"/jobs/{job_id}/retry", {}, {"idempotency_key": idempotency_key}))
    return Job.read(answer.json)


def delete(service: Service, job_id: str) -> Flow[None]:
    """Delete an ended job's result, texts and files; what it cost stays in the books."""
    yield from service.ask(Ask("DELETE", f"/jobs/{job_id}"))
