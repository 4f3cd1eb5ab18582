"""Ended jobs: what follows when a command or the sweep, not a worker, has ended a job."""

from collections.abc import Iterator
from uuid import UUID

from pipeline.artifacts import Artifacts
from pipeline.broker import WakeBroker
from pipeline.errors import PressroomError
from pipeline.notices import add_notice


def close_job(broker: WakeBroker, artifacts: Artifacts, job_id: UUID) -> Iterator[str]:
    """Announce a job's end to waiting requests, and delete its upload; yields what failed, which only costs time."""
    if not broker.send(lambda pipe: add_notice(pipe, [job_id])):
        yield "Who waits for the job finds out by the clock, because Redis does not answer."
    try:
        artifacts.delete_upload(job_id)
    except PressroomError as error:
        yield f"The sweep will delete what the job was sent with. {error.message}"
