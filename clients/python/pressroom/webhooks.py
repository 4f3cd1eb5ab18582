"""Webhooks: checks that an event comes from the service (docs/webhooks.md, Verify events)."""

import base64
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

from pressroom.errors import PressroomError

#: Seconds between the clocks of service and receiver; an older event may be one that somebody repeats.
TOLERANCE_SECONDS = 300


class WebhookInvalid(PressroomError):
    """An event that was not signed with this secret, or is too old. Answer it with 400."""

    code = "webhook_invalid"


def verify_webhook(body: bytes | str, headers: Mapping[str, str], secret: str) -> dict[str, Any]:
    """Return an event, such as `{"type": "job.completed", "timestamp": …, "data": …}`. Raises WebhookInvalid.

    `body` is the request's body as it arrived: JSON that was read and written again has another signature."""
    sent = {name.lower(): value for name, value in headers.items()}
    try:
        number, moment, signatures = (sent[f"webhook-{name}"].encode() for name in ("id", "timestamp", "signature"))
        is_recent = abs(time.time() - int(moment)) <= TOLERANCE_SECONDS
        if not (key := base64.b64decode(secret.removeprefix("whsec_"), validate=True)):
            raise ValueError("the secret is empty")  # with which anybody could sign
    except (KeyError, ValueError) as error:
        raise WebhookInvalid(f"A header or the secret is missing or malformed: {error}.") from None
    if not is_recent:
        raise WebhookInvalid(f"The event is over {TOLERANCE_SECONDS} seconds old, or this machine's clock is wrong.")
    content = body.encode() if isinstance(body, str) else body
    signed = hmac.digest(key, b".".join((number, moment, content)), "sha256")
    expected = b"v1," + base64.b64encode(signed)
    # While a secret changes, an event has two signatures.
    if not any(hmac.compare_digest(expected, one) for one in signatures.split()):
        raise WebhookInvalid("No signature fits: check that the secret is this webhook's, and the body unchanged.")
    event: dict[str, Any] = json.loads(content)
    return event
