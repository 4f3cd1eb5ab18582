"""Podcasts of sites over HTTP: the feed by the rules of its documents, its files, and its end."""

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from uuid import UUID, uuid4, uuid5
from xml.etree.ElementTree import Element, fromstring

import psycopg
import pytest
from http_service import Service
from payers import Payer
from psycopg.rows import dict_row
from servers import pages_of
from spoken_posts import SpokenPost, add_spoken_post
from web_server import Answer, web_server

from capabilities.sites import feeds, runs
from capabilities.sites.changes import note_outcome
from capabilities.sites.feeds import CATEGORIES, Feed
from capabilities.sites.sites import remove_site
from capabilities.sites.working import feeding
from capabilities.sites.working.feeding import SiteFeeds
from pipeline.database import Database
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store

SOUND, PICTURE = bytes(range(200)), b"\xff\xd8picture"
SENTENCES = [(0.0, 1.0, "The regatta."), (1.2, 1.6, "The race"), (1.8, 3.0, "Boats & sails <go>.")]
ITUNES = "{http://www.itunes.com/dtds/podcast-1.0.dtd}"
PODCAST = "{https://podcastindex.org/namespace/1.0}"
ATOM = "{http://www.w3.org/2005/Atom}"
Add = Callable[..., SpokenPost]
#: A podcast of 1,000 posts, each of which got its parts by a run of its own.
MANY_RUNS = (
    "INSERT INTO account (id, name, tier) VALUES (gen_random_uuid(), 'Acme', 'pro')",
    "INSERT INTO site (id, account_id, name, connector, url, facts)"
    " SELECT gen_random_uuid(), id, 'harbour', 'wordpress', 'https://h.example', '{}' FROM account",
    "INSERT INTO site_feed (site_id, token, guid, options) SELECT id, 't', id, '{}' FROM site",
    "INSERT INTO site_run (id, site_id, task, options, state)"
    " SELECT gen_random_uuid(), s.id, 'posts', '{}', 'done' FROM site s, generate_series(1, 1000)",
    "INSERT INTO site_change (run_id, target, field, about, state, proposed, written)"
    " SELECT r.id, 'posts/' || r.n, field, '{\"is_public\": true}', 'written', '{}', '{}'"
    " FROM (SELECT id, row_number() OVER () AS n FROM site_run) r, unnest(ARRAY['excerpt', 'cover', 'audio']) field",
    "INSERT INTO site_episode (id, change_id, audio_bytes)"
    " SELECT gen_random_uuid(), id, 1 FROM site_change WHERE field = 'audio'",
    "ANALYZE",
)


@pytest.fixture
def chore(open_service: Service, monkeypatch: pytest.MonkeyPatch) -> SiteFeeds:
    monkeypatch.setenv("PRESSROOM_FETCH__ALLOW_NETWORKS", "127.0.0.0/8")
    return SiteFeeds(Settings(data=open_service.data))


@pytest.fixture
def store(open_service: Service) -> Artifacts:
    return Artifacts(open_store(Settings(data=open_service.data)))


@pytest.fixture
def add(api_database: Database, client: Payer, store: Artifacts) -> Add:
    """A function that adds a spoken post."""

    def added(**fields: Any) -> SpokenPost:
        audio, cover = (f"2099-01-01/{uuid4()}/0/{uuid4()}{end}" for end in (".mp3", ".jpg"))
        store.put(audio, SOUND)
        store.put(cover, PICTURE)
        given = {"artifact": audio, "cover": cover, "sentences": SENTENCES, "headings": ["The race"], **fields}
        return add_spoken_post(api_database, client.account_id, **given)

    return added


def make_feed(database: Database, site_id: UUID) -> Feed:
    options = {"category": "News", "image": "https://harbour.example/cover.png"}
    found = database.run(feeds.make_feed(site_id, "https://press.example/feeds", options))
    assert found is not None
    return found


def path_of(feed: Feed) -> str:
    return f"/feeds/{feed.token}.xml"


def read(service: Service, feed: Feed) -> tuple[Element, list[Element]]:
    answer = service.get(path_of(feed))
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"] == "application/rss+xml; charset=utf-8"
    channel = fromstring(answer.body).find("channel")
    assert channel is not None
    return channel, channel.findall("item")


def local(url: str | None) -> str:
    """Return the path of an address of the service."""
    assert url is not None
    return "/" + url.split("/", 3)[3]


