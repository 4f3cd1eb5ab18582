"""Webhook actions, shared by routes and dashboard.

An action that sends an event counts as a request: each adds a row to the log and asks somebody else's server."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from api.services.services import Services
from api.work.common_fields import WebhookMissing, check_events, check_url
from pipeline.accounts.keys import Caller
from pipeline.errors import NotFound
from pipeline.webhooks.accounts import AccountWebhook, ensure_webhook, find_webhook, rotate_secret, set_default
from pipeline.webhooks.events import TEST, event_body
from pipeline.webhooks.log import DeliveryDetails, add_test, find_delivery, send_again


class DeliveryNotFound(NotFound):
    """There is no such delivery, or it is another account's."""

    code = "delivery_not_found"
    message = "There is no such delivery. GET /webhooks/deliveries lists those of the last 30 days."


async def set_webhook(
    services: Services, caller: Caller, url: str | None, events: list[str] | None
) -> tuple[AccountWebhook, str | None]:
    """Set an account's default webhook. Return it, and its secret if that was just created. Raises InvalidRequest."""
    if url is not None:
        url = check_url(url, services.settings.fetch.allow_networks)
    wanted = None if events is None else check_events(events)
    *_, made, webhook = await services.database.run_together(
        [*ensure_webhook(caller.account_id), set_default(caller.account_id, url, wanted)]
    )
    return webhook, webhook.secret if made else None


async def new_secret(services: Services, caller: Caller) -> AccountWebhook:
    """Give an account a new secret. The previous one signs as well for a while."""
    overlap = timedelta(hours=services.settings.webhooks.secret_overlap_hours)
    account = caller.account_id
    *_, webhook = await services.database.run_together(
        [*ensure_webhook(account), rotate_secret(account, overlap=overlap), find_webhook(account)]
    )
    found: AccountWebhook = webhook
    return found


async def send_test(services: Services, caller: Caller, url: str | None) -> DeliveryDetails:
    """Send a test event. Raises InvalidRequest, WebhookMissing, RateLimitExceeded."""
    own = await services.database.run(find_webhook(caller.account_id))
    target = url or (own.url if own else None)
    if target is None:
        raise WebhookMissing("There is no webhook_url to test: send one, or set one with PUT /webhooks.")
    target = check_url(target, services.settings.fetch.allow_networks)
    await services.limits.admit(caller, 1)
    body = event_body(TEST, {"account_id": str(caller.account_id)}, datetime.now(UTC))
    *_, delivery_id = await services.database.run_together(
        [*ensure_webhook(caller.account_id), add_test(caller.account_id, TEST, body, target)]
    )
    return await find_own_delivery(services, caller, str(delivery_id))


async def find_own_delivery(services: Services, caller: Caller, delivery_id: str) -> DeliveryDetails:
    """Return a delivery of the caller's account. Raises DeliveryNotFound."""
    found = await services.database.run(find_delivery(read_id(delivery_id), caller.account_id))
    if found is None:
        raise DeliveryNotFound
    return found


async def send_delivery_again(services: Services, caller: Caller, delivery_id: str) -> None:
    """Send an event again. Raises DeliveryNotFound, RateLimitExceeded."""
    found = await find_own_delivery(services, caller, delivery_id)
    await services.limits.admit(caller, 1)
    if not await services.database.run(send_again(found.id, caller.account_id)):
        raise DeliveryNotFound


def read_id(text: str) -> UUID:
    """Return the id in a path. Raises DeliveryNotFound."""
    try:
        return UUID(text)
    except ValueError:
        raise DeliveryNotFound from None
