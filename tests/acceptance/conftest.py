"""The shared systems as a file has them: one by HTTP, as an account of its own, and one in Chromium."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from chromium import EMAIL, PASSWORD, Reader, chromium, reader
from playwright.sync_api import Browser, expect
from search_engine import SearchEngine
from systems import Running


@pytest.fixture(scope="module")
def engine(shared_engine: SearchEngine) -> SearchEngine:
    """The search engine, as at first."""
    shared_engine.forget()
    return shared_engine


@pytest.fixture(scope="module")
def service(shared_system: Running, engine: SearchEngine) -> Running:
    """The shared system, with an account for this file."""
    return replace(shared_system)


@pytest.fixture(scope="session")
def state(dashboard: Running) -> object:
    """Sign the first account in by the link of the first start, give it a password, and return the cookies."""
    link = (dashboard.data / "first-sign-in").read_text().strip().removeprefix(dashboard.address)
    with chromium() as running, reader(running, dashboard.address) as first:
        first.open(link).get_by_role("button", name="Sign in", exact=True).click()
        expect(first.page.get_by_role("status")).to_contain_text("Choose an e-mail and a password")
        first.page.get_by_role("textbox", name="E-mail").fill(EMAIL)
        first.page.get_by_label("New password").fill(PASSWORD)
        first.page.get_by_role("button", name="Save").click()
        expect(first.page.get_by_role("status")).to_contain_text("Your account was saved")
        return first.context.storage_state()


@pytest.fixture(scope="module")
def browser(state: object) -> Iterator[Browser]:
    """A Chromium of a file. An event loop runs meanwhile, so it may not stay for the tests of other files."""
    with chromium() as running:
        yield running


@pytest.fixture
def owner(dashboard: Running, browser: Browser, state: object) -> Iterator[Reader]:
    """A window of the first account's owner, an operator."""
    with reader(browser, dashboard.address, storage_state=state) as opened:
        opened.page.on("dialog", lambda dialog: dialog.accept())
        yield opened
