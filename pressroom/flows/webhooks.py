"""Webhooks: the account's own; each job may name another by `webhook_url`."""

from collections.abc import Sequence

from pressroom.documents.webhooks import Webhook, WebhookDelivery, WebhookSecret
from pressroom.exchange import Ask, Flow, StreamFlow
from pressroom.flows.pages import pages
from pressroom.service import Service

PATH = "/webhooks"
#: Deliveries of one request (docs/api.md, Lists).
PAGE = 100


def webhook(service: Service) -> Flow[Webhook]:
    """Return where the account is told of events."""
    return Webhook.read((yield from service.get(PATH)).json)


def set_webhook(service: Service, url: str | None, *, events: Sequence[str] | None = None) -> Flow[Webhook]:
    """Tell the account's events there, all or some; with the first one comes its `webhook_secret`, this once."""
    fields = {"webhook_url": url, "webhook_events": list(events) if events is not None else None}
    return Webhook.read((yield from service.ask(Ask("PUT", PATH, fields=fields, repeatable=False))).json)


def delete_webhook(service: Service) -> Flow[None]:
    """Tell the account's events nowhere."""
    yield from service.ask(Ask("DELETE", PATH))


def rotate_webhook_secret(service: Service) -> Flow[WebhookSecret]:
    """Sign with a new secret, told this once; the one before signs as well for a while."""
    return WebhookSecret.read((yield from service.ask(Ask("POST", f"{PATH}/secret", repeatable=False))).json)


def webhook_deliveries(
    service: Service, *, state: str | None = None, event: str | None = None, job_id: str | None = None
) -> StreamFlow[WebhookDelivery]:
    """Give what was told, the newest first."""
    return pages(service, f"{PATH}/deliveries", WebhookDelivery, limit=PAGE, state=state, event=event, job_id=job_id)


def send_again(service: Service, delivery_id: str) -> Flow[WebhookDelivery]:
    """Tell an event again, at once."""
    ask = Ask("POST", f"{PATH}/deliveries/{delivery_id}/send", repeatable=False)
    return WebhookDelivery.read((yield from service.ask(ask)).json)
