"""A webhook on this machine, and what sends its events."""

from collections.abc import Iterator

import pytest
from webhook_receiver import Receiver, webhook_receiver

from pipeline.database import Database, Statement
from pipeline.settings import Settings
from workers.webhooks.sending import WebhookSending


@pytest.fixture
def receiver(api_database: Database) -> Iterator[Receiver]:
    """A webhook; what earlier tests left to be sent is not sent."""
    api_database.run(Statement("DELETE FROM webhook_delivery RETURNING id"))
    with webhook_receiver() as running:
        yield running


@pytest.fixture
def webhooks() -> WebhookSending:
    """What sends events, also to this machine."""
    return WebhookSending(Settings(fetch={"allow_networks": "127.0.0.0/8"}))
