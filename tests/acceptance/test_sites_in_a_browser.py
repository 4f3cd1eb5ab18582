"""The pages of sites and the player of podcasts as their readers have them, in Chromium."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from chromium import NARROW, WIDE, Reader, faults, reader, sideways, unreachable
from playwright.sync_api import Browser, Page, expect
from spoken_posts import SpokenPost, add_review, add_spoken_post
from systems import Running
from waiting import wait_for
from web_server import web_server

from capabilities.sites import feeds, sites
from capabilities.sites.connectors.connector import SitePost
from capabilities.sites.posts import add_posts, end_post, list_posts
from pipeline.database import Database, Statement

pytestmark = pytest.mark.system

TEXT = "The regatta.\n\nThe race\n\nTwelve boats sail around the island. The ferry waits until they are back."
IS_PLAYING = "(audio) => audio.currentTime > 0.1"
OPEN: Statement[list[Any]] = Statement("SELECT id FROM account ORDER BY created_at LIMIT 1")
POST = "https://harbour.example/posts/7"


@dataclass(frozen=True)
class Harbour:
    """A site with a spoken post, a run to be reviewed, and a podcast."""

    post: SpokenPost
    review: UUID
    episode: UUID
    watched: int

    @property
    def page(self) -> str:
        return f"/dashboard/sites/{self.post.site_id}"


@pytest.fixture(scope="module")
def harbour(dashboard: Running) -> Iterator[Harbour]:
    """A site of the first account, whose owner is signed in, with real speech."""
    spoken = dashboard.ask("/tts/batch", {"text": TEXT, "plain_text": True, "timestamps": True})
    assert spoken.status == 200, spoken.body
    with Database(dashboard.database_url) as database:
        read: Statement[dict[str, Any]] = Statement(
            "SELECT output FROM item WHERE job_id = %(job)s",
            {"job": spoken.headers["X-Job-Id"]},
            lambda rows: rows[0]["output"],
        )
        made, account_id = database.run(read), database.run(OPEN)[0]["id"]
        heard = [(one["start"], one["end"], one["text"]) for one in made["times"]["sentences"]]
        fields = {"artifact": made["artifact"], "sentences": heard, "headings": ["The race"]}
        post = add_spoken_post(database, account_id, **fields)
        review = add_review(database, account_id, "boat1.jpg", "boat2.jpg")
        database.run(feeds.make_feed(post.site_id, f"{dashboard.address}/feeds", {"category": "News", "image": ""}))
        database.run(
            add_posts(
                post.site_id, [SitePost("posts/7", "The regatta", POST, is_published=True, values={})], [post.run_id]
            )
        )
        (watched,) = database.run(list_posts(post.site_id))
        database.run(end_post(watched.id, None, None))
        (episode,) = wait_for(lambda: database.run(feeds.list_episodes(post.site_id)))
        yield Harbour(post, review, episode.id, watched.id)
        database.run(sites.remove_site(post.site_id, account_id))


def look(page: Page, *, frame: bool = False) -> list[str]:
    """Return what is wrong with a page, on a wide screen by day and a narrow one by night."""
    found = []
    for width, scheme in ((NARROW, "dark"), (WIDE, "light")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        found += [f"{over} pixels too wide at {width}"] if (over := sideways(page)) > 0 else []
        found += faults(page)
    return found + unreachable(page, frame=frame)


def test_the_pages_of_sites_fit_are_used_by_keyboard_and_axe_finds_nothing(owner: Reader, harbour: Harbour) -> None:
    found = {}
    for path in ("", "/posts/{0.watched}", "/runs/{0.review}", "/runs/{0.post.run_id}"):
        page = owner.open(harbour.page + path.format(harbour))
        page.wait_for_load_state("networkidle")
        found[path] = look(page)
    found["all"] = look(owner.open("/dashboard/sites"))

    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_a_post_page_tells_its_way_from_publication_to_proof(owner: Reader, harbour: Harbour) -> None:
    page = owner.open(harbour.page)
    page.get_by_role("link", name="The regatta").click()

    facts = page.locator("dl.facts")
    expect(facts).to_contain_text(POST)
    expect(facts).to_contain_text("Parts")
    expect(page.get_by_role("row", name="Excerpt")).to_contain_text("written")
    expect(page.locator("pressroom-player audio")).to_be_visible()


def test_a_podcast_gets_another_address_and_ends(dashboard: Running, owner: Reader, harbour: Harbour) -> None:
    page = owner.open(harbour.page)
    address = page.locator("section", has_text="Podcast").locator("pre").inner_text()
    assert dashboard.ask(address.removeprefix(dashboard.address)).status == 200
    page.get_by_role("button", name="New address").click()

    expect(page.get_by_role("status")).to_contain_text("new address")
    other = page.locator("section", has_text="Podcast").locator("pre").inner_text()
    assert other != address
    assert [dashboard.ask(one.removeprefix(dashboard.address)).status for one in (address, other)] == [404, 200]


def test_a_page_elsewhere_plays_an_episode_and_marks_the_sentence_that_is_heard(
    dashboard: Running, browser: Browser, harbour: Harbour
) -> None:
    tag = f'<script src="{dashboard.address}/player.js" data-episode="{harbour.episode}"></script>'
    body = f'<!doctype html><html lang="en"><title>Harbour</title><main><h1>The regatta</h1>{tag}</main></html>'
    with web_server() as site, reader(browser, site.url("/").rstrip("/")) as visitor:
        site.serve("/post", body.encode(), "text/html; charset=utf-8", Content_Security_Policy=(
            f"default-src 'none'; script-src {dashboard.address}; connect-src {dashboard.address};"
            f" media-src {dashboard.address}"
        ))  # fmt: skip
        site.serve("/favicon.ico", b"")
        page = visitor.open("/post")
        region = page.get_by_role("region", name="Transcript")
        expect(region).to_contain_text("Twelve boats sail around the island.")
        assert look(page, frame=True) == []
        page.get_by_role("button", name="The race").click()
        audio = page.locator("pressroom-player audio")
        page.wait_for_function(IS_PLAYING, arg=audio.element_handle())
        expect(region.locator("[aria-current]")).to_have_text("The race")
        expect(region.locator("[aria-current]")).to_have_text("The ferry waits until they are back.")
        visitor.excuse("asked another address")
