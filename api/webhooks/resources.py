"""Webhook resources: the account's webhooks, their secrets, and the log of deliveries."""

from collections.abc import Mapping

import falcon
import falcon.asgi

from api.http.bodies.fields import read_sent_fields
from api.http.operations import Operation, Reply
from api.http.parameters import OFFSET, choice, limit, show_page, text, uuid
from api.services.resource import Resource, read_sent
from api.webhooks.actions import (
    add_webhook,
    change_own_webhook,
    delete_own_webhook,
    find_own_delivery,
    find_own_webhook,
    new_secret,
    remove_default,
    send_delivery_again,
    send_test,
    set_webhook,
)
from api.webhooks.documents import (
    AccountWebhookCreated,
    AccountWebhookDocument,
    AddedWebhookRequest,
    WebhookDelivery,
    WebhookDeliveryDetails,
    WebhookRequest,
    WebhookSecret,
    WebhookSettingsCreated,
    WebhookSettingsDocument,
    WebhookSettingsList,
    WebhookTestRequest,
)
from api.work.answers import show_json
from pipeline.webhooks.accounts import AccountWebhook, find_webhook, list_webhooks
from pipeline.webhooks.deliveries import STATES
from pipeline.webhooks.log import list_deliveries

TAG = "webhooks"
#: Longest name of an event.
MAX_EVENT = 100

STATE = choice("state", "Only deliveries in this state.", STATES)
EVENT = text("event", "Only events of this type.", longest=MAX_EVENT)
JOB_ID = uuid("job_id", "Only events about this job.", "send the id of a job.")
WEBHOOK_ID = uuid("webhook_id", "Only events for this webhook.", "send the id of a webhook.")
LIMIT = limit(20, 100)


