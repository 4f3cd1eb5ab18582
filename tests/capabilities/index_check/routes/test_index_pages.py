"""The dashboard's pages of index checks: monitors are made and changed by forms, and sites are connected."""

import json
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import pytest
import requests
from browser import Browser, sign_in
from http_service import start_service
from index_monitors import A, B, C, Monitors
from payers import Payer, open_account
from site_services import EMAIL, site_services

from capabilities.index_check.pages.history import Track
from capabilities.index_check.sites.connections import list_connections
from pipeline.database import Database

ROOT = "/dashboard/indexing"


@pytest.fixture
def browser(monitors: Monitors) -> Browser:
    return sign_in(monitors.service, monitors.database, monitors.client)


def text_of(browser: Browser, path: str) -> str:
    answer = browser.get(path)
    assert answer.status == 200, answer.body
    return answer.body.decode()


def test_a_monitor_is_made_watched_changed_and_deleted_by_forms(monitors: Monitors, browser: Browser) -> None:
    assert "No pages are watched yet" in text_of(browser, ROOT)
    made = browser.post(f"{ROOT}/new", {"urls": f"{A}\r\n\r\n{B}\n{C}", "name": "Shop", "every": "week"})
    assert made.status == 303, made.body
    path = made.headers["location"]
    monitor = {"id": path.rpartition("/")[2]}
    assert (monitors.read(monitor)["total_urls"], monitors.read(monitor)["diagnose"]) == (3, True)
    monitors.check_again(monitor, {A: True})
    monitors.check_again(monitor, {A: False, B: True})

    page = text_of(browser, path)
    assert re.search(rf"{A}</td>\s*<td[^>]*><span class=\"badge bad\">dropped", page)
    assert re.search(rf"{B}</td>\s*<td[^>]*><span class=\"badge good\">newly listed", page)
    assert "1 of 3" in page
    assert f"{C}</td>" in page.partition("Not listed, and why")[2]
    assert "Shop" in text_of(browser, ROOT)
    hook = {"name": "Shop", "every": "day", "until_indexed": "yes", "webhook_url": "https://hooks.example/"}
    assert "whsec_" in browser.post(path, hook).body.decode()
    assert browser.post(path, {"action": "paused"}).status == 303
    changed = monitors.read(monitor)
    assert [changed[name] for name in ("state", "every", "until_indexed", "webhook_url", "total_urls")] == [
        "paused", "day", True, "https://hooks.example/", 3,
    ]  # fmt: skip
    stranger = sign_in(monitors.service, monitors.database, open_account(monitors.database))
    assert stranger.get(path).status == stranger.post(path, {"action": "delete"}).status == 404
    assert browser.post(path, {"action": "delete"}, token="0" * 64).status == 403
    wrong = browser.post(path, {"urls": f"{A}\n<b>", "name": "<i>", "every": "day"}).body.decode()
    assert f"{A}\n&lt;b&gt;</textarea>" in wrong  # a long list would be lost otherwise
    assert 'value="&lt;i&gt;"' in wrong
    assert browser.post(path, {"action": "delete"}).headers["location"] == ROOT
    assert browser.get(path).status == 404


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"urls": "", "every": "week"}, "Send either urls or sitemap_url"),
        ({"urls": A, "every": "year"}, "every"),
        ({"urls": "<b>", "every": "week", "name": "<i>"}, "&lt;i&gt;"),
    ],
)
def test_a_form_that_is_wrong_comes_back_with_the_reason(browser: Browser, form: dict[str, str], words: str) -> None:
    answer = browser.post(f"{ROOT}/new", dict(form))

    assert answer.status == 400
    assert words in answer.body.decode().partition("<h1>")[2]
    assert form["urls"] in answer.body.decode() or "&lt;b&gt;" in answer.body.decode()


