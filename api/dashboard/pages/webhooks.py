"""Webhooks: the addresses that are told of the account's events, and what was sent there."""

import json

import falcon
import falcon.asgi

from api.dashboard.forms import Form, read_form
from api.dashboard.rendering import NavigationSection, Page, drop_blanks, neighbours, redirect, render
from api.http.parameters import OFFSET, choice
from api.services.resource import Resource
from api.webhooks.actions import (
    add_webhook,
    change_own_webhook,
    delete_own_webhook,
    find_own_delivery,
    new_secret,
    send_delivery_again,
    send_test,
)
from api.webhooks.documents import (
    AccountWebhookDocument,
    AddedWebhookRequest,
    WebhookDelivery,
    WebhookDeliveryDetails,
    WebhookSettingsDocument,
)
from pipeline.accounts.keys import Caller
from pipeline.errors import Conflict, InvalidRequest
from pipeline.webhooks.accounts import find_webhook, list_webhooks
from pipeline.webhooks.deliveries import STATES
from pipeline.webhooks.events import EVENTS
from pipeline.webhooks.log import list_deliveries

PAGE = Page("/dashboard/webhooks", "Webhooks", NavigationSection.ACCOUNT, order=50, icon="webhook")
DELIVERIES_A_PAGE = 25
#: Events in a reader's words; one without words is shown by its name.
EVENT_WORDS = {
    "job.completed": "A job is done",
    "job.failed": "A job has failed",
    "job.cancelled": "A job was cancelled",
    "account.low_balance": "The balance falls below a limit",
    "account.signed_in": "Somebody signs in from a new address",
    "index_monitor.changed": "A watched page was listed or dropped",
}
STATE = choice("state", "Only deliveries in this state.", STATES)


class WebhooksPage(Resource):
    """GET and POST /dashboard/webhooks."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        drop_blanks(req)
        await self._show(req, resp)

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        session = await self._services.sessions.require(req, resp)
        form = await read_form(req, session)
        caller, webhook_id = session.caller, form.text("webhook") or None
        try:
            match form.text("action"):
                case "secret":
                    secret = (await new_secret(self._services, caller, webhook_id)).secret
                    return await self._show(req, resp, secret=secret)
                case "test":
                    await send_test(self._services, caller, webhook_id=webhook_id)
                    return redirect(req, resp, PAGE.path, "A test event is being sent; see its delivery below.")
                case "delete":
                    await delete_own_webhook(self._services, caller, webhook_id or "")
                    return redirect(req, resp, PAGE.path, "The webhook was deleted.")
            secret_of_new = await self._save(caller, webhook_id, form)
        except (InvalidRequest, Conflict) as error:
            resp.status = error.status
            return await self._show(req, resp, error=error.message, sent=form)
        if secret_of_new is None:
            return redirect(req, resp, PAGE.path, "Your webhook was saved.")
        return await self._show(req, resp, secret=secret_of_new)

    async def _save(self, caller: Caller, webhook_id: str | None, form: Form) -> str | None:
        """Add or change a webhook; return the secret of a new one."""
        wanted = AddedWebhookRequest(webhook_url=form.text("webhook_url"), webhook_events=_events(form))
        if webhook_id is None:
            return (await add_webhook(self._services, caller, wanted)).secret
        await change_own_webhook(self._services, caller, webhook_id, wanted)
        return None

    async def _show(
        self,
        req: falcon.asgi.Request,
        resp: falcon.asgi.Response,
        *,
        secret: str | None = None,
        error: str = "",
        sent: Form | None = None,
    ) -> None:
        session = await self._services.sessions.require(req, resp)
        state = STATE.read(req)
        offset = OFFSET.read(req)
        account, listed = await self._services.database.run_together(
            [find_webhook(session.account_id), list_webhooks(session.account_id)]
        )
        webhooks = [AccountWebhookDocument.of_one(one) for one in listed]
        refused = sent if sent is not None and "webhook_url" in sent else None
        wanted = refused.text("webhook") if refused is not None else req.get_param("change")
        changed = next((one for one in webhooks if str(one.id) == wanted), None)
        known = (changed.webhook_url, changed.webhook_events) if changed else ("", EVENTS)
        url, ticked = known if refused is None else (refused.text("webhook_url"), refused.texts("webhook_events"))
        page, total = await self._services.database.run(
            list_deliveries(session.account_id, state=state or None, limit=DELIVERIES_A_PAGE, offset=offset)
        )
        await render(
            req,
            resp,
            "webhooks.html",
            account=WebhookSettingsDocument.of(account),
            webhooks=webhooks,
            changed=changed,
            url=url,
            ticked=ticked,
            events=dict.fromkeys(EVENTS) | EVENT_WORDS,
            secret=secret,
            error=error,
            deliveries=[WebhookDelivery.of(one) for one in page],
            total=total,
            state=state,
            states=[("", "Any state"), *((one, one.capitalize()) for one in STATES)],
            **neighbours(req, offset=offset, size=DELIVERIES_A_PAGE, has_more=offset + DELIVERIES_A_PAGE < total),
        )


class DeliveryPage(Resource):
    """GET and POST /dashboard/webhooks/{id}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, delivery_id: str) -> None:
        session = await self._services.sessions.require(req, resp)
        found = WebhookDeliveryDetails.of(await find_own_delivery(self._services, session.caller, delivery_id))
        body = json.dumps(found.body, indent=2, ensure_ascii=False)
        await render(req, resp, "webhook_delivery.html", delivery=found, body=body)

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, delivery_id: str) -> None:
        session = await self._services.sessions.require(req, resp)
        await read_form(req, session)
        await send_delivery_again(self._services, session.caller, delivery_id)
        redirect(req, resp, f"{PAGE.path}/{delivery_id}", "The event is being sent again.")


RESOURCES = {PAGE.path: WebhooksPage, f"{PAGE.path}/{{delivery_id}}": DeliveryPage}


def _events(form: Form) -> list[str] | None:
    """Return the events that are ticked; all of them are None, so that later ones are among them."""
    ticked = form.texts("webhook_events")
    return None if set(ticked) == set(EVENTS) else ticked
