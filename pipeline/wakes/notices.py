"""Notices: Redis messages that say "these jobs have ended". A lost one delays an answer by a second."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

CHANNEL = "pressroom:ended"


def add_notice(pipe: Any, job_ids: Iterable[UUID]) -> None:
    """Add the notice to a Redis pipeline, sync or async."""
    pipe.publish(CHANNEL, b"".join(job_id.bytes for job_id in job_ids))


def read_notice(payload: bytes) -> list[UUID]:
    """Return the job ids of a notice; what is no whole id is left out."""
    return [UUID(bytes=payload[start : start + 16]) for start in range(0, len(payload) - 15, 16)]
