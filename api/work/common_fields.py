"""Common fields: where the end of a job is reported and its priority, as any request may say.

They are fields of the body, headers or query parameters, in this order. They do not distinguish requests: the same
Idempotency-Key with another webhook is the same request."""

from collections.abc import Mapping, Sequence
from typing import Any

import falcon.asgi
from pydantic.config import JsonDict

from api.http.bodies.fields import FieldsInvalid
from api.services.services import Services
from api.work.submitting import Order
from pipeline.downloads.addresses import Reach
from pipeline.downloads.targets import Refused, read_target, shown
from pipeline.downloads.urls import SCHEME
from pipeline.errors import InvalidRequest
from pipeline.lifecycle import PRIORITIES
from pipeline.webhooks.accounts import list_webhooks
from pipeline.webhooks.events import EVENTS, JOB_EVENTS

#: The fields, and the headers that stand for them.
URL, EVENTS_FIELD = "webhook_url", "webhook_events"
PRIORITY = "priority"
HEADERS = {URL: "X-Webhook-Url", EVENTS_FIELD: "X-Webhook-Events", PRIORITY: "X-Priority"}
#: Characters of an address.
MAX_URL = 2_000
#: Its JSON Schema.
ADDRESS: JsonDict = {"maxLength": MAX_URL, "pattern": SCHEME}
#: The fields in OpenAPI.
COMMON_FIELDS: dict[str, Any] = {
    URL: {
        "type": ["string", "null"],
        **ADDRESS,
        "description": "Where to report the job's end; also the header X-Webhook-Url. Default: the account's webhooks.",
        "examples": ["https://hooks.example.org/pressroom"],
    },
    EVENTS_FIELD: {
        "type": ["array", "null"],
        "items": {"type": "string", "enum": list(JOB_EVENTS)},
        "description": "Report these events only. Separate them by commas in forms and in the header X-Webhook-Events.",
    },
    PRIORITY: {
        "type": ["string", "null"],
        "enum": [*PRIORITIES, None],
        "description": "Orders the account's own jobs; also the header X-Priority. Default: the key's.",
    },
}


class WebhookMissing(InvalidRequest):
    """Events were chosen without an address."""

    code = "webhook_missing"
    field = "webhook_url"
    message = (
        "webhook_events was sent without webhook_url, and the account has no webhook. Send webhook_url as well, or add"
        " a webhook for all requests with POST /webhooks."
    )


async def add_webhook(services: Services, req: falcon.asgi.Request, fields: Mapping[str, Any], order: Order) -> Order:
    """Return the order with the webhook that a request names. Raises FieldsInvalid, InvalidRequest, WebhookMissing.

    No events at all: nothing is reported."""
    sent_url, sent_events = (_sent(req, fields, name) for name in (URL, EVENTS_FIELD))
    url = None if sent_url is None else check_url(sent_url, services.settings.fetch.allow_networks)
    events = None if sent_events is None else check_events(sent_events, JOB_EVENTS)
    is_unaddressed = url is None and order.submission.webhook_url is None
    if events and is_unaddressed and not await services.database.run(list_webhooks(order.caller.account_id)):
        raise WebhookMissing
    return order.with_webhook(url, events)


def add_priority(req: falcon.asgi.Request, fields: Mapping[str, Any], order: Order) -> Order:
    """Return the order with the priority that a request names. Raises FieldsInvalid."""
    sent = _sent(req, fields, PRIORITY)
    found = next((one for one in PRIORITIES if one == sent), None)
    if sent is not None and found is None:
        raise _fault(PRIORITY, f"This must be one of {', '.join(PRIORITIES)}.", "field_not_a_choice")
    return order.with_priority(found)


def check_url(url: object, allow_networks: str) -> str:
    """Return a valid webhook address. Raises FieldsInvalid, InvalidRequest.

    The addresses behind its host name are checked again at each delivery."""
    if not isinstance(url, str):
        raise _fault(URL, "This must be a text, such as https://example.org/hook.", "field_type")
    if len(url) > MAX_URL:
        raise _fault(URL, f"This may have at most {MAX_URL:,} characters, but has {len(url):,}.", "field_length")
    try:
        read_target(url, Reach(allow_networks))
    except Refused as refused:
        raise InvalidRequest(
            f"webhook_url can't be {shown(url)}: {refused.why}. Events are sent to public addresses on ports 80 and"
            " 443; this service's operator can allow other networks.",
            code="webhook_url_invalid",
            field=URL,
        ) from None
    return url.strip()


def check_events(events: object, known: Sequence[str] = EVENTS) -> Sequence[str]:
    """Return event types, each once, from a list or a text with commas. Raises FieldsInvalid."""
    if isinstance(events, str):
        events = [name.strip() for name in events.split(",") if name.strip()]
    if not isinstance(events, list) or not all(isinstance(name, str) for name in events):
        raise _fault(EVENTS_FIELD, f"This must be a list of {', '.join(known)}.", "field_type")
    for name in events:
        if name not in known:
            message = f"There is no event {name[:60]!a}; send some of {', '.join(known)}."
            raise _fault(EVENTS_FIELD, message, "field_not_a_choice")
    return list(dict.fromkeys(events))


def _sent(req: falcon.asgi.Request, fields: Mapping[str, Any], name: str) -> object:
    """Return a field's value, or that of its header or parameter; null counts as not sent."""
    if (found := fields.get(name)) is not None:
        return found
    return req.get_header(HEADERS[name]) or ",".join(req.get_param_as_list(name) or []) or None


def _fault(field: str, message: str, code: str) -> FieldsInvalid:
    return FieldsInvalid([{"field": field, "message": message, "code": code}])
