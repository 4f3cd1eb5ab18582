"""The dashboard's page of webhooks: set, sign, try, look, and send again."""

import re

from browser import sign_in
from http_service import Service
from payers import Payer, open_account
from standardwebhooks.webhooks import Webhook
from webhook_receiver import Receiver

from pipeline.database import Database
from workers.webhooks.sending import WebhookSending

PAGE = "/dashboard/webhooks"


def test_a_webhook_is_set_tried_and_sent_again(
    open_service: Service, client: Payer, api_database: Database, receiver: Receiver, webhooks: WebhookSending
) -> None:
    browser = sign_in(open_service, api_database, client)
    assert "No deliveries" in browser.get(PAGE).body.decode()

    wanted = {"webhook_url": "https://example.org/", "webhook_events": ["job.completed", "job.failed"]}
    set_page = browser.post(PAGE, wanted)
    found = re.search(r"whsec_[A-Za-z0-9+/=]+", set_page.body.decode())
    assert found
    shown = browser.get(PAGE).body.decode()
    assert "whsec_" not in shown
    (webhook,) = set(re.findall(r"change=([0-9a-f-]{36})", shown))
    assert browser.get(f"{PAGE}?change={webhook}").body.decode().count(" checked") == 2
    refused = browser.post(PAGE, wanted | {"webhook": webhook, "webhook_url": "no address"}).body.decode()
    assert "Change the webhook" in refused
    assert f'name="webhook" value="{webhook}"' in refused
    assert refused.count(" checked") == 2
    assert browser.post(PAGE, wanted | {"webhook": webhook, "webhook_url": receiver.url}).status == 303

    assert browser.post(PAGE, {"action": "test", "webhook": webhook}).status == 303
    receiver.answers.append((410, {}))
    webhooks.send_due(api_database)
    assert Webhook(found[0]).verify(receiver.events[0].body, dict(receiver.events[0].headers))
    listed = browser.get(f"{PAGE}?state=failed").body.decode()
    (delivery,) = set(re.findall(rf"{PAGE}/([0-9a-f-]{{36}})", listed))
    assert "HTTP 410" in browser.get(f"{PAGE}/{delivery}").body.decode()

    assert browser.post(f"{PAGE}/{delivery}", {}).status == 303
    webhooks.send_due(api_database)
    assert len(receiver.events) == 2
    assert "delivered" in browser.get(f"{PAGE}/{delivery}").body.decode()

    newer = browser.post(PAGE, {"action": "secret", "webhook": webhook}).body.decode()
    assert re.search(r"whsec_[A-Za-z0-9+/=]+", newer)
    assert found[0] not in newer
    assert re.search(r"</time>\.\s+The previous secret", newer)

    assert browser.post(PAGE, {"action": "delete", "webhook": webhook}).status == 303
    assert receiver.url not in browser.get(PAGE).body.decode()


def test_a_private_address_is_refused_on_the_page_and_what_was_sent_is_shown_as_text(
    service: Service, client: Payer, api_database: Database
) -> None:
    browser = sign_in(service, api_database, client)
    answer = browser.post(PAGE, {"webhook_url": 'http://10.0.0.1/"><script>x</script>'})

    assert answer.status == 400
    assert "not a public one" in answer.body.decode()
    assert "<script>x" not in answer.body.decode()


def test_another_accounts_deliveries_are_not_shown_nor_sent(
    open_service: Service, client: Payer, api_database: Database, receiver: Receiver
) -> None:
    other = open_account(api_database)
    sent = open_service.post("/webhooks/test", {"webhook_url": receiver.url}, other.api_key).json
    browser = sign_in(open_service, api_database, client)

    assert browser.get(f"{PAGE}/{sent['id']}").status == 404
    assert browser.post(f"{PAGE}/{sent['id']}", {}).status == 404
    assert browser.post(f"{PAGE}/{sent['id']}", {}, token="0" * 64).status == 403
