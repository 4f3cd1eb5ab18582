"""`pressroom site watch`: what is published from now on gets what was chosen, and a monitor."""

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from payers import Payer
from ran import Ran
from sites_fixtures import DUE, System, picture
from web_server import web_server
from wordpress_site import WordPress, image_block

from capabilities.index_check.monitors.monitor import list_monitors
from capabilities.sites import runs
from capabilities.sites.connectors import wordpress
from capabilities.sites.connectors.exchange import Exchange
from capabilities.sites.posts import list_posts
from capabilities.sites.sites import list_sites, open_site
from capabilities.sites.working import watching
from capabilities.sites.working.finding import find_pictures
from capabilities.sites.working.watching import SiteWatch
from pipeline.database import Statement
from pipeline.lifecycle import suspend_account
from pipeline.settings import Settings

Pressroom = Callable[..., Ran]
SITE_DUE: Statement[int] = Statement("UPDATE site SET watch_at = now() RETURNING id", {}, len)


def look(system: System) -> None:
    """Look at all watched sites, and bring what that begins to its end."""
    system.database.run(SITE_DUE)
    assert SiteWatch(system.settings).work(system.database) == 1
    for _ in range(40):
        if not system.step():
            system.database.run(DUE)


def monitored(system: System, payer: Payer) -> list[tuple[str | None, int | None, bool]]:
    found, _ = system.database.run(list_monitors(payer.account_id, limit=10, offset=0))
    return [(one.name, one.total_urls, one.until_indexed) for one in found]


def test_new_posts_get_texts_for_their_pictures_and_a_monitor_and_old_ones_are_left_alone(
    add_site: Callable[..., Ran], pressroom: Pressroom, system: System, site_wordpress: WordPress, payer: Payer
) -> None:
    add_site()
    old, new, later = (site_wordpress.add_picture(f"boat{n}.jpg", picture(n)) for n in (1, 2, 3))
    site_wordpress.add_post("Old", image_block(old))
    draft = site_wordpress.add_post("Later", image_block(later), status="draft")

    assert pressroom("site", "watch", "harbour", "--alt-text", "--index").out == "harbour is watched\n"
    look(system)
    site_wordpress.add_post("New", image_block(new))
    look(system)

    def texts() -> list[Any]:
        return [site_wordpress.alt_text(one["id"]) for one in (old, new, later)]

    assert texts() == ["", "A boat called boat2", ""]
    look(system)
    assert monitored(system, payer) == [("New", 1, True)]
    site_wordpress.ask("POST", f"/posts/{draft['id']}", {"status": "publish"})
    look(system)
    look(system)
    assert texts() == ["", "A boat called boat2", "A boat called boat3"]
    assert [name for name, *_ in monitored(system, payer)] == ["Later", "New"]
    assert "Choose what new posts get" in pressroom("site", "watch", "harbour").err
    assert pressroom("site", "watch", "harbour", "--off").out == "harbour is no longer watched\n"
    system.database.run(SITE_DUE)
    assert SiteWatch(system.settings).work(system.database) == 0


