"""Events: what a webhook can be told, and the form in which each is sent."""

import base64
import hashlib
import hmac
import secrets as random
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

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
#: The balance has fallen below the limit that the account has set.
LOW_BALANCE = "account.low_balance"
#: A person has signed in from an address that is new for them.
NEW_SIGN_IN = "account.signed_in"
#: Sent when somebody asks for it, so that a receiver can be tried.
TEST = "webhook.test"
#: Events that an account may choose among.
EVENTS = (*JOB_EVENTS, MONITOR_CHANGED, LOW_BALANCE, NEW_SIGN_IN)
PREFIX = "whsec_"
SECRET_BYTES = 32


def event_body(event: str, data: Mapping[str, Any], now: datetime) -> str:
    """Return an event as it is sent: its type, time and data."""
    return to_json({"type": event, "timestamp": timestamp(now), "data": data}).decode()


def make_secret() -> str:
    return PREFIX + base64.b64encode(random.token_bytes(SECRET_BYTES)).decode()


def sign(secret: str, message_id: str, seconds: int, body: str) -> str:
    """Return the signature of a message that is sent at a time, in seconds since 1970."""
    signed = f"{message_id}.{seconds}.{body}".encode()
    digest = hmac.digest(base64.b64decode(secret.removeprefix(PREFIX)), signed, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


def message_id_of(delivery_id: UUID) -> str:
    """Return the id that an event has in each try, so that a receiver knows what it has seen."""
    return f"msg_{delivery_id.hex}"


def signed_headers(secrets: Sequence[str], delivery_id: UUID, body: str, now: datetime) -> Mapping[str, str]:
    """Return the headers of one try, signed with each of the secrets: a receiver may know the one or the other."""
    message_id, seconds = message_id_of(delivery_id), int(now.timestamp())
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(sign(secret, message_id, seconds, body) for secret in secrets),
    }
