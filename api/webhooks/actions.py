"""Webhook actions, shared by routes and dashboard.

An action that sends an event counts as a request: each adds a row to the log and asks somebody else's server."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from uuid import UUID

from api.services.services import Services
from api.webhooks.documents import AddedWebhookRequest
from api.work.common_fields import WebhookMissing, check_events, check_url
from pipeline.accounts.audit import Action, noted
from pipeline.accounts.keys import Caller
from pipeline.database import Statement
from pipeline.errors import Conflict, NotFound
from pipeline.webhooks.accounts import (
    AccountWebhook,
    NewWebhook,
    add_to_webhooks,
    change_webhook,
    delete_webhook,
    ensure_webhook,
    find_webhook,
    rotate_secret,
)
from pipeline.webhooks.events import TEST, event_body
from pipeline.webhooks.log import DeliveryDetails, add_test, find_delivery, send_again

Result = TypeVar("Result")

#: Most webhooks of an account, beside its default.
MAX_WEBHOOKS = 20


class WebhookNotFound(NotFound):
    """There is no such webhook, or it is another account's."""

    code = "webhook_not_found"
    message = "There is no such webhook. GET /webhooks lists yours."


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
        [
            *ensure_webhook(caller.account_id),
            _noted(change_webhook(caller.account_id, url, wanted), caller, "set", url or "none"),
        ]
    )
    return webhook, webhook.secret if made else None


async def find_own_webhook(services: Services, caller: Caller, webhook_id: str) -> AccountWebhook:
    """Return a webhook of the caller's account. Raises WebhookNotFound."""
    found = await services.database.run(find_webhook(caller.account_id, read_id(webhook_id, WebhookNotFound)))
    if found is None:
        raise WebhookNotFound
    return found


async def add_webhook(services: Services, caller: Caller, wanted: AddedWebhookRequest) -> AccountWebhook:
    """Add a webhook to an account. Raises InvalidRequest, Conflict."""
    url, events = _check(services, wanted)
    webhook = NewWebhook(caller.account_id, url, events)
    *before, adding = add_to_webhooks(webhook, most=MAX_WEBHOOKS)
    *_, is_added = await services.database.run_together([*before, _noted(adding, caller, "added", url)])
    if not is_added:
        message = f"The account has {MAX_WEBHOOKS} webhooks beside its default, the most it may have. Delete one first."
        raise Conflict(message, code="too_many_webhooks")
    return await find_own_webhook(services, caller, str(webhook.id))


async def change_own_webhook(
    services: Services, caller: Caller, webhook_id: str, wanted: AddedWebhookRequest
) -> AccountWebhook:
    """Set the address and events of a webhook. Raises WebhookNotFound, InvalidRequest."""
    url, events = _check(services, wanted)
    known = read_id(webhook_id, WebhookNotFound)
    change = _noted(change_webhook(caller.account_id, url, events, known), caller, "changed", url)
    changed = await services.database.run(change)
    if changed is None:
        raise WebhookNotFound
    return changed


async def delete_own_webhook(services: Services, caller: Caller, webhook_id: str) -> None:
    """Delete a webhook; the default's secret stays, as it signs for requests too. Raises WebhookNotFound."""
    found = await find_own_webhook(services, caller, webhook_id)
    if found.is_default:
        await remove_default(services, caller)
    else:
        await services.database.run(_noted(delete_webhook(found.id), caller, "deleted", found.url or ""))


async def remove_default(services: Services, caller: Caller) -> None:
    """Take the address from an account's default webhook."""
    await services.database.run(_noted(change_webhook(caller.account_id, None, None), caller, "deleted", "default"))


async def new_secret(services: Services, caller: Caller, webhook_id: str | None = None) -> AccountWebhook:
    """Give a webhook, by default the default, a new secret. The previous one signs as well for a while.

    Raises WebhookNotFound."""
    overlap = timedelta(hours=services.settings.webhooks.secret_overlap_hours)
    account = caller.account_id
    known = None if webhook_id is None else read_id(webhook_id, WebhookNotFound)
    making = ensure_webhook(account) if known is None else []
    *_, webhook = await services.database.run_together(
        [
            *making,
            _noted(rotate_secret(account, known, overlap=overlap), caller, "new secret", webhook_id or "default"),
            find_webhook(account, known),
        ]
    )
    if webhook is None:
        raise WebhookNotFound
    found: AccountWebhook = webhook
    return found


async def send_test(
    services: Services, caller: Caller, url: str | None = None, webhook_id: str | None = None
) -> DeliveryDetails:
    """Send a test event to an address, a webhook or the default. Raises InvalidRequest, NotFound, RateLimitExceeded."""
    account = caller.account_id
    known = None if webhook_id is None else (await find_own_webhook(services, caller, webhook_id)).id
    own = await services.database.run(find_webhook(account, known))
    target = url or (own.url if own else None)
    if target is None:
        raise WebhookMissing("There is no webhook_url to test: send one, or set one with PUT /webhooks.")
    target = check_url(target, services.settings.fetch.allow_networks)
    await services.limits.admit(caller, 1)
    body = event_body(TEST, {"account_id": str(account)}, datetime.now(UTC))
    *_, delivery_id = await services.database.run_together(
        [*ensure_webhook(account), add_test(account, TEST, body, target, known)]
    )
    return await find_own_delivery(services, caller, str(delivery_id))


async def find_own_delivery(services: Services, caller: Caller, delivery_id: str) -> DeliveryDetails:
    """Return a delivery of the caller's account. Raises DeliveryNotFound."""
    found = await services.database.run(find_delivery(read_id(delivery_id, DeliveryNotFound), caller.account_id))
    if found is None:
        raise DeliveryNotFound
    return found


async def send_delivery_again(services: Services, caller: Caller, delivery_id: str) -> None:
    """Send an event again. Raises DeliveryNotFound, RateLimitExceeded."""
    found = await find_own_delivery(services, caller, delivery_id)
    await services.limits.admit(caller, 1)
    if not await services.database.run(send_again(found.id, caller.account_id)):
        raise DeliveryNotFound


def read_id(text: str, absent: type[NotFound]) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise absent from None


def _noted(change: Statement[Result], caller: Caller, what: str, url: str) -> Statement[Result]:
    return noted(change, caller.actor, Action.WEBHOOK_CHANGED, url, webhook=what)


def _check(services: Services, wanted: AddedWebhookRequest) -> tuple[str, Sequence[str] | None]:
    events = None if wanted.webhook_events is None else check_events(wanted.webhook_events)
    return check_url(wanted.webhook_url, services.settings.fetch.allow_networks), events
