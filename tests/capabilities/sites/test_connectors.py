"""Each connector passes the suite; WordPress's refusals are told in one line."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from connector_suite import ConnectorSuite, With
from sites_fixtures import picture
from web_server import Answer, WebServer, reply, web_server
from wordpress_site import WordPress, image_block

from capabilities.sites import sites
from capabilities.sites.connectors import feed, open_connector, wordpress
from capabilities.sites.connectors.connector import Connector, SiteFacts
from capabilities.sites.connectors.trouble import SiteTrouble
from pipeline.settings import Settings
from pipeline.settings.fields import FetchSettings

OPEN = FetchSettings(allow_networks="127.0.0.0/8")
#: Mark-up that sanitisers of other programs, and ours, get wrong.
HARD = 'C:\\boats & “sails” — 5 < 6 > 4, 50%20 off, ’tis a "test" 🚤'


def run_with(
    name: str, url: str, credentials: dict[str, str], facts: SiteFacts, settings: FetchSettings = OPEN
) -> With:
    def run(do: Callable[[Connector], Any]) -> Any:
        async def within() -> Any:
            async with open_connector(name, url, credentials, facts, settings) as site:
                return await do(site)

        return asyncio.run(within())

    return run


class TestWordPress(ConnectorSuite):
    written: ClassVar[dict[str, Any]] = {
        "excerpt": HARD,
        "tags": ["Fish & chips", "sea"],
        "categories": ["News"],
        "content": f"<p>{HARD}</p>",
    }

    @pytest.fixture
    def with_site(self, site_wordpress: WordPress) -> With:
        login = {"user": "admin", "password": site_wordpress.passwords["admin"]}
        facts = run_with("wordpress", site_wordpress.url, login, SiteFacts())(lambda site: site.look_up())
        return run_with("wordpress", site_wordpress.url, login, facts)

    @pytest.fixture
    def post(self, site_wordpress: WordPress) -> str:
        medium = site_wordpress.add_picture("pier.jpg", picture(1))
        return f"posts/{site_wordpress.add_post('Pier', image_block(medium))['id']}"

    @pytest.fixture
    def gone(self) -> str:
        return "posts/999999"

    def test_an_alternative_text_keeps_its_backslashes(self, with_site: With, site_wordpress: WordPress) -> None:
        target = f"media/{site_wordpress.add_picture('pier.jpg', picture(1))['id']}"

        assert with_site(lambda site: site.write(target, {"alt_text": "C:\\boats"})) == {"alt_text": "C:\\boats"}

    def test_an_edit_between_a_look_and_a_write_is_not_written_over(
        self, with_site: With, site_wordpress: WordPress, post: str
    ) -> None:
        async def write(site: Connector) -> None:
            await site.read(post)
            site_wordpress.ask("POST", f"/{post}", {"content": "By hand"})
            await site.write(post, {"excerpt": "Boats"})  # which nobody has changed
            await site.read(post)
            site_wordpress.ask("POST", f"/{post}", {"content": "By hand, again"})
            await site.write(post, {"content": "Ours"})

        trouble = refusal(with_site, write)

        assert (trouble.code, trouble.of_target) == ("site_target_busy", True)
        assert site_wordpress.content(int(post.partition("/")[2])) == "By hand, again"

    def test_a_title_is_told_without_mark_up(self, with_site: With, site_wordpress: WordPress) -> None:
        site_wordpress.add_post("<em>Fish</em> &amp; chips", "")

        async def titles(site: Connector) -> list[str]:
            return [one.title async for some in site.list_posts() for one in some]

        assert with_site(titles) == ["Fish & chips"]


def test_a_library_is_read_a_page_at_a_time_each_picture_once(
    site_wordpress: WordPress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wordpress, "PER_PAGE", 2)
    added = [f"media/{site_wordpress.add_picture(f'boat{n}.jpg', picture(n))['id']}" for n in range(5)]
    login = {"user": "admin", "password": site_wordpress.passwords["admin"]}

    async def read(site: Connector) -> list[list[str]]:
        await site.look_up()
        return [[one.target for one in part] async for part in site.list_pictures()]

    found = run_with("wordpress", site_wordpress.url, login, SiteFacts())(read)
    assert found == [added[:2], added[2:4], added[4:]]


ATOM = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Harbour</title>
<entry><title>Tide &amp; time</title><link rel="edit" href="/no"/><link href="/tide"/><content type="html">&lt;p&gt;Low.
</content></entry></feed>"""


