"""Resources of webhooks: the account's default address, its secret, and the log of what was sent."""

from uuid import UUID

import falcon
import falcon.asgi

from api.accounts.senders import read_sent
from api.http.bodies.fields import read_fields
from api.http.queries import ParameterInvalid, read_choice, read_text, read_whole, show_page
from api.services.resource import Resource
from api.webhooks.actions import find_own_delivery, new_secret, send_delivery_again, send_test, set_webhook
from api.webhooks.documents import (
    WebhookDelivery,
    WebhookDeliveryDetails,
    WebhookRequest,
    WebhookSecret,
    WebhookSettingsDocument,
    WebhookTestRequest,
)
from api.work.answers import show_json
from pipeline.webhooks.accounts import AccountWebhook, find_webhook, set_default
from pipeline.webhooks.deliveries import STATES
from pipeline.webhooks.log import DeliveryDetails, list_deliveries

#: Longest page of deliveries, and longest name of an event.
MAX_DELIVERIES = 100
MAX_EVENT = 100


class AccountHook(Resource):
    """GET, PUT and DELETE /webhooks."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer where the account is told of events."""
        caller = await self._services.authenticate_reader(req)
        _show(resp, await self._services.database.run(find_webhook(caller.account_id)))

    on_head = on_get

    async def on_put(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Set where the account is told of events; its first secret is made, and shown."""
        caller, body = await read_sent(self._services, req)
        wanted = read_fields(WebhookRequest, body)
        webhook, secret = await set_webhook(self._services, caller, wanted.webhook_url, wanted.webhook_events)
        _show(resp, webhook, secret)

    async def on_delete(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Tell the account of nothing by default; its secret stays."""
        caller, _ = await read_sent(self._services, req)
        await self._services.database.run(set_default(caller.account_id, None, None))
        resp.status = falcon.HTTP_204


class AccountSecret(Resource):
    """POST /webhooks/secret."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Make a new secret, and show it; the one before signs as well for a while."""
        caller, _ = await read_sent(self._services, req)
        webhook = await new_secret(self._services, caller)
        answer = WebhookSecret(webhook_secret=webhook.secret, previous_secret_until=webhook.previous_until)
        show_json(resp, answer.model_dump(mode="json"))


class WebhookTest(Resource):
    """POST /webhooks/test."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Send an event that tells of nothing, and answer with its delivery."""
        caller, body = await read_sent(self._services, req)
        wanted = read_fields(WebhookTestRequest, body)
        delivery = await send_test(self._services, caller, wanted.webhook_url)
        _show_delivery(resp, delivery, status=202)


class Deliveries(Resource):
    """GET /webhooks/deliveries."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with a page of the account's deliveries, newest first."""
        caller = await self._services.authenticate_reader(req)
        limit = read_whole(req, "limit", default=20, least=1, most=MAX_DELIVERIES)
        offset = read_whole(req, "offset", default=0)
        listing = list_deliveries(
            caller.account_id,
            state=read_choice(req, "state", STATES),
            event=read_text(req, "event", longest=MAX_EVENT),
            job_id=_read_job_id(req),
            limit=limit,
            offset=offset,
        )
        page, total = await self._services.database.run(listing)
        show_page(req, resp, limit=limit, offset=offset, total=total)
        show_json(resp, [WebhookDelivery.of(delivery).model_dump(mode="json") for delivery in page])

    on_head = on_get


class DeliveryResource(Resource):
    """GET /webhooks/deliveries/{id}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, delivery_id: str) -> None:
        """Answer with a delivery, what it sent, and its tries."""
        caller = await self._services.authenticate_reader(req)
        _show_delivery(resp, await find_own_delivery(self._services, caller, delivery_id))

    on_head = on_get


class DeliveryAgain(Resource):
    """POST /webhooks/deliveries/{id}/send."""

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, delivery_id: str) -> None:
        """Have the event sent again, at once."""
        caller, _ = await read_sent(self._services, req)
        await send_delivery_again(self._services, caller, delivery_id)
        _show_delivery(resp, await find_own_delivery(self._services, caller, delivery_id), status=202)


def _read_job_id(req: falcon.asgi.Request) -> UUID | None:
    text = read_text(req, "job_id", longest=MAX_EVENT)
    try:
        return None if text is None else UUID(text)
    except ValueError:
        raise ParameterInvalid("job_id", str(text), "send the id of a job.") from None


def _show(resp: falcon.asgi.Response, webhook: AccountWebhook | None, secret: str | None = None) -> None:
    document = WebhookSettingsDocument.of(webhook).model_dump(mode="json")
    show_json(resp, document if secret is None else {**document, "webhook_secret": secret})


def _show_delivery(resp: falcon.asgi.Response, delivery: DeliveryDetails, status: int = 200) -> None:
    show_json(resp, WebhookDeliveryDetails.of(delivery).model_dump(mode="json"), status)
