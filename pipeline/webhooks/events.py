"""Events: what a webhook may be told of, and how each is sent."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic_core import to_json

from pipeline.timestamps import timestamp

#: Ends of jobs; the trigger `job_ended` (a migration) says of which states.
JOB_EVENTS = ("job.completed", "job.failed", "job.cancelled")
#: A check of a monitor has found changes.
MONITOR_CHANGED = "index_monitor.changed"
#: Sent when somebody asks for it, so that a receiver can be tried.
TEST = "webhook.test"
#: What an account may choose among.
EVENTS = (*JOB_EVENTS, MONITOR_CHANGED)


def event_body(event: str, data: Mapping[str, Any], now: datetime) -> str:
    """Return an event as it is sent: its type, when it happened, and what."""
    return to_json({"type": event, "timestamp": timestamp(now), "data": data}).decode()
