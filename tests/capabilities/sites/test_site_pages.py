"""The dashboard's pages of sites: a site is added, its texts are edited, accepted and undone."""

import re
from typing import Any
from uuid import UUID

import pytest
from browser import Browser, sign_in
from http_service import Service
from manual_worker import ManualWorker
from payers import Payer, open_account
from sites_fixtures import DUE, Engine, picture
from spoken_posts import add_site
from wordpress_site import WordPress

from capabilities.sites.runs import read_run
from capabilities.sites.sites import claim_watched, list_sites
from capabilities.sites.working.site_runs import SiteRuns
from pipeline.database import Database, Statement
from pipeline.settings import Settings

SITES = "/dashboard/sites"
#: Watched sites were looked at twenty seconds ago.
WATCHED_BEFORE: Statement[int] = Statement(
    "UPDATE site SET watch_at = now() + interval '40 seconds' WHERE watch IS NOT NULL RETURNING id", {}, len
)
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
    return {"connector": "wordpress", "url": site.url, "user": "admin", "password": site.passwords["admin"], **fields}


def words_of(body: bytes) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", body.decode()).split())


def test_texts_are_reviewed_written_and_undone_in_the_dashboard(
    browser: Browser, system: Any, site_wordpress: WordPress, open_service: Service, api_database: Database
) -> None:
    media = [site_wordpress.add_picture(f"boat{n}.jpg", picture(n))["id"] for n in (1, 2)]
    added = browser.post(SITES, login(site_wordpress))
    assert added.status == 303, added.body
    site = added.headers["location"]
    assert "Can change: alt text, content" in words_of(browser.get(site).body)
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
        ({"password": "wrong"}, "rejects the application password"),
        ({"password": ""}, "Enter a user name and application password"),
        ({"url": "http://10.0.0.1"}, "let the operator allow its network"),
        ({"url": "not an address"}, "is not an address"),
    ],
)
def test_a_site_that_can_not_be_added_is_told_and_its_password_is_not_repeated(
    browser: Browser, site_wordpress: WordPress, fields: dict[str, str], said: str
) -> None:
    answer = browser.post(SITES, login(site_wordpress, **fields))

    assert answer.status == 400
    assert said in words_of(answer.body)
    assert site_wordpress.passwords["admin"] not in answer.body.decode()


def test_parts_of_posts_and_a_watch_are_begun_in_the_dashboard_and_its_site_can_call(
    browser: Browser, site_wordpress: WordPress, api_database: Database, open_service: Service
) -> None:
    site_wordpress.add_post("Regatta", "<p>Boats race.</p>")
    site = browser.post(SITES, login(site_wordpress)).headers["location"]
    number = site.rpartition("/")[2]
    assert browser.post(site, {"action": "posts"}).status == 400
    assert browser.post(site, {"language": "German"}).status == 400
    assert browser.post(site, {"action": "watch", "part": ["music"]}).status == 400

    run = browser.post(site, {"action": "posts", "part": ["audio", "tags"]}).headers["location"]
    found = api_database.run(read_run(UUID(run.rpartition("/")[2])))
    assert found is not None
    assert (found.task, found.options) == ("posts", {"parts": ["tags", "audio"]})

    called = f"/sites/{number}/published"
    assert open_service.request("POST", called).status == 410
    assert browser.post(site, {"action": "watch", "part": ["excerpt"], "index": "yes"}).status == 303
    assert "every minute and adds: excerpt. It tells search engines" in words_of(browser.get(site).body)
    (watched,) = [one for one in api_database.run(list_sites()) if str(one.id) == number]
    assert watched.watch == {"parts": ["excerpt"], "alt_text": False, "index": True, "at_least": 0.7}
    claimed = api_database.run(claim_watched())
    assert claimed is not None
    assert open_service.request("POST", called).status == 204
    assert api_database.run(claim_watched()) is None  # it was looked at seconds ago
    api_database.run(WATCHED_BEFORE)
    open_service.request("POST", called)
    assert api_database.run(claim_watched()) is not None
    assert browser.post(site, {"action": "end_watch"}).status == 303
    assert open_service.request("POST", called).status == 410
    assert open_service.request("POST", "/sites/none/published").status == 410


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
