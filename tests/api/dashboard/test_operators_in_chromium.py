"""An operator's day in Chromium: pauses, a model server, an account, models, and all jobs that match."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from browser import sign_in
from chromium import Reader, chromium, reader
from http_service import Service
from payers import Payer, open_account
from playwright.sync_api import expect

from pipeline.database import Database
from pipeline.offers.offers import Offer, publish_offers
from pipeline.operations.endpoints import remove
from pipeline.operations.pauses import read_pauses

BASE = "/dashboard/operators"


@pytest.fixture
def operator(service: Service, api_database: Database) -> Iterator[Reader]:
    cookies = sign_in(service, api_database, open_account(api_database, name="Operator"), operator=True).cookies
    address = f"http://127.0.0.1:{service.port}"
    with chromium() as browser, reader(browser, address) as opened:
        opened.page.on("dialog", lambda dialog: dialog.accept())
        opened.context.add_cookies([{"name": name, "value": value, "url": address} for name, value in cookies.items()])
        yield opened


def test_an_operators_day(operator: Reader, service: Service, api_database: Database, client: Payer) -> None:
    model = {"model": "zora", "bytes": 63_000_000, "gives": "a voice", "licence": "MIT", "is_here": False}
    stock = [{**model, "is_removable": False, "fault": None}]
    api_database.run(
        publish_offers([Offer("synthesis", "piper", ready=False, needs="a model", content={"stock": stock})])
    )
    service.submit({"text": "hi"}, client.api_key)
    status = operator.page.get_by_role("status")

    page = operator.open(f"{BASE}/queues")
    page.get_by_role("row", name="synthesis").get_by_role("button", name="Pause").click()
    expect(status).to_contain_text("The queue is paused.")
    expect(page.get_by_text("Paused: queue synthesis.")).to_be_visible()
    page.locator("table", has_text="Reason").get_by_role("button", name="Resume").click()
    expect(status).to_contain_text("The queue goes on.")
    assert api_database.run(read_pauses()) == []

    page = operator.open(f"{BASE}/engines")
    name = f"attic_{uuid4().hex[:6]}"
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Address").fill("http://127.0.0.1:9/v1")
    page.get_by_label("API key").fill("")
    page.get_by_label("Model for captions").fill("eyes")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(status).to_contain_text(f"{name} is added.")
    row = page.get_by_role("row", name=name)
    expect(row).to_contain_text("Pictures to 127.0.0.1:9")
    row.get_by_role("button", name="Try").click()
    expect(status).to_contain_text("Each pool asks")
    page.get_by_role("row", name=name).get_by_role("button", name="Remove").click()
    expect(status).to_contain_text("its key are removed")
    api_database.run(remove(name))

    page = operator.open(f"{BASE}/models")
    expect(page.get_by_role("row", name="zora")).to_contain_text("63 MB")

    page = operator.open(f"{BASE}/accounts")
    page.get_by_label("Name", exact=True).fill("Gazette")
    page.get_by_label("Credits").fill("1,000")
    page.get_by_role("button", name="Make and invite").click()
    expect(page.locator("#invited")).to_contain_text("/dashboard/sign-in/link?token=")

    page = operator.open(f"{BASE}/failures")
    page.get_by_label("Account id").fill(str(client.account_id))
    page.get_by_role("button", name="Cancel all").click()
    change = page.get_by_role("row", name=str(client.account_id)).filter(has_text="Cancel")
    expect(change).to_contain_text("running")
    change.get_by_role("button", name="Stop").click()
    expect(status).to_contain_text("It is stopped.")