def test_the_days_before_are_worked_out_from_the_changes() -> None:
    today = datetime.now(UTC).date()

    def day(back: int) -> date:
        return today - timedelta(days=back)

    track = Track(uuid4(), "bing", listed=3, known=5, begins=day(3), newly={day(0): 1, day(2): 2}, dropped={day(1): 1})

    assert track.values([day(back) for back in (4, 3, 2, 1, 0)]) == [None, 1, 3, 2, 3]
    assert track.recent(today) == (3, 1)


def test_sites_are_connected_with_a_key_that_works_and_disconnected(
    tmp_path: Path, api_database: Database, api_database_url: str, redis_server: str, client: Payer
) -> None:
    def connected() -> list[tuple[str, str]]:
        found = api_database.run(list_connections(account_id=client.account_id))
        return [(one.service, one.name) for one in found]

    with site_services() as sites:
        sites.sites["https://e.example/"] = "siteOwner"
        settings = {name.removeprefix("PRESSROOM_"): value for name, value in sites.environment().items()}
        with start_service(
            tmp_path / "service", database_url=api_database_url, redis_url=redis_server, settings=settings
        ) as service:
            browser = sign_in(service, api_database, client)
            path = f"{ROOT}/sites"
            refused = browser.post(path, {"key": "no JSON"})
            assert (refused.status, connected()) == (400, [])
            assert "can&#39;t be read as JSON" in refused.body.decode()
            answer = browser.post(path, {"key": json.dumps(sites.service_account())})
            assert answer.status == 303, answer.body

            page = text_of(browser, path)
            assert connected()[0] == ("search_console", EMAIL)
            assert "2,000 of 2,000 requests left today" in page
            assert "PRIVATE" not in page
            (first,) = re.findall(r'name="connection" value="([^"]+)"', page)
            stranger = sign_in(service, api_database, open_account(api_database))
            form = {"action": "disconnect", "connection": first}
            assert stranger.post(path, dict(form)).status == 404
            assert browser.post(path, dict(form)).status == 303
            assert connected() == []
            noted = service.get("/account/audit?action=site+changed", client.api_key).json
            assert [one["detail"]["site"] for one in noted] == ["disconnected", "connected"]


def test_a_person_connects_search_console_by_consent_at_google_and_nobody_else_for_them(
    tmp_path: Path,
    api_database: Database,
    api_database_url: str,
    redis_server: str,
    client: Payer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")  # oauthlib wants https; the double has none
    with site_services() as sites:
        sites.sites["https://e.example/"] = "siteOwner"
        settings = {name.removeprefix("PRESSROOM_"): value for name, value in sites.environment().items()}
        console = {"SEARCH__SEARCH_CONSOLE__CLIENT_ID": "client-1", "SEARCH__SEARCH_CONSOLE__CLIENT_SECRET": "secret-1"}
        with start_service(
            tmp_path / "service", database_url=api_database_url, redis_url=redis_server, settings=settings | console
        ) as service:
            browser = sign_in(service, api_database, client)
            path = f"{ROOT}/sites"
            assert "Sign in with Google" in text_of(browser, path)

            def consent() -> str:
                """Go to Google, consent there, and return the address to which it leads back."""
                there = browser.get(f"{path}/google").headers["location"]
                assert "secret-1" not in there
                assert parse_qs(urlsplit(there).query)["code_challenge_method"] == ["S256"]
                back = requests.get(there, allow_redirects=False, timeout=10).headers["Location"]
                return back.removeprefix(f"http://127.0.0.1:{service.port}")

            back = consent()
            stranger = sign_in(service, api_database, open_account(api_database))
            assert stranger.get(back).status == 403  # it was sent a link of ours
            sites.refusal = "access_denied"
            assert "gave no access" in browser.get(consent()).body.decode()
            sites.refusal = None
            assert browser.get(consent()).headers["location"] == path
            assert "1 site connected" in text_of(browser, path)
            assert browser.get(back).status == 403  # a link works once

            (found,) = api_database.run(list_connections(account_id=client.account_id))
            assert (found.name, found.properties) == ("Google account", ("https://e.example/",))
            assert sites.grants == ["authorization_code", "refresh_token"]
            assert "refresh-1" not in service.log.read_text()
