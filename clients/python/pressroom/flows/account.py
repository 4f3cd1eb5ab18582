"""Account: its keys, its usage and its webhooks; each job may name another by `webhook_url`."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pressroom.documents.account import (
    AccountWebhook,
    Key,
    KeyVerification,
    Usage,
    Webhook,
    WebhookDelivery,
    WebhookSecret,
)
from pressroom.exchange import Ask, Flow, StreamFlow
from pressroom.flows.pages import pages
from pressroom.service import Service, given

WEBHOOKS = "/webhooks"
#: Most deliveries of one request (docs/api.md, Lists).
MAX_DELIVERIES = 100


def usage(service: Service) -> Flow[Usage]:
    """Return the requests and credits that the account has used, and the credits left."""
    return Usage.read((yield from service.get("/usage")).json)


def verify_key(service: Service, api_key: str) -> Flow[KeyVerification]:
    """Check whether a key is valid, and whose it is."""
    answer = yield from service.ask(Ask("POST", "/verify-key", fields={"api_key": api_key}))
    return KeyVerification.read(answer.json)


def keys(service: Service) -> Flow[list[Key]]:
    """List the account's keys, without their secrets."""
    return [Key.read(key) for key in (yield from service.get("/keys")).json]


def create_key(
    service: Service,
    name: str,
    *,
    requests_per_minute: int | None = None,
    credits_per_month: int | None = None,
    routes: Sequence[str] | None = None,
    priority: Literal["low", "normal", "high"] | None = None,
    ends_with_person: bool | None = None,
) -> Flow[Key]:
    """Create a key; its secret is in this answer only."""
    limits = {"requests_per_minute": requests_per_minute, "credits_per_month": credits_per_month, "routes": routes}
    fields = given({"name": name, **limits, "priority": priority, "ends_with_person": ends_with_person})
    answer = yield from service.ask(Ask("POST", "/keys", fields=fields, repeatable=False))
    return Key.read(answer.json)


def change_key(service: Service, key_id: str, changes: Mapping[str, Any]) -> Flow[Key]:
    """Change a key's name or limits; None removes a limit."""
    return Key.read((yield from service.ask(Ask("PATCH", f"/keys/{key_id}", fields=changes))).json)


def delete_key(service: Service, key_id: str) -> Flow[None]:
    """Delete a key."""
    yield from service.ask(Ask("DELETE", f"/keys/{key_id}"))


def webhook(service: Service) -> Flow[Webhook]:
    """Return the account's default webhook."""
    return Webhook.read((yield from service.get(WEBHOOKS)).json)


def set_webhook(service: Service, url: str | None, *, events: Sequence[str] | None = None) -> Flow[Webhook]:
    """Set the default webhook: all events or some go to a URL. The first answer alone has the `webhook_secret`."""
    ask = Ask("PUT", WEBHOOKS, fields=_webhook(url, events), repeatable=False)
    return Webhook.read((yield from service.ask(ask)).json)


def webhooks(service: Service) -> Flow[list[AccountWebhook]]:
    """List the account's webhooks."""
    return [AccountWebhook.read(one) for one in (yield from service.get(WEBHOOKS)).json["webhooks"]]


def add_webhook(service: Service, url: str, *, events: Sequence[str] | None = None) -> Flow[AccountWebhook]:
    """Send events, all or some, to one more URL. This answer alone has the `webhook_secret`."""
    ask = Ask("POST", WEBHOOKS, fields=_webhook(url, events), repeatable=False)
    return AccountWebhook.read((yield from service.ask(ask)).json)


def change_webhook(
    service: Service, webhook_id: str, url: str, *, events: Sequence[str] | None = None
) -> Flow[AccountWebhook]:
    """Set a webhook's URL and events."""
    ask = Ask("PUT", f"{WEBHOOKS}/{webhook_id}", fields=_webhook(url, events))
    return AccountWebhook.read((yield from service.ask(ask)).json)


def _webhook(url: str | None, events: Sequence[str] | None) -> dict[str, Any]:
    return {"webhook_url": url, "webhook_events": list(events) if events is not None else None}


def delete_webhook(service: Service, webhook_id: str | None = None) -> Flow[None]:
    """Stop sending events to a webhook, by default the default."""
    yield from service.ask(Ask("DELETE", _path(webhook_id)))


def rotate_webhook_secret(service: Service, webhook_id: str | None = None) -> Flow[WebhookSecret]:
    """Sign with a new secret, in this answer only; the previous one signs as well for a while."""
    ask = Ask("POST", f"{_path(webhook_id)}/secret", repeatable=False)
    return WebhookSecret.read((yield from service.ask(ask)).json)


def send_test_event(service: Service, webhook_id: str | None = None) -> Flow[WebhookDelivery]:
    """Send a test event to a webhook, by default the default."""
    ask = Ask("POST", f"{_path(webhook_id)}/test", repeatable=False)
    return WebhookDelivery.read((yield from service.ask(ask)).json)


def _path(webhook_id: str | None) -> str:
    return WEBHOOKS if webhook_id is None else f"{WEBHOOKS}/{webhook_id}"


def webhook_deliveries(
    service: Service,
    *,
    state: str | None = None,
    event: str | None = None,
    job_id: str | None = None,
    webhook_id: str | None = None,
) -> StreamFlow[WebhookDelivery]:
    """List deliveries, newest first."""
    return pages(
        service,
        f"{WEBHOOKS}/deliveries",
        WebhookDelivery,
        limit=MAX_DELIVERIES,
        state=state,
        event=event,
        job_id=job_id,
        webhook_id=webhook_id,
    )


def send_again(service: Service, delivery_id: str) -> Flow[WebhookDelivery]:
    """Send an event again at once."""
    ask = Ask("POST", f"{WEBHOOKS}/deliveries/{delivery_id}/send", repeatable=False)
    return WebhookDelivery.read((yield from service.ask(ask)).json)