def test_a_feed_holds_to_the_rules_of_rss_and_of_the_podcast_namespace(
    open_service: Service, api_database: Database, chore: SiteFeeds, add: Add
) -> None:
    post = add()
    add(target="posts/8", title="Fog\x0b <i>", cover=None, headings=())
    feed = make_feed(api_database, post.site_id)
    assert chore.work(api_database) == 2

    document = fromstring(open_service.get(path_of(feed)).body)
    channel, items = read(open_service, feed)

    # RSS 2.0: "a <rss> element, with a mandatory attribute called version".
    assert (document.tag, document.get("version")) == ("rss", "2.0")
    # "Required channel elements": title, link and description.
    assert channel.findtext("title") == "Harbour & News"
    assert channel.findtext("link") == "https://harbour.example"
    assert channel.findtext("description")
    # RSS Advisory Board, profile: an atom:link with rel="self" names the feed's own address.
    own = channel.find(f"{ATOM}link")
    assert own is not None
    assert (own.get("rel"), own.get("type"), local(own.get("href"))) == ("self", "application/rss+xml", path_of(feed))
    # "All date-times in RSS conform to the Date and Time Specification of RFC 822".
    for moment in [channel.findtext("lastBuildDate"), *(item.findtext("pubDate") for item in items)]:
        assert moment is not None
        assert parsedate_to_datetime(moment).tzinfo is not None
    assert [parsedate_to_datetime(item.findtext("pubDate") or "") for item in items] == 2 * [
        datetime(2026, 5, 4, 10, tzinfo=UTC)
    ]
    # Apple, requirements of a podcast: category of its list, explicit, language, and an image.
    category, image = channel.find(f"{ITUNES}category"), channel.find(f"{ITUNES}image")
    assert category is not None
    assert category.get("text") in CATEGORIES
    assert channel.findtext(f"{ITUNES}explicit") in ("true", "false")
    assert channel.findtext("language") == "en"
    assert image is not None
    assert image.get("href") == "https://harbour.example/cover.png"
    # Podcast namespace, guid: "a UUIDv5 … from the RSS feed url", with "protocol scheme and trailing slashes stripped".
    address = f"press.example{path_of(feed)}"
    assert channel.findtext(f"{PODCAST}guid") == str(uuid5(UUID("ead4c236-bf58-58c6-a2c6-a6b28d128cb6"), address))
    # locked: "The node value must be yes or no." medium: one word of its list.
    assert channel.findtext(f"{PODCAST}locked") in ("yes", "no")
    assert channel.findtext(f"{PODCAST}medium") == "podcast"

    # "at least one of title or description must be present"; a character that XML can't have is left out.
    assert [item.findtext("title") for item in items] == ["Fog <i>", "The regatta"]
    item = items[1]
    assert item.findtext("description") == "Boats race <fast>."
    # guid: "uniquely identifies the item"; "If its value is false, the guid may not be assumed to be a url".
    assert len({one.findtext("guid") for one in items}) == 2
    guid, enclosure = item.find("guid"), item.find("enclosure")
    assert guid is not None
    assert guid.get("isPermaLink") == "false"
    # enclosure: "url says where", "length says how big it is in bytes", and "type … is a standard MIME type".
    assert enclosure is not None
    assert (enclosure.get("length"), enclosure.get("type")) == (str(len(SOUND)), "audio/mpeg")
    assert open_service.get(local(enclosure.get("url"))).body == SOUND
    assert item.findtext(f"{ITUNES}duration") == "3"
    # transcript and chapters: "url (required)", "type (required)".
    transcript, chapters = item.find(f"{PODCAST}transcript"), item.find(f"{PODCAST}chapters")
    assert transcript is not None
    assert chapters is not None
    said = open_service.get(local(transcript.get("url")))
    assert said.headers["content-type"].partition(";")[0] == transcript.get("type") == "text/vtt"
    assert said.body.decode().startswith("WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nThe regatta.\n")
    assert "Boats &amp; sails &lt;go&gt;." in said.body.decode()
    told = open_service.get(local(chapters.get("url")))
    assert told.headers["content-type"] == chapters.get("type") == "application/json+chapters"
    # JSON chapters: "version (required)", "chapters (required)", each with startTime, in ascending order.
    document_of = json.loads(told.body)
    assert document_of["version"] == "1.2.0"
    assert document_of["chapters"] == [
        {"startTime": 0, "title": "The regatta"},
        {"startTime": 1.2, "title": "The race"},
    ]
    cover = item.find(f"{ITUNES}image")
    assert cover is not None
    assert open_service.get(local(cover.get("href"))).body == PICTURE
    # The post without cover and headings has neither.
    assert items[0].find(f"{ITUNES}image") is None
    assert items[0].find(f"{PODCAST}chapters") is None


def test_an_enclosure_is_sent_in_ranges_and_outlives_the_retention_of_jobs(
    open_service: Service, api_database: Database, chore: SiteFeeds, add: Add, store: Artifacts
) -> None:
    feed = make_feed(api_database, add().site_id)
    chore.work(api_database)
    store.delete_expired(date.max)
    _, (item,) = read(open_service, feed)
    path = local(item.find("enclosure").get("url"))  # type: ignore[union-attr]

    part = open_service.get(path, Range="bytes=10-19")
    assert (part.status, part.body) == (206, SOUND[10:20])
    assert part.headers["content-range"] == f"bytes 10-19/{len(SOUND)}"
    head = open_service.request("HEAD", path)
    assert (head.status, head.headers["content-length"], head.headers["accept-ranges"]) == (200, "200", "bytes")
    assert head.headers["content-type"] == "audio/mpeg"
    known = open_service.get(path_of(feed)).headers["etag"]
    assert open_service.get(path_of(feed), If_None_Match=known).status == 304
    assert any(key.startswith("episodes/") for key in store.keys())  # noqa: SIM118  so a backup has it


