"""`pressroom jobs`: what was asked for, and what became of it."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from pipeline import lifecycle
from pipeline.artifacts import Artifacts, open_store
from pipeline.broker import WakeBroker, connect
from pipeline.database import Database
from pipeline.errors import Conflict, InsufficientCredits, InvalidRequest, NotFound
from pipeline.jobs import FINAL_STATES, JOB_STATES, Job, find_job, list_jobs
from pipeline.kinds import load_kinds
from pipeline.resubmit import resubmission
from scripts.commands import ACCOUNTS, under
from scripts.options import Data, open_database, read_id, settings_for
from scripts.system.control import settings_of_running
from scripts.system.ended_jobs import close_job
from scripts.terminal import show_table

group = typer.Typer(name="jobs", help="List, show, cancel and retry jobs.", no_args_is_help=True)
register = under(ACCOUNTS, group)


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
        raise InvalidRequest(f"There is no state {state!r}; there is {', '.join(JOB_STATES)}.")
    account_id = read_id(account) if account else None
    with open_database(data) as database:
        page = database.run(list_jobs(account_id, kind=kind, state=state, limit=limit))
    rows = [
        (
            job.id,
            job.kind,
            job.state,
            f"{job.items_ok}+{job.items_failed}/{job.items_total}",
            f"{job.credits_captured}/{job.credits_held}",
            f"{job.created_at:%Y-%m-%d %H:%M}",
            (job.error or {}).get("code"),
        )
        for job in page.jobs
    ]
    columns = ["id", "kind", "state", "done+failed/items", "charged/held", "created", "error"]
    show_table(f"Jobs ({len(rows)} of {page.total:,})", columns, rows)


@group.command()
def show(job_id: str, data: Data = None) -> None:
    """Print a job as JSON."""
    with open_database(data) as database:
        typer.echo(json.dumps(asdict(_find(database, job_id)), default=str, indent=2))


@group.command()
def cancel(job_id: str, data: Data = None) -> None:
    """End a job at once; what was not delivered is not charged."""
    settings = settings_of_running(settings_for(data))
    with open_database(data) as database:
        state = database.run(lifecycle.cancel(read_id(job_id), None))
    if state is None:
        raise NotFound(f"There is no job {job_id}. `pressroom jobs list` shows them.")
    if state in FINAL_STATES:
        raise Conflict(f"Job {job_id} has ended already: {state}.")
    typer.echo("cancelled")
    client = connect(settings.server_urls()[1])
    for failure in close_job(client, Artifacts(open_store(settings)), read_id(job_id)):
        typer.echo(failure, err=True)


@group.command()
def retry(job_id: str, data: Data = None) -> None:
    """Submit what a finished job did not deliver as a new job of the same account, at the same price."""
    settings = settings_of_running(settings_for(data))
    with open_database(data) as database:
        job = _find(database, job_id)
        if not job.is_final:
            raise Conflict(f"Job {job_id} is {job.state}; only what has ended can be tried again.")
        kind = load_kinds(settings).get(job.kind)
        if kind is None:
            raise Conflict(f"Job {job_id} is of the kind {job.kind}, which this installation does not have.")
        if kind.files:
            raise Conflict(
                f"Job {job_id} came with files ({', '.join(kind.files)}), which were deleted when it ended. "
                f"Send the request again to {kind.routes[0]}."
            )
        submission = database.run(resubmission(job, kind, settings))
        if submission is None:
            raise Conflict(f"Job {job_id} left nothing undelivered that is still stored.")
        submitted = database.run(lifecycle.submit(submission))
    if submitted.outcome == "insufficient":
        raise InsufficientCredits(required=submitted.required, remaining=submitted.available or 0)
    if submitted.outcome != "accepted":
        raise Conflict(f"The new job was refused: {submitted.outcome}.")
    WakeBroker(connect(settings.server_urls()[1])).wake(kind.queue)
    typer.echo(f"job {submitted.job_id}")


def _find(database: Database, job_id: str) -> Job:
    job = database.run(find_job(read_id(job_id)))
    if job is None:
        raise NotFound(f"There is no job {job_id}. `pressroom jobs list` shows them.")
    return job
