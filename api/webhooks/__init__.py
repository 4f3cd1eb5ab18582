"""Webhooks: the account's default address and secret, and the log of what was sent (docs/webhooks.md).

What a request says of its own webhook is in api/work/webhook_fields.py, as every route takes it."""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from api.services.services import Services
from api.webhooks.documents import (
    WebhookDelivery,
    WebhookDeliveryDetails,
    WebhookRequest,
    WebhookSecret,
    WebhookSettingsCreated,
    WebhookSettingsDocument,
    WebhookTestRequest,
)
from api.webhooks.resources import (
    AccountHook,
    AccountSecret,
    Deliveries,
    DeliveryAgain,
    DeliveryResource,
    WebhookTest,
)

__all__ = ["MODELS", "PATHS", "resources"]

PATHS: Mapping[str, Any] = json.loads(files(__name__).joinpath("openapi.json").read_text("utf-8"))
MODELS: Sequence[type[Any]] = (
    WebhookRequest,
    WebhookTestRequest,
    WebhookSettingsDocument,
    WebhookSettingsCreated,
    WebhookSecret,
    WebhookDelivery,
    WebhookDeliveryDetails,
)


def resources(services: Services) -> Mapping[str, object]:
    """Return the resources of webhooks."""
    return {
        "/webhooks": AccountHook(services),
        "/webhooks/secret": AccountSecret(services),
        "/webhooks/test": WebhookTest(services),
        "/webhooks/deliveries": Deliveries(services),
        "/webhooks/deliveries/{delivery_id}": DeliveryResource(services),
        "/webhooks/deliveries/{delivery_id}/send": DeliveryAgain(services),
    }
