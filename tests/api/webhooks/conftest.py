"""An API whose webhooks may be on this machine, and what sends their events."""

from collections.abc import Iterator

import pytest
from http_service import Service, start_service
from webhook_receiver import Receiver, webhook_receiver

from pipeline.database import Database, Statement
from pipeline.settings import Settings
from workers.webhooks.sending import WebhookSending

ALLOWED = "127.0.0.0/8"


@pytest.fixture(scope="module")
def hooked_service(
    tmp_path_factory: pytest.TempPathFactory, api_database_url: str, redis_server: str
) -> Iterator[Service]:
    """An API that takes addresses of this machine."""
    with start_service(
        tmp_path_factory.mktemp("service"),
        database_url=api_database_url,
        redis_url=redis_server,
        settings={"FETCH__ALLOW_NETWORKS": ALLOWED},
    ) as running:
        yield running


@pytest.fixture
def receiver(api_database: Database) -> Iterator[Receiver]:
    """A webhook; what earlier tests left to be sent is not sent."""
    api_database.run(Statement("DELETE FROM webhook_delivery RETURNING id"))
    with webhook_receiver() as running:
        yield running


@pytest.fixture
def webhooks() -> WebhookSending:
    """What sends events, also to this machine."""
    return WebhookSending(Settings(fetch={"allow_networks": ALLOWED}))