class TestFeed(ConnectorSuite):
    @pytest.fixture
    def feed(self) -> Iterator[WebServer]:
        with web_server() as running:
            running.serve("/feed", ATOM.encode(), "application/atom+xml")
            yield running

    @pytest.fixture
    def with_site(self, feed: WebServer) -> With:
        return run_with("feed", feed.url("/feed"), {}, SiteFacts())

    @pytest.fixture
    def post(self, feed: WebServer) -> str:
        return feed.url("/tide")

    @pytest.fixture
    def gone(self) -> str:
        return "http://127.0.0.1/never"


def test_links_that_lead_nowhere_are_no_posts(monkeypatch: pytest.MonkeyPatch) -> None:
    links = ("javascript:alert(1)", "http://[no", "mailto:a@b.example", "https://harbour.example/tide")
    items = "".join(f"<item><link>{link}</link></item>" for link in links)

    async def read(site: Connector) -> list[str]:
        return [one.url async for some in site.list_posts() for one in some]

    with web_server() as site:
        site.serve("/feed", f"<rss><channel>{items}</channel></rss>".encode(), "application/rss+xml")
        with_site = run_with("feed", site.url("/feed"), {}, SiteFacts())
        assert with_site(read) == ["https://harbour.example/tide"]
        monkeypatch.setattr(feed, "MAX_FEED_BYTES", 100)
        assert refusal(with_site).code == "site_too_large"


SITEMAP = """<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{one}</loc></url></urlset>"""


class TestSitemap(TestFeed):
    @pytest.fixture
    def feed(self) -> Iterator[WebServer]:
        with web_server() as running:
            parts = f"<sitemapindex><sitemap><loc>{running.url('/part.xml')}</loc></sitemap></sitemapindex>"
            running.serve("/feed", parts.encode(), "application/xml")
            running.serve("/part.xml", SITEMAP.format(one=running.url("/tide")).encode(), "application/xml")
            yield running


def refusal(with_site: With, do: Callable[[Connector], Any] = lambda site: site.look_up()) -> SiteTrouble:
    with pytest.raises(SiteTrouble) as raised:
        with_site(do)
    return raised.value


def test_a_wrong_password_is_told_with_the_remedy(site_wordpress: WordPress) -> None:
    trouble = refusal(run_with("wordpress", site_wordpress.url, {"user": "admin", "password": "no"}, SiteFacts()))

    assert trouble.code == "site_access_revoked"
    assert "make a new one under Users, Profile, Application Passwords" in trouble.message


def test_a_user_who_may_write_nothing_is_told_by_the_abilities(site_wordpress: WordPress) -> None:
    login = {"user": "reader", "password": site_wordpress.passwords["reader"]}
    with_site = run_with("wordpress", site_wordpress.url, login, SiteFacts())

    facts: SiteFacts = with_site(lambda site: site.look_up())

    assert facts.abilities == ()
    assert facts.language == "en-US"  # the user's, as it may not read the site's


def test_a_language_that_is_told_in_words_is_none() -> None:
    told = ("English", "de-DE-formal", "", "x" * 40, None)

    assert [SiteFacts(language=one).language for one in told] == [None, "de-DE-formal", None, None, None]


