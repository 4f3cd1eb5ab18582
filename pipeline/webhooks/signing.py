"""Signing: the headers that prove who has sent an event (Standard Webhooks, symmetric signatures)."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

PREFIX = "whsec_"
SECRET_BYTES = 32


def make_secret() -> str:
    """Return a new random secret."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def sign(secret: str, message_id: str, seconds: int, body: str) -> str:
    """Return the signature of a message that is sent at a time, in seconds since 1970."""
    signed = f"{message_id}.{seconds}.{body}".encode()
    digest = hmac.digest(base64.b64decode(secret.removeprefix(PREFIX)), signed, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


def signed_headers(secret: str, delivery_id: UUID, body: str, now: datetime) -> Mapping[str, str]:
    """Return the headers of one try; the id is the same in each, so that a receiver knows what it has seen."""
    message_id, seconds = f"msg_{delivery_id.hex}", int(now.timestamp())
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": sign(secret, message_id, seconds, body),
    }
