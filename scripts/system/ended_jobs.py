"""Ended jobs: what follows when a command or the sweep, not a worker, has ended a job."""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import UUID

from redis.exceptions import RedisError

from pipeline.artifacts import Artifacts
from pipeline.errors import PressroomError
from pipeline.notices import add_notice

if TYPE_CHECKING:
    from redis import Redis


def close_job(client: "Redis", artifacts: Artifacts, job_id: UUID) -> Iterator[str]:
    """Announce a job's end to waiting requests, and delete its upload; yields what failed, which only costs time."""
    pipe = client.pipeline(transaction=False)
    add_notice(pipe, [job_id])
    try:
        pipe.execute()
    except (RedisError, OSError) as error:
        yield f"Who waits for the job finds out by the clock, because Redis does not answer: {error}"
    try:
        artifacts.delete_upload(job_id)
    except PressroomError as error:
        yield f"The sweep will delete what the job was sent with. {error.message}"
