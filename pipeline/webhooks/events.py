"""Events: what a webhook can be told, and the form in which each is sent."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic_core import to_json

from pipeline.timestamps import timestamp

#: The event that tells of a job's end, by the state in which the job ended.
EVENT_OF_STATE: Mapping[str, str] = {
    "succeeded": "job.completed",
    "partial": "job.completed",
    "failed": "job.failed",
    "expired": "job.failed",
    "cancelled": "job.cancelled",
}
JOB_EVENTS = tuple(dict.fromkeys(EVENT_OF_STATE.values()))
#: A check of a monitor has found changes.
MONITOR_CHANGED = "index_monitor.changed"
#: Sent when somebody asks for it, so that a receiver can be tried.
TEST = "webhook.test"
#: Events that an account may choose among.
EVENTS = (*JOB_EVENTS, MONITOR_CHANGED)


def event_body(event: str, data: Mapping[str, Any], now: datetime) -> str:
    """Return an event as it is sent: its type, time and data."""
    return to_json({"type": event, "timestamp": timestamp(now), "data": data}).decode()
