"""Ended jobs: what follows when a command or the sweep, not a worker, has ended a job."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from pipeline.errors import PressroomError
from pipeline.storage.artifacts import Artifacts
from pipeline.wakes.notices import add_notice


def close_job(send: Callable[[Callable[[Any], None]], bool], artifacts: Artifacts, job_id: UUID) -> Iterator[str]:
    """Announce a job's end to waiting requests, and delete its upload; yields what failed, which only costs time.

    `send` sends to Redis what a function adds to a pipeline, and returns whether it was sent."""
    if not send(lambda pipe: add_notice(pipe, [job_id])):
        yield "Who waits for the job finds out by the clock, because Redis does not answer."
    try:
        artifacts.delete_upload(job_id)
    except PressroomError as error:
        yield f"The sweep will delete what the job was sent with. {error.message}"
