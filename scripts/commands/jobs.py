"""`pressroom jobs`: list, show, cancel and retry jobs."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline import lifecycle
from pipeline.database import Database
from pipeline.errors import Conflict, InsufficientCredits, InvalidRequest
from pipeline.jobs.job_documents import job_document
from pipeline.jobs.job_lists import JobFilter, list_jobs
from pipeline.jobs.resubmit import resubmission
from pipeline.lifecycle.jobs import FINAL_STATES, JOB_STATES, Job, find_job
from pipeline.registry import load_kinds
from pipeline.storage.artifacts import Artifacts, open_store
from scripts.commands import ACCOUNTS, under
from scripts.identifiers import find_account, find_id, not_found
from scripts.options import Data, open_database, settings_for
from scripts.system.control import settings_of_running
from scripts.system.ended_jobs import close_job
from scripts.terminal import age, plain, readable, show_table

if TYPE_CHECKING:
    import redis

group = typer.Typer(name="jobs", help="List, show, cancel and retry jobs.", no_args_is_help=True)
register = under(ACCOUNTS, group)

JobId = Annotated[str, typer.Argument(metavar="JOB", help="The job's id, or its beginning.")]
#: Digits of an id that people see.
ID_DIGITS = 8


@group.command("list")
def list_all(
    kind: Annotated[str | None, typer.Option(help="Only this kind.")] = None,
    state: Annotated[str | None, typer.Option(help="Only jobs in this state.")] = None,
    account: Annotated[str | None, typer.Option(help="Only this account's.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000)] = 20,
    data: Data = None,
) -> None:
    """List jobs, newest first."""
    if state is not None and state not in JOB_STATES:
        raise InvalidRequest(f"There is no state {state!r}; choose {', '.join(JOB_STATES)}.")
    with open_database(data) as database:
        wanted = JobFilter(
            account_id=find_account(database, account) if account else None,
            kinds=[kind] if kind else None,
            states=[state] if state else None,
        )
        page = database.run(list_jobs(wanted, limit=limit))
    since = "" if page.searched_since is None else f" since {readable(page.searched_since)}"
    title = f"Jobs ({len(page.jobs)} of {page.total:,}{since})"
    if sys.stdout.isatty():
        show_table(
            title, ["id", "kind", "state", "items", "credits", "age", "error"], [_for_people(job) for job in page.jobs]
        )
    else:
        columns = ["id", "kind", "state", "done+failed/items", "charged/held", "created", "error"]
        show_table(title, columns, [_for_programs(job) for job in page.jobs])


@group.command()
def show(
    job_id: JobId,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON at a terminal too.")] = False,
    data: Data = None,
) -> None:
    """Show a job as GET /jobs/{id} does; programs get JSON."""
    settings = settings_for(data)
    with open_database(data) as database:
        document = job_document(_find(database, job_id), load_kinds(settings))
    if as_json or not sys.stdout.isatty():
        typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    for name, value in document.items():
        if value is not None:
            typer.echo(f"{name:<12} {plain(_readable(name, value))}")


def _readable(name: str, value: Any) -> str:
    if name.endswith("_at"):
        return readable(datetime.fromisoformat(value))
    if isinstance(value, dict):
        return ", ".join(f"{part} {told}" for part, told in value.items() if told is not None)
    return str(value)


def _for_people(job: Job) -> Sequence[Any]:
    """Return a row that fits 80 columns; the first digits of an id stand for it in all commands."""
    items = f"{job.items_ok}/{job.items_total}" + (f" -{job.items_failed}" if job.items_failed else "")
    code = (job.error or {}).get("code")
    return (str(job.id)[:ID_DIGITS], job.kind, job.state, items, job.credits_captured, age(job.created_at), code)


def _for_programs(job: Job) -> Sequence[Any]:
    return (
        job.id,
        job.kind,
        job.state,
        f"{job.items_ok}+{job.items_failed}/{job.items_total}",
        f"{job.credits_captured}/{job.credits_held}",
        f"{job.created_at:%Y-%m-%d %H:%M}",
        (job.error or {}).get("code"),
    )


@group.command()
def cancel(job_id: JobId, data: Data = None) -> None:
    """End a job at once; only delivered items are charged."""
    from pipeline.wakes.broker import connect  # redis and dramatiq take longer to import than to list jobs

    settings = settings_of_running(settings_for(data))
    with open_database(data) as database:
        found = find_id(database, "job", job_id)
        state = database.run(lifecycle.cancel(found, None))
    if state is None:
        raise not_found("job", job_id)
    if state in FINAL_STATES:
        raise Conflict(f"Job {job_id} has ended already: {state}.")
    typer.echo("cancelled")
    send = partial(_send, connect(settings.server_urls()[1]))
    for failure in close_job(send, Artifacts(open_store(settings)), found):
        typer.echo(failure, err=True)


@group.command()
def retry(job_id: JobId, data: Data = None) -> None:
    """Submit a finished job's undelivered items as a new job, at the same price.

    While it runs, another retry returns the same job."""
    from pipeline.wakes.broker import WakeBroker, connect

    settings = settings_of_running(settings_for(data))
    with open_database(data) as database:
        job = _find(database, job_id)
        if not job.is_final:
            raise Conflict(f"Job {job_id} is {job.state}; only a finished job can be retried.")
        kind = load_kinds(settings).get(job.kind)
        if kind is None:
            raise Conflict(f"Job {job_id} has the kind {job.kind}, which is not installed here.")
        if kind.files:
            raise Conflict(
                f"Job {job_id} came with files ({', '.join(kind.files)}), which were deleted when it ended. "
                f"Send the request again to {kind.routes[0]}."
            )
        submission = database.run(resubmission(job, kind, settings))
        if submission is None:
            raise Conflict(f"Job {job_id} has no undelivered item that is still stored.")
        submitted = database.run(lifecycle.submit(replace(submission, joins_open=True)))
    if submitted.outcome == "insufficient":
        raise InsufficientCredits(required=submitted.required, remaining=submitted.available or 0)
    if submitted.outcome not in ("accepted", "replayed"):
        raise Conflict(f"The new job was refused: {submitted.outcome}.")
    WakeBroker(connect(settings.server_urls()[1])).wake(kind.queue)
    typer.echo(f"job {submitted.job_id}")


def _send(client: "redis.Redis", fill: Callable[[Any], None]) -> bool:
    """Send a pipeline to Redis once; returns whether it was taken."""
    from redis.exceptions import RedisError

    pipe = client.pipeline(transaction=False)
    fill(pipe)
    try:
        pipe.execute()
    except RedisError:
        return False
    return True


def _find(database: Database, job_id: str) -> Job:
    job = database.run(find_job(find_id(database, "job", job_id)))
    if job is None:
        raise not_found("job", job_id)
    return job