class AccountHook(Resource):
    """GET, POST, PUT and DELETE /webhooks."""

    @Operation(
        id="get_webhooks",
        tag=TAG,
        summary="List the account's webhooks, the default also by itself.",
        replies={200: Reply("The addresses, and the age of their secrets.", WebhookSettingsList)},
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        caller = await self._services.authenticate_reader(req)
        webhook, listed = await self._services.database.run_together(
            [find_webhook(caller.account_id), list_webhooks(caller.account_id)]
        )
        own = [AccountWebhookDocument.of_one(one) for one in listed]
        show_json(resp, WebhookSettingsList.of(webhook, webhooks=own))

    @Operation(
        id="post_webhooks",
        tag=TAG,
        summary="Add a webhook with its own events and secret.",
        body=AddedWebhookRequest,
        example={"webhook_url": "https://hooks.example.org/alerts", "webhook_events": ["job.failed"]},
        replies={201: Reply("The webhook and, once, its secret.", AccountWebhookCreated)},
        errors=(409, 415),
    )
    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        caller, body = await read_sent(self._services, req)
        wanted = read_sent_fields(req, AddedWebhookRequest, body)
        webhook = await add_webhook(self._services, caller, wanted)
        document = AccountWebhookCreated.of(webhook, id=webhook.id, is_default=False, webhook_secret=webhook.secret)
        show_json(resp, document, 201)

    @Operation(
        id="put_webhooks",
        tag=TAG,
        summary="Set the account's default webhook.",
        body=WebhookRequest,
        example={
            "webhook_url": "https://hooks.example.org/pressroom",
            "webhook_events": ["job.completed", "job.failed"],
        },
        replies={200: Reply("The address and, the first time, the account's secret.", WebhookSettingsCreated)},
        errors=(415,),
    )
    async def on_put(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        caller, body = await read_sent(self._services, req)
        wanted = read_sent_fields(req, WebhookRequest, body)
        webhook, secret = await set_webhook(self._services, caller, wanted.webhook_url, wanted.webhook_events)
        document = WebhookSettingsDocument.of(webhook).model_dump(mode="json")
        show_json(resp, document if secret is None else {**document, "webhook_secret": secret})

    @Operation(
        id="delete_webhooks",
        tag=TAG,
        summary="Remove the account's default webhook; its secret is kept.",
        replies={204: Reply("There is no default webhook.")},
        errors=(415,),
    )
    async def on_delete(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        caller, _ = await read_sent(self._services, req)
        await remove_default(self._services, caller)
        resp.status = falcon.HTTP_204


class AddedHook(Resource):
    """GET, PUT and DELETE /webhooks/{id}."""

    @Operation(
        id="get_webhook",
        tag=TAG,
        summary="Return a webhook.",
        replies={200: Reply("The webhook.", AccountWebhookDocument)},
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, webhook_id: str) -> None:
        caller = await self._services.authenticate_reader(req)
        show_json(resp, AccountWebhookDocument.of_one(await find_own_webhook(self._services, caller, webhook_id)))

    @Operation(
        id="put_webhook",
        tag=TAG,
        summary="Set the address and events of a webhook.",
        body=AddedWebhookRequest,
        example={"webhook_url": "https://hooks.example.org/alerts"},
        replies={200: Reply("The webhook.", AccountWebhookDocument)},
        errors=(415,),
    )
    async def on_put(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, webhook_id: str) -> None:
        caller, body = await read_sent(self._services, req)
        wanted = read_sent_fields(req, AddedWebhookRequest, body)
        changed = await change_own_webhook(self._services, caller, webhook_id, wanted)
        show_json(resp, AccountWebhookDocument.of_one(changed))

    @Operation(
        id="delete_webhook",
        tag=TAG,
        summary="Delete a webhook and its deliveries.",
        replies={204: Reply("It is deleted.")},
        errors=(415,),
    )
    async def on_delete(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, webhook_id: str) -> None:
        caller, _ = await read_sent(self._services, req)
        await delete_own_webhook(self._services, caller, webhook_id)
        resp.status = falcon.HTTP_204


class AddedHookSecret(Resource):
    """POST /webhooks/{id}/secret."""

    @Operation(
        id="post_webhook_secret",
        tag=TAG,
        summary="Create a new secret for a webhook, as POST /webhooks/secret does for the default.",
        replies={200: Reply("The secret.", WebhookSecret)},
        errors=(415,),
    )
    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, webhook_id: str) -> None:
        caller, _ = await read_sent(self._services, req)
        show_json(resp, _secret(await new_secret(self._services, caller, webhook_id)))


class AddedHookTest(Resource):
    """POST /webhooks/{id}/test."""

    @Operation(
        id="post_webhook_test",
        tag=TAG,
        summary="Send a test event to a webhook.",
        replies={202: Reply("The delivery. Read it again to see the outcome.", WebhookDeliveryDetails)},
        errors=(415,),
    )
    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, webhook_id: str) -> None:
        caller, _ = await read_sent(self._services, req)
        delivery = await send_test(self._services, caller, webhook_id=webhook_id)
        show_json(resp, WebhookDeliveryDetails.of(delivery), 202)


class AccountSecret(Resource):
    """POST /webhooks/secret."""

    @Operation(
        id="post_webhooks_secret",
        tag=TAG,
        summary="Create a new secret, shown only once. The previous one signs as well for a day.",
        replies={200: Reply("The secret.", WebhookSecret)},
        errors=(415,),
    )
    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        caller, _ = await read_sent(self._services, req)
        show_json(resp, _secret(await new_secret(self._services, caller)))


class WebhookTest(Resource):
    """POST /webhooks/test."""

    @Operation(
        id="post_webhooks_test",
        tag=TAG,
        summary="Send a test event.",
        body=WebhookTestRequest,
        needs_body=False,
        example={"webhook_url": "https://hooks.example.org/pressroom"},
        replies={202: Reply("The delivery. Read it again to see the outcome.", WebhookDeliveryDetails)},
        errors=(415,),
    )
    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        caller, body = await read_sent(self._services, req)
        wanted = read_sent_fields(req, WebhookTestRequest, body)
        delivery = await send_test(self._services, caller, wanted.webhook_url)
        show_json(resp, WebhookDeliveryDetails.of(delivery), 202)


class Deliveries(Resource):
    """GET /webhooks/deliveries."""

    @Operation(
        id="get_webhook_deliveries",
        tag=TAG,
        summary="List the deliveries to the account's webhooks, newest first.",
        parameters=(STATE, EVENT, JOB_ID, WEBHOOK_ID, LIMIT, OFFSET),
        replies={200: Reply("A page, with its neighbours in Link.", list[WebhookDelivery])},
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        caller = await self._services.authenticate_reader(req)
        limit, offset = LIMIT.read(req), OFFSET.read(req)
        listing = list_deliveries(
            caller.account_id,
            state=STATE.read(req) or None,
            event=EVENT.read(req),
            job_id=JOB_ID.read(req),
            webhook_id=WEBHOOK_ID.read(req),
            limit=limit,
            offset=offset,
        )
        page, total = await self._services.database.run(listing)
        show_page(req, resp, limit=limit, offset=offset, total=total)
        show_json(resp, [WebhookDelivery.of(delivery) for delivery in page])


class DeliveryResource(Resource):
    """GET /webhooks/deliveries/{id}."""

    @Operation(
        id="get_webhook_delivery",
        tag=TAG,
        summary="Return a delivery with its body and its last attempts.",
        replies={200: Reply("The delivery.", WebhookDeliveryDetails)},
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, delivery_id: str) -> None:
        caller = await self._services.authenticate_reader(req)
        show_json(resp, WebhookDeliveryDetails.of(await find_own_delivery(self._services, caller, delivery_id)))


class DeliveryAgain(Resource):
    """POST /webhooks/deliveries/{id}/send."""

    @Operation(
        id="post_webhook_delivery_send",
        tag=TAG,
        summary="Send an event again now, under the same webhook-id.",
        replies={202: Reply("The delivery. Read it again to see the outcome.", WebhookDeliveryDetails)},
        errors=(415,),
    )
    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, delivery_id: str) -> None:
        caller, _ = await read_sent(self._services, req)
        await send_delivery_again(self._services, caller, delivery_id)
        delivery = await find_own_delivery(self._services, caller, delivery_id)
        show_json(resp, WebhookDeliveryDetails.of(delivery), 202)


def _secret(webhook: AccountWebhook) -> WebhookSecret:
    return WebhookSecret(webhook_secret=webhook.secret, previous_secret_until=webhook.previous_until)


RESOURCES: Mapping[str, type[Resource]] = {
    "/webhooks": AccountHook,
    "/webhooks/secret": AccountSecret,
    "/webhooks/test": WebhookTest,
    "/webhooks/{webhook_id}": AddedHook,
    "/webhooks/{webhook_id}/secret": AddedHookSecret,
    "/webhooks/{webhook_id}/test": AddedHookTest,
    "/webhooks/deliveries": Deliveries,
    "/webhooks/deliveries/{delivery_id}": DeliveryResource,
    "/webhooks/deliveries/{delivery_id}/send": DeliveryAgain,
}
