"""Whole systems that several files ask: one by HTTP, each file as an account of its own, and one in Chromium."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from chromium import EMAIL, PASSWORD, Reader, chromium, reader
from playwright.sync_api import Browser, expect
from search_engine import SearchEngine, search_engine
from systems import FAST, Running, system
from waiting import wait_for

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database


@pytest.fixture(scope="session")
def shared_engine() -> Iterator[SearchEngine]:
    """The search engine that the shared system asks."""
    with search_engine() as running:
        yield running


@pytest.fixture(scope="session")
def shared_system(shared_engine: SearchEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A system of our own kinds, with all pools, which may fetch from this machine."""
    ours = {name: value for name, value in FAST.items() if name != "PRESSROOM_KINDS"}
    extra = ours | shared_engine.environment() | {"PRESSROOM_FETCH__ALLOW_NETWORKS": "127.0.0.0/8"}
    with system(tmp_path_factory.mktemp("shared") / "data", extra=extra) as running:
        yield running


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
def dashboard_engine() -> Iterator[SearchEngine]:
    """The search engine that the dashboard's system asks."""
    with search_engine() as running:
        running.pages.update({"https://example.org/", "https://example.org/garden"})
        yield running


@pytest.fixture(scope="session")
def dashboard(tmp_path_factory: pytest.TempPathFactory, dashboard_engine: SearchEngine) -> Iterator[Running]:
    """A system for the tests in a browser, with a natural voice and made-up work."""
    extra = FAST | dashboard_engine.environment() | {"PRESSROOM_SYNTHESIS__ENGINES": "hibari,espeak"}
    extra |= {"PRESSROOM_API__OFFERS_MAX_AGE_SECONDS": "0.5"}
    with system(tmp_path_factory.mktemp("browser") / "data", extra=extra) as running:
        running.key = (running.data / "first-key").read_text().strip()
        wait_for(lambda: b"Heart" in running.ask("/tts/voices").body)  # pages ask for the voices once
        yield running
        with Database(running.database_url) as database:
            assert database.run(discrepancies()) == []


@pytest.fixture(scope="session")
def state(dashboard: Running) -> object:
    """Sign the first account in by the link of the first start, give it a password, and return the cookies."""
    link = (dashboard.data / "first-sign-in").read_text().strip().removeprefix(dashboard.address)
    with chromium() as running, reader(running, dashboard.address) as first:
        first.open(link).get_by_role("button", name="Sign in").click()
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