def test_an_old_post_that_comes_into_the_list_as_a_newer_one_is_deleted_stays_unchanged(
    add_site: Callable[..., Ran], pressroom: Pressroom, system: System, site_wordpress: WordPress,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(wordpress, "PER_PAGE", 2)
    add_site()
    pictures = [site_wordpress.add_picture(f"boat{n}.jpg", picture(n)) for n in (1, 2, 3)]
    posts = [
        site_wordpress.add_post("Old", image_block(one), date=f"2020-01-0{day}T00:00:00")["id"]
        for day, one in enumerate(pictures, 1)
    ]
    assert pressroom("site", "watch", "harbour", "--alt-text").code == 0
    look(system)

    site_wordpress.ask("DELETE", f"/posts/{posts[2]}?force=true")
    look(system)

    assert system.database.run(list_posts(system.site().id)) == []
    assert [site_wordpress.alt_text(one["id"]) for one in pictures] == ["", "", ""]


def test_a_new_post_with_an_old_picture_changes_no_old_post(
    add_site: Callable[..., Ran], pressroom: Pressroom, system: System, site_wordpress: WordPress
) -> None:
    add_site()
    medium = site_wordpress.add_picture("boat1.jpg", picture(1))
    old = site_wordpress.add_post("Old", image_block(medium))["id"]
    assert pressroom("site", "watch", "harbour", "--alt-text").code == 0
    look(system)

    new = site_wordpress.add_post("New", image_block(medium))["id"]
    look(system)

    assert 'alt="A boat called boat1"' in site_wordpress.content(new)
    assert site_wordpress.content(old) == image_block(medium)


def test_for_a_new_post_neither_old_posts_nor_the_whole_library_are_read(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wordpress, "PER_PAGE", 1)
    add_site()
    media = [site_wordpress.add_picture(f"boat{n}.jpg", picture(n)) for n in range(4)]
    for day, one in enumerate(media, 1):
        site_wordpress.add_post("Old", image_block(one), date=f"2020-01-0{day}T00:00:00")
    new = site_wordpress.add_post("New", "".join(map(image_block, media[1:3])), featured_media=media[3]["id"])["id"]
    real, asked = Exchange.ask, list[str]()

    async def ask(exchange: Exchange, method: str, address: str, *given: Any, **options: Any) -> Any:
        asked.append(urlsplit(address).path.removesuffix("/").rpartition("/")[2])
        return await real(exchange, method, address, *given, **options)

    async def find() -> list[str]:
        async with open_site(system.site(), system.settings) as opened:
            found = find_pictures(opened, {"posts": [f"posts/{new}"]})
            return [one.target async for some in found for one in some]

    with monkeypatch.context() as noting:
        noting.setattr(Exchange, "ask", ask)
        found = asyncio.run(find())

    assert found == [f"media/{one['id']}" for one in media[1:]]
    assert (asked.count("posts"), asked.count("media")) == (1, 3)


def test_a_review_that_waits_since_a_hundred_runs_takes_new_posts_up(
    add_site: Callable[..., Ran], pressroom: Pressroom, system: System, site_wordpress: WordPress
) -> None:
    add_site()
    assert pressroom("site", "watch", "harbour", "--part", "excerpt").code == 0
    look(system)
    site, options = system.site().id, {"watch": True, "parts": ["excerpt"], "at_least": 0.7, "posts": ["posts/1"]}
    waiting, _ = system.database.run(runs.start_run(site, "posts", options))
    system.database.run(runs.move(waiting.id, of=["finding"], to="review"))
    for _ in range(101):
        ended, _ = system.database.run(runs.start_run(site, "alt_text", {}))
        system.database.run(runs.move(ended.id, of=["finding"], to="done"))

    new = site_wordpress.add_post("New", "<p>Boats race.</p>")["id"]
    system.database.run(SITE_DUE)
    SiteWatch(system.settings).work(system.database)

    found = system.database.run(runs.read_run(waiting.id))
    assert found is not None
    assert (found.state, found.options["posts"]) == ("finding", ["posts/1", f"posts/{new}"])


FEED = """<rss version="2.0"><channel><title>Harbour</title>{items}</channel></rss>"""


SITEMAP = """<urlset>{items}</urlset>"""


@pytest.mark.parametrize("form", [FEED, SITEMAP])
def test_a_feed_or_sitemap_is_only_read_and_its_new_posts_are_monitored(
    pressroom: Pressroom, system: System, payer: Payer, form: str
) -> None:
    item = "<item><title>{path}</title><link>{url}</link></item>" if form is FEED else "<url><loc>{url}</loc></url>"
    with web_server() as site:

        def publish(*paths: str) -> None:
            items = "".join(item.format(path=path, url=site.url(path)) for path in paths)
            site.serve("/feed", form.format(items=items).encode(), "application/rss+xml")

        publish("/one")
        assert pressroom("site", "add", site.url("/feed"), "--name", "feed").code == 0
        assert "can't change alt_text on feed" in pressroom("site", "alt-text", "feed").err
        assert "can't change excerpt on feed" in pressroom("site", "watch", "feed", "--part", "excerpt").err
        assert pressroom("site", "watch", "feed", "--index").code == 0
        look(system)
        publish("/two", "/one")
        look(system)

    assert monitored(system, payer) == [("/two" if form is FEED else None, 1, True)]


def test_search_engines_are_told_of_a_new_post_once_and_its_row_knows_what_followed(
    pressroom: Pressroom, system: System, payer: Payer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRESSROOM_SUBMISSION__INDEXNOW__URL", "http://127.0.0.1:9/indexnow")
    monkeypatch.setenv("PRESSROOM_SUBMISSION__INDEXNOW__KEY", "0123456789abcdef")
    system.settings = Settings(data=system.settings.data)
    with web_server() as site:
        items = [f"<item><title>{path}</title><link>{site.url(path)}</link></item>" for path in ("/one", "/two")]
        site.serve("/feed", FEED.format(items=items[0]).encode(), "application/rss+xml")
        pressroom("site", "add", site.url("/feed"), "--name", "feed")
        pressroom("site", "watch", "feed", "--index")
        look(system)
        site.serve("/feed", FEED.format(items="".join(items)).encode(), "application/rss+xml")
        look(system)
        look(system)
        url = site.url("/two")

    (post,) = system.database.run(list_posts(system.site().id))
    (job,) = system.database.run(Statement("SELECT id, kind FROM job"))
    (item,) = system.database.run(Statement("SELECT input FROM item"))
    assert (post.url, post.submission_id, job["kind"]) == (url, job["id"], "index_submit")
    assert url in str(item["input"])
    assert post.done_at is not None
    found, _ = system.database.run(list_monitors(payer.account_id, limit=10, offset=0))
    assert [one.id for one in found] == [post.monitor_id]


def test_sites_are_looked_at_together_and_those_of_a_suspended_account_not_at_all(
    pressroom: Pressroom, system: System, payer: Payer
) -> None:
    with web_server() as server:
        for name in ("one", "two"):
            url = server.serve(f"/{name}", FEED.format(items="").encode(), "application/rss+xml")
            pressroom("site", "add", url, "--name", name)
            pressroom("site", "watch", name, "--index")
        first, _ = system.database.run(list_sites())
        system.database.run(runs.start_run(first.id, "posts", {"parts": []}))
        server.forget()
        server.together = 2  # neither is answered before both are asked

        system.database.run(suspend_account(payer.account_id, suspended=True))
        assert (SiteWatch(system.settings).work(system.database), system.step(), server.asked) == (0, 0, [])
        system.database.run(suspend_account(payer.account_id, suspended=False))
        assert SiteWatch(system.settings).work(system.database) == 2
        server.together = 0
        assert system.step() > 0


def test_pages_that_a_list_lacks_for_once_or_that_another_site_has_are_not_new(
    pressroom: Pressroom, system: System, payer: Payer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MOST_SEEN", 1)
    with web_server() as site:

        def serve(path: str, *pages: str) -> None:
            items = "".join(f"<url><loc>{site.url(page)}</loc></url>" for page in pages)
            site.serve(path, SITEMAP.format(items=items).encode(), "application/xml")

        serve("/sitemap", "/a", "/b", "/c")
        serve("/other", "/d")
        pressroom("site", "add", site.url("/sitemap"), "--name", "pages")
        pressroom("site", "watch", "pages", "--index")
        look(system)
        serve("/sitemap", "/a")
        look(system)
        serve("/sitemap", "/a", "/b", "/c")
        look(system)
        pressroom("site", "add", site.url("/other"), "--name", "pages")
        look(system)

    assert system.database.run(list_posts(system.site().id)) == []


def test_a_run_of_a_watch_waits_for_credits(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress, payer: Payer
) -> None:
    add_site()
    medium = site_wordpress.add_picture("boat1.jpg", picture(1))
    post = site_wordpress.add_post("New", image_block(medium))["id"]
    set_balance = "UPDATE account SET available = %(credits)s RETURNING 1"
    system.database.run(Statement(set_balance, {"credits": 0}))
    options = {"watch": True, "at_least": 0, "posts": [f"posts/{post}"]}
    system.database.run(runs.start_run(system.site().id, "alt_text", options))
    for _ in range(3):
        system.step()

    (row,) = system.database.run(Statement("SELECT state, fault, due_at > now() AS waits FROM site_run"))
    assert row == {"state": "proposing", "fault": None, "waits": True}
    system.database.run(Statement(set_balance, {"credits": 1}))
    system.database.run(DUE)
    for _ in range(40):
        if not system.step():
            system.database.run(DUE)
    assert site_wordpress.alt_text(medium["id"]) == "A boat called boat1"
