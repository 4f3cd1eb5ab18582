"""Ended jobs: cleans up after a job that a command or the sweep has ended."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

from pipeline.errors import PressroomError
from pipeline.storage.artifacts import Artifacts
from pipeline.wakes.notices import add_notice


def close_job(send: Callable[[Callable[[Any], None]], bool], artifacts: Artifacts, job_id: UUID) -> Iterator[str]:
    """Announce a job's end and delete its upload; yield what failed, which only delays it.

    `send` fills a Redis pipeline with a function, and returns whether it was sent."""
    if not send(lambda pipe: add_notice(pipe, [job_id])):
        yield "Redis does not answer; waiting requests notice within a second."
    try:
        artifacts.delete_upload(job_id)
    except PressroomError as error:
        yield f"The sweep will delete the upload. {error.message}"
