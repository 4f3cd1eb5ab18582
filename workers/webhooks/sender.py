"""Sender: events are posted to the addresses of webhooks, which must be on the public Internet, as those of downloads.

No redirect is followed and no answer is read: what counts is its status.
"""

import asyncio
import time
from dataclasses import replace
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import aiohttp
from aiohttp.abc import AbstractResolver

from pipeline.downloads.addresses import Reach
from pipeline.downloads.connecting import SocketFactory, open_session, plain_socket
from pipeline.downloads.failures import failure_of
from pipeline.downloads.retry_after import read_retry_after
from pipeline.downloads.targets import Refused, read_target, shown
from pipeline.log import get_logger
from pipeline.settings import Settings
from pipeline.webhooks.deliveries import DueDelivery, Sent
from pipeline.webhooks.signing import signed_headers

log = get_logger(__name__)

USER_AGENT = "Pressroom/0.1 (webhooks)"
#: An address that answers so wants no more events: Standard Webhooks.
GONE = 410


class WebhookSender:
    """Sends events while it is entered, in the event loop where it was. `resolver` and `open_socket` are for tests."""

    def __init__(
        self,
        settings: Settings,
        *,
        resolver: AbstractResolver | None = None,
        open_socket: SocketFactory = plain_socket,
    ) -> None:
        """Raise NotReady when the settings allow what is no network."""
        self._fetch = settings.fetch
        self._seconds = settings.webhooks.timeout_seconds
        self._reach = Reach(settings.fetch.allow_networks)
        self._resolver = resolver
        self._open_socket = open_socket

    async def __aenter__(self) -> Self:
        self._session = open_session(
            self._fetch, self._reach, self._resolver, self._open_socket, user_agent=USER_AGENT, accept="*/*"
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._session.close()

    async def send(self, delivery: DueDelivery) -> Sent:
        """Send an event, and return what became of it."""
        began = time.monotonic()
        try:
            sent = await self._send(delivery)
        except Exception:
            log.exception("event failed", delivery=str(delivery.id))
            sent = Sent(error="something went wrong here; it was noted")
        return replace(sent, seconds=round(time.monotonic() - began, 3))

    async def _send(self, delivery: DueDelivery) -> Sent:
        try:
            url = read_target(delivery.url, self._reach)
        except Refused as refused:
            return Sent(error=f"{shown(delivery.url)} can't be asked: {refused.why}.", is_final=True)
        headers = {
            **signed_headers(delivery.secrets, delivery.id, delivery.body, datetime.now(UTC)),
            "Content-Type": "application/json",
        }
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._session.post(
                    url, data=delivery.body.encode(), headers=headers, allow_redirects=False
                ) as response,
            ):
                return _judge(response)
        except TimeoutError:
            return Sent(error=f"no answer within {self._seconds:g} s")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            failure = failure_of(error, shown(delivery.url))
            return Sent(error=failure.message, is_final=failure.is_forbidden)


def _judge(response: aiohttp.ClientResponse) -> Sent:
    status = response.status
    if 200 <= status < 300:
        return Sent(status=status)
    return Sent(
        status=status,
        error=f"HTTP {status}; only a status from 200 to 299 takes an event, and no redirect is followed",
        retry_after=read_retry_after(response.headers.get("Retry-After", "")),
        is_final=status == GONE,
    )
