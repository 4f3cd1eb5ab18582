"""Documents: jobs as their users see them (docs/api.md, Submit and poll)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pipeline.jobs import Job
from pipeline.kinds import Kinds

#: What a stored error says of its answer's status and headers, and not in its body.
NOT_SHOWN = frozenset({"status", "retry_after_seconds"})


def timestamp(moment: datetime | None) -> str | None:
    """Return a time as ISO 8601 in UTC, with milliseconds and Z."""
    if moment is None:
        return None
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def job_document(job: Job, kinds: Kinds) -> dict[str, Any]:
    """Return a job for its users; one of a kind that this process does not know has no unit."""
    path = f"/jobs/{job.id}"
    return {
        "id": str(job.id),
        "kind": job.kind,
        "state": job.state,
        "progress": _progress(job, kinds),
        "credits": {
            "held": job.credits_held,
            "captured": job.credits_captured,
            "released": job.credits_released,
        },
        "error": None if job.error is None else shown_error(job.error),
        "created_at": timestamp(job.created_at),
        "started_at": timestamp(job.started_at),
        "finished_at": timestamp(job.finished_at),
        "expires_at": timestamp(job.expires_at),
        "engine": job.engine,
        "route": job.route,
        "source": job.source,
        "request_id": job.request_id,
        "links": {
            "self": path,
            "result": f"{path}/result",
            "events": f"{path}/events",
            "cancel": f"{path}/cancel",
        },
    }


def shown_error(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return why a job ended, as its users see it; in the order of other errors, which the database does not keep."""
    first = {name: stored[name] for name in ("error", "message", "code") if name in stored}
    return first | {name: value for name, value in stored.items() if name not in NOT_SHOWN}


def _progress(job: Job, kinds: Kinds) -> dict[str, Any]:
    kind = kinds.get(job.kind)
    done: float = job.items_ok
    total: float = job.items_total
    if job.progress and job.items_total == 1:
        total = job.progress.get("total", total)
        done = total if job.state == "succeeded" else job.progress.get("done", done)
    return {"done": done, "total": total, "failed": job.items_failed, "unit": kind.unit if kind else None}
