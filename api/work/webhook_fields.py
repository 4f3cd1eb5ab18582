"""Webhook fields: where the end of a request's job is told, as a request of any route may say.

They are fields of its body, or else headers, or else parameters of its query. They are not part of what a kind is asked
for: the same Idempotency-Key with another webhook is still the same request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import falcon.asgi
from pydantic.config import JsonDict

from api.http.bodies.fields import FieldsInvalid
from pipeline.downloads.addresses import Reach
from pipeline.downloads.targets import Refused, read_target, shown
from pipeline.downloads.urls import SCHEME
from pipeline.errors import InvalidRequest
from pipeline.webhooks.events import EVENTS, JOB_EVENTS

#: The fields, and the headers that stand for them.
URL, EVENTS_FIELD = "webhook_url", "webhook_events"
HEADERS = {URL: "X-Webhook-Url", EVENTS_FIELD: "X-Webhook-Events"}
#: Characters of an address.
MAX_URL = 2_000
#: What a JSON Schema says of them.
ADDRESS: JsonDict = {"maxLength": MAX_URL, "pattern": SCHEME}


class WebhookUrlInvalid(InvalidRequest):
    """The address is none that events are sent to."""

    code = "webhook_url_invalid"
    field = "webhook_url"


class WebhookMissing(InvalidRequest):
    """Events were chosen, and there is no address to send them to."""

    code = "webhook_missing"
    field = "webhook_url"
    message = (
        "webhook_events was sent without webhook_url, and the account has no webhook_url by default. Send webhook_url"
        " as well, or set one for all requests with PUT /webhooks."
    )


@dataclass(frozen=True, slots=True)
class WebhookFields:
    """What a request says: None for what it does not. No events at all: nothing is told."""

    url: str | None = None
    events: Sequence[str] | None = None


def read_webhook(req: falcon.asgi.Request, fields: Mapping[str, Any], allow_networks: str) -> WebhookFields:
    """Return what a request says of its webhook. Raises FieldsInvalid, WebhookUrlInvalid."""
    url, events = (_sent(req, fields, name) for name in (URL, EVENTS_FIELD))
    return WebhookFields(
        None if url is None else check_url(url, allow_networks),
        None if events is None else check_events(events, JOB_EVENTS),
    )


def check_url(url: object, allow_networks: str) -> str:
    """Return an address that may be asked, as far as it tells by itself. Raises FieldsInvalid, WebhookUrlInvalid.

    What its name leads to is looked at whenever something is sent there."""
    if not isinstance(url, str):
        raise _fault(URL, "This must be a text: an address as https://example.org/hook.", "field_type")
    if len(url) > MAX_URL:
        raise _fault(URL, f"This may have at most {MAX_URL:,} characters, but has {len(url):,}.", "field_length")
    try:
        read_target(url, Reach(allow_networks))
    except Refused as refused:
        raise WebhookUrlInvalid(
            f"webhook_url can't be {shown(url)}: {refused.why}. Events are sent to public addresses on ports 80 and"
            " 443; this service's operator can allow other networks.",
            field=URL,
        ) from None
    return url.strip()


def check_events(events: object, known: Sequence[str] = EVENTS) -> Sequence[str]:
    """Return types of events, each once; as a text they have commas between them. Raises FieldsInvalid."""
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
    """Return a field's value; null is as if it was not sent."""
    if (found := fields.get(name)) is not None:
        return found
    return req.get_header(HEADERS[name]) or ",".join(req.get_param_as_list(name) or []) or None


def _fault(field: str, message: str, code: str) -> FieldsInvalid:
    return FieldsInvalid([{"field": field, "message": message, "code": code}])
