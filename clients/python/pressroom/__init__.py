"""Pressroom: the client of a Pressroom service, with and without asyncio (clients/python/README.md).

It imports nothing of the service."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pressroom.errors import (
    Conflict,
    ConnectionLost,
    Forbidden,
    Gone,
    InsufficientCredits,
    InvalidRequest,
    NotFound,
    NotPressroom,
    PressroomError,
    RateLimitExceeded,
    Refused,
    ServiceUnavailable,
    Unauthorized,
)
from pressroom.webhooks import WebhookInvalid, verify_webhook

if TYPE_CHECKING:
    from pressroom.clients import AsyncPressroom, Pressroom

__all__ = [
    "AsyncPressroom",
    "Conflict",
    "ConnectionLost",
    "Forbidden",
    "Gone",
    "InsufficientCredits",
    "InvalidRequest",
    "NotFound",
    "NotPressroom",
    "Pressroom",
    "PressroomError",
    "RateLimitExceeded",
    "Refused",
    "ServiceUnavailable",
    "Unauthorized",
    "WebhookInvalid",
    "verify_webhook",
]


def __getattr__(name: str) -> Any:
    """Import the clients on first use: a program that only catches errors needs no HTTP."""
    if name in {"AsyncPressroom", "Pressroom"}:
        return getattr(import_module("pressroom.clients"), name)
    raise AttributeError(f"module 'pressroom' has no attribute {name!r}")
