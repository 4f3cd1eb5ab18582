"""Sending: events that are due are claimed, sent, and what became of them is kept."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Protocol

from pipeline.database import Database
from pipeline.log import get_logger
from pipeline.settings import Settings
from pipeline.webhooks.deliveries import Delivery, Sent, claim_deliveries, report_delivery

log = get_logger(__name__)

#: A try that its process did not end is made again after its own time and so much more.
LEASE_SLACK = timedelta(seconds=60)


class Sender(Protocol):
    """Sends events."""

    def send(self, deliveries: Sequence[Delivery]) -> list[Sent]:
        """Send events, and return what became of each."""


def open_sender(settings: Settings) -> Sender:
    """Return what sends events over HTTP. Raises NotReady when the settings allow what is no network."""
    from workers.webhooks.sender import WebhookSender  # aiohttp, which most sweeps have no use for

    return WebhookSender(settings)


class Webhooks:
    """Sends the events of all webhooks."""

    def __init__(self, settings: Settings, open_sender: Callable[[Settings], Sender] = open_sender) -> None:
        self._settings = settings
        self._open_sender = open_sender

    def send_due(self, database: Database) -> int:
        """Send some of the events that are due, all at once; returns how many."""
        settings = self._settings.webhooks
        lease = timedelta(seconds=settings.timeout_seconds) + LEASE_SLACK
        deliveries = database.run(claim_deliveries(settings.at_once, lease_for=lease))
        if not deliveries:
            return 0
        retry_for = timedelta(hours=settings.retry_hours)
        for delivery, sent in zip(deliveries, self._open_sender(self._settings).send(deliveries), strict=True):
            state = database.run(report_delivery(delivery, sent, retry_for=retry_for))
            log.info("event sent", delivery=str(delivery.id), attempts=delivery.attempts, state=state, error=sent.error)
        return len(deliveries)