def test_audio_that_has_expired_is_taken_from_the_site(
    open_service: Service, api_database: Database, chore: SiteFeeds, add: Add
) -> None:
    with web_server() as site:
        post = add(artifact="2020-01-01/gone/0/gone.mp3", url=site.serve("/a.mp3", b"from the site", "audio/mpeg"))
        gone = add(target="posts/8", artifact="2020-01-01/gone/0/gone.mp3", url=site.url("/nothing.mp3"))
        page = site.serve("/sign-in", b"<html>", "text/html")
        add(target="posts/9", artifact="2020-01-01/gone/0/gone.mp3", url=page)
        feed = make_feed(api_database, gone.site_id)
        assert chore.work(api_database) == 1

    _, (item,) = read(open_service, feed)
    assert post.site_id == gone.site_id
    assert open_service.get(local(item.find("enclosure").get("url"))).body == b"from the site"  # type: ignore[union-attr]


def test_audio_that_does_not_end_or_is_too_large_holds_up_no_other(
    chore: SiteFeeds, add: Add, api_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeding, "MOST_SECONDS", 0.5)
    monkeypatch.setattr(feeding, "MOST_BYTES", 100)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\nContent-Length: 99\r\n\r\n"
    with web_server() as site:
        slow = site.say("/slow.mp3", Answer(head, piece=b"x", every=0.1))
        add(artifact="2020-01-01/gone/0/gone.mp3", url=slow)
        large = site.serve("/large.mp3", bytes(101), "audio/mpeg")
        add(target="posts/8", artifact="2020-01-01/gone/0/gone.mp3", url=large)
        make_feed(api_database, add(target="posts/9").site_id)
        assert chore.work(api_database) == 1


def test_a_post_that_not_everybody_may_read_is_no_episode(
    open_service: Service, api_database: Database, chore: SiteFeeds, add: Add
) -> None:
    feed = make_feed(api_database, add(is_public=False).site_id)

    assert chore.work(api_database) == 0
    assert read(open_service, feed)[1] == []


def test_an_address_is_revoked_and_an_ended_feed_leaves_no_file(
    open_service: Service, api_database: Database, chore: SiteFeeds, add: Add, store: Artifacts
) -> None:
    post, other = add(), add(target="posts/8")
    first = make_feed(api_database, post.site_id)
    chore.work(api_database)
    second = make_feed(api_database, post.site_id)

    assert first.token != second.token
    assert first.guid == second.guid
    assert open_service.get(path_of(first)).status == 404
    _, items = read(open_service, second)
    paths = [local(item.find("enclosure").get("url")) for item in items]  # type: ignore[union-attr]
    assert [open_service.get(path).status for path in paths] == [200, 200]

    api_database.run(note_outcome(other.change_id, "undone"))
    assert [open_service.get(path).status for path in paths] == [404, 200]
    chore.work(api_database)
    assert store.episodes() & {path.split("/")[2] for path in paths} == {paths[1].split("/")[2]}
    api_database.run(feeds.end_feed(post.site_id))
    assert [open_service.get(path).status for path in (path_of(second), *paths)] == [404, 404, 404]
    chore.work(api_database)
    assert not store.episodes() & {path.split("/")[2] for path in paths}
    assert api_database.run(runs.read_run(post.run_id)) is not None


def test_files_of_a_site_that_was_removed_are_deleted(
    api_database: Database, client: Payer, chore: SiteFeeds, add: Add, store: Artifacts, open_service: Service
) -> None:
    post = add()
    make_feed(api_database, post.site_id)
    chore.work(api_database)
    (episode,) = api_database.run(feeds.list_episodes(post.site_id))
    api_database.run(remove_site(post.site_id, client.account_id))

    SiteFeeds(Settings(data=open_service.data)).work(api_database)  # as after a restart, or an hour later

    assert str(episode.id) not in store.episodes()


def test_the_runs_of_a_site_are_not_looked_through_for_each_episode(make_database: Callable[..., str]) -> None:
    with psycopg.connect(make_database(), row_factory=dict_row) as rows:
        for statement in MANY_RUNS:
            rows.execute(statement)
        (site,) = rows.execute("SELECT site_id FROM site_feed").fetchall()
        assert pages_of(rows, feeds.list_episodes(site["site_id"])) < 20_000  # with a look at each run, 60,000


def test_the_player_is_a_script_that_any_page_may_load(open_service: Service) -> None:
    answer = open_service.get("/player.js")

    assert answer.status == 200
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
