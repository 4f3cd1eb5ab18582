"""Sender: posts events to webhooks, which must be on the public Internet, as downloads must.

It follows no redirect and reads no answer; the status decides."""

import asyncio
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Self

import aiohttp
from aiohttp.abc import AbstractResolver

from pipeline.downloads.addresses import Reach
from pipeline.downloads.connecting import SocketFactory, open_session, plain_socket
from pipeline.downloads.failures import failure_of, read_retry_after
from pipeline.downloads.targets import Refused, read_target, shown
from pipeline.settings import Settings
from pipeline.webhooks.deliveries import DueDelivery, Sent
from pipeline.webhooks.events import signed_headers

USER_AGENT = "Pressroom/0.1 (webhooks)"
#: The status of an address that wants no more events (Standard Webhooks).
GONE = 410


class WebhookSender:
    """Sends events within an `async with` block. `resolver` and `open_socket` are for tests."""

    def __init__(
        self, settings: Settings, *, resolver: AbstractResolver | None = None, open_socket: SocketFactory = plain_socket
    ) -> None:
        """Raises NotReady when an allowed network is none."""
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

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def send(self, delivery: DueDelivery) -> Sent:
        """Send an event and return the result."""
        began = time.monotonic()
        sent = await self._send(delivery)
        return replace(sent, seconds=round(time.monotonic() - began, 3))

    async def _send(self, delivery: DueDelivery) -> Sent:
        try:
            url = read_target(delivery.url, self._reach)
        except Refused as refused:
            return Sent(error=f"{shown(delivery.url)} can't be asked: {refused.why}.", is_final=True)
        try:
            signed = signed_headers(delivery.secrets, delivery.id, delivery.body, datetime.now(UTC))
            headers = {**signed, "Content-Type": "application/json"}
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
        error=f"HTTP {status}; an event is accepted by a status from 200 to 299, and redirects are not followed",
        retry_after=read_retry_after(response.headers.get("Retry-After", "")),
        is_final=status == GONE,
    )
