"""Webhooks: where the account is told of events, and what was sent there, with a button to send it again."""

import json
from typing import Any

import falcon
import falcon.asgi

from api.dashboard.forms import Form, read_form
from api.dashboard.page import NavigationSection, Page
from api.dashboard.rendering import redirect, render
from api.http.parameters import OFFSET, choice
from api.services.resource import Resource
from api.webhooks.actions import find_own_delivery, new_secret, send_delivery_again, send_test, set_webhook
from api.webhooks.documents import WebhookDelivery, WebhookDeliveryDetails, WebhookSettingsDocument
from pipeline.errors import InvalidRequest
from pipeline.webhooks.accounts import find_webhook
from pipeline.webhooks.deliveries import STATES
from pipeline.webhooks.events import EVENTS
from pipeline.webhooks.log import list_deliveries

PAGE = Page("/dashboard/webhooks", "Webhooks", NavigationSection.ACCOUNT, order=50, icon="webhook")
DELIVERIES_A_PAGE = 25
#: The form sends an empty state for all of them.
STATE = choice("state", "Only deliveries in this state.", ("", *STATES))


class WebhooksPage(Resource):
    """GET and POST /dashboard/webhooks."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Answer with the page."""
        await self._show(req, resp)

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response) -> None:
        """Set the address, make a secret, or send a test; a new secret is shown at once, and never again."""
        session = await self._services.sessions.require(req, resp)
        form = await read_form(req, session)
        caller, action = session.caller, form.text("action")
        try:
            if action == "secret":
                await self._show(req, resp, secret=(await new_secret(self._services, caller)).secret)
                return
            if action == "test":
                await send_test(self._services, caller, None)
                redirect(req, resp, PAGE.path, "A test event is being sent; see its delivery below.")
                return
            _, secret = await set_webhook(self._services, caller, form.text("webhook_url") or None, _events(form))
        except InvalidRequest as error:
            resp.status = error.status
            await self._show(req, resp, error=error.message, sent=form.text("webhook_url"))
            return
        if secret is not None:
            await self._show(req, resp, secret=secret)
        else:
            redirect(req, resp, PAGE.path, "Your webhook was saved.")

    async def _show(
        self,
        req: falcon.asgi.Request,
        resp: falcon.asgi.Response,
        *,
        secret: str | None = None,
        error: str = "",
        sent: str | None = None,
    ) -> None:
        session = await self._services.sessions.require(req, resp)
        state = STATE.read(req)
        offset = OFFSET.read(req)
        webhook = await self._services.database.run(find_webhook(session.account_id))
        page, total = await self._services.database.run(
            list_deliveries(session.account_id, state=state or None, limit=DELIVERIES_A_PAGE, offset=offset)
        )
        shown = WebhookSettingsDocument.of(webhook)
        await render(
            req,
            resp,
            "webhooks.html",
            webhook=shown,
            url=(shown.webhook_url or "") if sent is None else sent,
            events=EVENTS,
            secret=secret,
            error=error,
            deliveries=[WebhookDelivery.of(one) for one in page],
            total=total,
            state=state,
            states=[("", "Any state"), *((one, one.capitalize()) for one in STATES)],
            **_neighbours(state, offset, total),
        )


class DeliveryPage(Resource):
    """GET and POST /dashboard/webhooks/{id}."""

    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, delivery_id: str) -> None:
        """Answer with a delivery, what it sent, and its tries."""
        session = await self._services.sessions.require(req, resp)
        found = WebhookDeliveryDetails.of(await find_own_delivery(self._services, session.caller, delivery_id))
        body = json.dumps(found.body, indent=2, ensure_ascii=False)
        await render(req, resp, "webhook_delivery.html", delivery=found, body=body)

    async def on_post(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, delivery_id: str) -> None:
        """Have it sent again."""
        session = await self._services.sessions.require(req, resp)
        await read_form(req, session)
        await send_delivery_again(self._services, session.caller, delivery_id)
        redirect(req, resp, f"{PAGE.path}/{delivery_id}", "The event is being sent again.")


RESOURCES = {PAGE.path: WebhooksPage, f"{PAGE.path}/{{delivery_id}}": DeliveryPage}


def _events(form: Form) -> list[str] | None:
    """Return the events that are ticked; all of them are None, so that later ones are among them."""
    ticked = form.texts("webhook_events")
    return None if set(ticked) == set(EVENTS) else ticked


def _neighbours(state: str, offset: int, total: int) -> dict[str, Any]:
    """Return the addresses of the pages before and after this one, None where there is none."""

    def address(to: int) -> str:
        return f"{PAGE.path}?state={state}&offset={to}"

    return {
        "previous": address(max(0, offset - DELIVERIES_A_PAGE)) if offset else None,
        "next": address(offset + DELIVERIES_A_PAGE) if offset + DELIVERIES_A_PAGE < total else None,
    }
