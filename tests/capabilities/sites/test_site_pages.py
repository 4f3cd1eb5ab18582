"""The dashboard's pages of sites: a site is added, its texts are edited, accepted and undone."""

import re
from typing import Any

import pytest
from browser import Browser, sign_in
from http_service import Service
from manual_worker import ManualWorker
from payers import Payer, open_account
from sites_fixtures import DUE, Engine, picture
from spoken_posts import add_site
from wordpress_site import WordPress

from capabilities.sites.working.site_runs import SiteRuns
from pipeline.database import Database
from pipeline.settings import Settings

SITES = "/dashboard/sites"
HOSTILE = "<img src=x onerror=alert(1)>\"'"


@pytest.fixture
def browser(open_service: Service, api_database: Database, client: Payer) -> Browser:
    return sign_in(open_service, api_database, client)


@pytest.fixture
def system(
    open_service: Service, api_database: Database, manual_worker: ManualWorker, monkeypatch: pytest.MonkeyPatch
) -> Any:
    """A function that takes all runs on until nothing is left to do."""
    monkeypatch.setenv("PRESSROOM_FETCH__ALLOW_NETWORKS", "127.0.0.0/8")
    runs, engine = SiteRuns(Settings(data=open_service.data)), Engine(texts={"boat1.jpg": HOSTILE})
    manual_worker.lanes = {"alt_text": 8}

    def work() -> None:
        for _ in range(5):
            runs.work(api_database)
            manual_worker.work(engine.describe)
            api_database.run(DUE)

    return work


def login(site: WordPress, **fields: str) -> dict[str, Any]:
    return {"url": site.url, "user": "admin", "password": site.passwords["admin"], **fields}


def words_of(body: bytes) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", body.decode()).split())


def test_texts_are_reviewed_written_and_undone_in_the_dashboard(
    browser: Browser, system: Any, site_wordpress: WordPress, open_service: Service, api_database: Database
) -> None:
    media = [site_wordpress.add_picture(f"boat{n}.jpg", picture(n))["id"] for n in (1, 2)]
    added = browser.post(SITES, login(site_wordpress))
    assert added.status == 303, added.body
    site = added.headers["location"]
    assert "It can be given: alt text, content" in words_of(browser.get(site).body)
    run = browser.post(site, {"language": "en"}).headers["location"]
    system()

    page = browser.get(run).body.decode()
    assert HOSTILE not in page
    assert "Review: 2 proposed" in words_of(page.encode())
    first, second = re.findall(r'name="accept" value="(\d+)"', page)
    form = {"action": "write", "accept": [second], f"text-{first}": "No", f"text-{second}": "The ferry at noon"}
    assert browser.post(run, form).status == 303
    system()

    assert [site_wordpress.alt_text(one) for one in media] == ["", "The ferry at noon"]
    assert "Review: 1 proposed, 1 written" in words_of(browser.get(run).body)
    browser.post(run, {"action": "skip"})
    browser.post(run, {"action": "undo"})
    system()
    assert [site_wordpress.alt_text(one) for one in media] == ["", ""]
    stranger = sign_in(open_service, api_database, open_account(api_database))
    assert [stranger.get(path).status for path in (site, run)] == [404, 404]
    assert browser.post(site, {"action": "remove"}).status == 303
    assert browser.get(site).status == 404


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"password": "wrong"}, "does not take the application password"),
        ({"password": ""}, "an application password of it"),
        ({"url": "http://10.0.0.1"}, "let the operator allow its network"),
        ({"url": "not an address"}, "is no address"),
    ],
)
def test_a_site_that_can_not_be_added_is_told_and_its_password_is_not_repeated(
    browser: Browser, site_wordpress: WordPress, fields: dict[str, str], said: str
) -> None:
    answer = browser.post(SITES, login(site_wordpress, **fields))

    assert answer.status == 400
    assert said in words_of(answer.body)
    assert site_wordpress.passwords["admin"] not in answer.body.decode()


def test_a_podcast_is_made_with_a_category_of_the_list_and_ended(
    browser: Browser, api_database: Database, client: Payer, open_service: Service
) -> None:
    with api_database.transaction() as rows:
        site = f"{SITES}/{add_site(rows, client.account_id)}"
    form = {"action": "feed", "category": "News", "image": ""}

    for wrong in ({"category": "Cats"}, {"image": "javascript:1"}):
        assert browser.post(site, {**form, **wrong}).status == 400
    assert browser.post(site, form).status == 303

    (address,) = re.findall(r"http://[^/]+(/feeds/[\w-]{32}\.xml)</code>", browser.get(site).body.decode())
    assert open_service.get(address).status == 200
    assert browser.post(site, {"action": "end_feed"}).status == 303
    assert open_service.get(address).status == 404
    assert b"/feeds/" not in browser.get(site).body
    stranger = sign_in(open_service, api_database, open_account(api_database))
    assert stranger.post(site, form).status == 404
