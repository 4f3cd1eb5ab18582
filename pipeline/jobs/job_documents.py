"""Documents: jobs as their users see them (docs/api.md, Submit and poll)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar
from uuid import UUID

from pydantic import ConfigDict, Field, NonNegativeInt, TypeAdapter, WithJsonSchema

from pipeline.errors import with_details
from pipeline.lifecycle import Priority
from pipeline.lifecycle.jobs import Job, JobState
from pipeline.registry import Kinds
from pipeline.timestamps import Timestamp

#: Fields of a stored error that are the answer's status and headers, not its body.
NOT_SHOWN = frozenset({"status", "retry_after_seconds"})
Number = Annotated[int | float, WithJsonSchema({"type": "number"})]


@dataclass(slots=True)
class JobProgress:
    """A job's progress, in the unit of its kind; null for a kind that this process does not know."""

    done: Number
    total: Number
    failed: NonNegativeInt
    unit: str | None


@dataclass(slots=True)
class JobCredits:
    """Credits that a job held, captured and released."""

    held: NonNegativeInt
    captured: NonNegativeInt
    released: NonNegativeInt


@dataclass(slots=True, kw_only=True)
class JobDocument:
    """A job, as it is now."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(title="Job")

    id: UUID
    kind: str
    state: JobState
    progress: JobProgress
    credits: JobCredits
    error: dict[str, Any] | None
    created_at: Timestamp
    started_at: Timestamp | None
    finished_at: Timestamp | None
    expires_at: Timestamp | None
    engine: Annotated[str | None, Field(description="The engine that did the work.")]
    route: str
    source: str | None
    priority: Annotated[Priority, Field(description="Among its account's jobs.")]
    name: Annotated[str | None, Field(description="The request's name for it, if its kind has names.")]
    request_id: str
    links: dict[str, str]


#: Writes the JSON of a job, and its schema. (A pydantic model would check our own values, which takes twice as long.)
JOB_DOCUMENT = TypeAdapter(JobDocument)
#: The fields that a document takes from the job as they are.
_OWN = [one.name for one in fields(JobDocument) if one.name not in {"progress", "credits", "error", "links"}]


def job_document(job: Job, kinds: Kinds) -> dict[str, Any]:
    path = f"/jobs/{job.id}"
    own: dict[str, Any] = {name: getattr(job, name) for name in _OWN}
    document = JobDocument(
        progress=_progress(job, kinds),
        credits=JobCredits(job.credits_held, job.credits_captured, job.credits_released),
        error=None if job.error is None else shown_error(job.error),
        links={"self": path} | {name: f"{path}/{name}" for name in ("result", "events", "cancel", "retry")},
        **own,
    )
    shown: dict[str, Any] = JOB_DOCUMENT.dump_python(document, mode="json")
    return shown


def ended_job_document(job: Job) -> dict[str, Any]:
    """Return the JSON of a job that has ended as webhooks are sent it: with `items` for `progress`."""
    document = job_document(job, {})
    del document["progress"]
    items = {"total": job.items_total, "ok": job.items_ok, "failed": job.items_failed}
    return {name: document.pop(name) for name in ("id", "kind", "state")} | {"items": items} | document


def shown_error(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return why a job ended, as its users see it; in the order of other errors, which the database does not keep."""
    first = {name: stored[name] for name in ("error", "message", "code") if name in stored}
    return with_details(first | {name: value for name, value in stored.items() if name not in NOT_SHOWN})


def _progress(job: Job, kinds: Kinds) -> JobProgress:
    kind = kinds.get(job.kind)
    done: float = job.items_ok
    total: float = job.items_total
    if job.progress and job.items_total == 1:
        total = job.progress.get("total", total)
        done = total if job.state == "succeeded" else job.progress.get("done", done)
    return JobProgress(done, total, job.items_failed, kind.unit if kind else None)