@pytest.mark.parametrize(
    ("status", "body", "code", "said"),
    [
        (200, b"<html>Please sign in</html>", "site_no_json", "with a web page instead of JSON (HTTP 200)"),
        (403, b"<html>Checking your browser</html>", "site_no_json", "A login page or a firewall blocks the way"),
        (200, b'{"hello": 1}', "site_not_wordpress", "shows no WordPress REST API"),
        (503, b"busy", "site_unavailable", "answers with HTTP 503"),
    ],
)
def test_what_is_no_rest_api_is_told_in_one_line(status: int, body: bytes, code: str, said: str) -> None:
    with web_server() as site:
        site.say("/wp-json/", Answer(reply(status, body, {"Content-Type": "text/html"})))
        site.serve("/", b"<html></html>", "text/html")
        trouble = refusal(run_with("wordpress", site.url(""), {"user": "u", "password": "p"}, SiteFacts()))

    assert trouble.code == code
    assert said in trouble.message
    assert "\n" not in trouble.message


LOGIN = {"user": "u", "password": "p"}


def rest_api(site: WebServer, facts: SiteFacts | None = None, **answers: Any) -> With:
    """Serve JSON by the end of its path, as WordPress's REST API would; return what opens that."""
    site.serve("/wp-json/", b'{"namespaces": []}', "application/json")
    for name, answer in answers.items():
        headers = {"X-WP-TotalPages": "999999999"}
        site.serve(f"/wp-json/wp/v2/{name}", json.dumps(answer).encode(), "application/json", **headers)
    return run_with("wordpress", site.url(""), LOGIN, facts or SiteFacts(root=site.url("/wp-json/")))


@pytest.mark.parametrize("users", [[], None, "x", {"capabilities": 7}, {"capabilities": {"manage_options": True}}])
def test_json_of_another_form_is_told_in_one_line(users: Any) -> None:
    with web_server() as site:
        site.serve("/wp-json/wp/v2/users/me", json.dumps(users).encode(), "application/json")
        trouble = refusal(rest_api(site, settings=[]))

    assert trouble.code in ("site_unreadable", "site_no_json")
    assert "\n" not in trouble.message


def test_a_message_of_a_site_is_shown_in_one_line_that_a_row_can_hold() -> None:
    with web_server() as site:
        told = {"code": "no", "message": "Not\x00 \ud800\nnow"}
        site.say("/wp-json/wp/v2/posts/1", Answer(reply(403, json.dumps(told).encode(), {})))
        trouble = refusal(rest_api(site), lambda opened: opened.read("posts/1"))

    assert "refuses this: Not   now (no)." in trouble.message


def test_a_site_that_is_not_added_yet_may_not_send_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sites, "FIRST_BYTES", 10)
    monkeypatch.setenv("PRESSROOM_FETCH__ALLOW_NETWORKS", "127.0.0.0/8")
    with web_server() as site:
        rest_api(site)
        with pytest.raises(SiteTrouble, match="more than 10 bytes"):
            asyncio.run(sites.look_up(Settings(data=tmp_path), "wordpress", site.url(""), LOGIN))


def test_a_list_without_an_end_is_not_read_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordpress, "MOST_PAGES", 3)

    async def read(opened: Connector) -> int:
        return len([part async for part in opened.list_pictures()])

    with web_server() as site:
        trouble = refusal(rest_api(site, media=[]), read)
        assert len(site.asked) == 3

    assert trouble.code == "site_too_large"


def test_a_redirect_is_not_followed_with_the_password() -> None:
    with web_server() as site:
        site.redirect("/wp-json/", "https://other.example/wp-json/")
        trouble = refusal(run_with("wordpress", site.url(""), {"user": "u", "password": "p"}, SiteFacts()))

    assert trouble.code == "site_moved"
    assert site.asked == ["/wp-json/"]


def test_a_private_address_is_refused_unless_the_operator_allows_its_network(site_wordpress: WordPress) -> None:
    with_site = run_with(
        "wordpress", site_wordpress.url, {"user": "admin", "password": "x"}, SiteFacts(), FetchSettings()
    )

    trouble = refusal(with_site)

    assert trouble.code == "site_blocked"
    assert "let the operator allow its network" in trouble.message
