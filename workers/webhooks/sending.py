"""Sending: claims events that are due, sends them, and records the results."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import TYPE_CHECKING

from pipeline.database import Database
from pipeline.jobs.job_ends import tell_ends
from pipeline.log import get_logger
from pipeline.settings import Settings
from pipeline.webhooks.deliveries import AtOnce, DueDelivery, claim_deliveries, report_delivery

if TYPE_CHECKING:
    from workers.webhooks.sender import WebhookSender

log = get_logger(__name__)

#: Time beyond a try's own after which a lost one is repeated.
LEASE_SLACK = timedelta(seconds=60)
#: How often to look for due events while others are being sent.
LOOK_EVERY_SECONDS = 1.0


def open_sender(settings: Settings) -> "WebhookSender":
    """Return a sender over HTTP. Raises NotReady when an allowed network is none."""
    from workers.webhooks.sender import WebhookSender  # imports aiohttp, which most sweeps don't need

    return WebhookSender(settings)


class WebhookSending:
    """Sends the events of all webhooks."""

    def __init__(
        self,
        settings: Settings,
        open_sender: Callable[[Settings], "AbstractAsyncContextManager[WebhookSender]"] = open_sender,
    ) -> None:
        self._settings = settings
        self._open_sender = open_sender
        wanted = settings.webhooks
        self._at_once = AtOnce(wanted.at_once_per_host, wanted.at_once_per_account)
        self._lease = timedelta(seconds=wanted.timeout_seconds) + LEASE_SLACK
        self._retry_for = timedelta(hours=wanted.retry_hours)

    def send_due(self, database: Database) -> int:
        """Send due events until none is left; returns the number of tries."""
        tell_ends(database)
        first = self._claim(database, self._settings.webhooks.at_once)
        return asyncio.run(self._send_all(database, first)) if first else 0

    async def _send_all(self, database: Database, claimed: list[DueDelivery]) -> int:
        """Send events at once, so that a slow receiver holds up no other."""
        sending: set[asyncio.Task[None]] = set()
        tries = 0
        async with self._open_sender(self._settings) as sender:
            try:
                while claimed or sending:
                    tries += len(claimed)
                    sending |= {asyncio.create_task(self._send_one(database, sender, one)) for one in claimed}
                    ended, sending = await asyncio.wait(
                        sending, timeout=LOOK_EVERY_SECONDS, return_when=asyncio.FIRST_COMPLETED
                    )
                    for task in ended:
                        task.result()
                    free = self._settings.webhooks.at_once - len(sending)
                    claimed = await asyncio.to_thread(self._claim, database, free) if free else []
            finally:
                # Results are still reported when no more can be claimed; else the events would be sent again.
                await asyncio.gather(*sending, return_exceptions=True)
        return tries

    def _claim(self, database: Database, limit: int) -> list[DueDelivery]:
        turn, claim = claim_deliveries(limit, at_once=self._at_once, lease_for=self._lease)
        with database.transaction() as transaction:
            transaction.run(turn)
            return transaction.run(claim)

    async def _send_one(self, database: Database, sender: "WebhookSender", delivery: DueDelivery) -> None:
        sent = await sender.send(delivery)
        report = report_delivery(delivery, sent, retry_for=self._retry_for)
        state = await asyncio.to_thread(database.run, report)
        # Without the address and the error, which names it: a webhook's path is often its only secret.
        log.info("event sent", delivery=str(delivery.id), attempts=delivery.attempts, state=state, status=sent.status)
