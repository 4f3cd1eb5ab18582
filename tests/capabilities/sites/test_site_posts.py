"""`pressroom site posts` on a real WordPress: excerpt, tags, category, cover and audio, written and undone."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from payers import Payer
from ran import Ran
from sites_fixtures import System, picture, spent
from test_site_alt_texts import settle
from wordpress_site import WordPress

from capabilities.sites import feeds, runs
from capabilities.sites.changes import list_changes, review
from capabilities.sites.runs import Run
from capabilities.sites.working.feeding import SiteFeeds
from capabilities.speech.routes.lexicon import replace_lexicon
from pipeline.lifecycle import ClaimedItem, Outcome
from pipeline.storage.artifacts import Artifacts, episode_key, open_store

#: Eight frames of silence: MPEG 1, layer III, 128 kbit/s at 44.1 kHz.
MP3 = b"ID3\x04" + bytes(6) + 8 * (b"\xff\xfb\x90\x00" + bytes(413))
PARTS = ("excerpt", "tags", "categories", "cover", "audio")


class Desk:
    """Doubles of the engines of posts and of speech; `category` is what the first one chooses."""

    def __init__(self, system: System) -> None:
        self.artifacts = Artifacts(open_store(system.settings))
        self.category = "Harbour"
        self.confidence: float | None = 0.8
        self.asked: list[dict[str, Any]] = []

    def make(self, item: ClaimedItem) -> Outcome:
        self.asked.append(dict(item.input))
        key = f"2099-01-01/{item.job_id}/0/made"
        if "text" in item.input:
            self.artifacts.put(key, MP3)
            output: dict[str, Any] = {"artifact": key, "duration_seconds": 3.2, "voice": "Heart"}
        else:
            self.artifacts.put(key, picture(9))
            image = {
                "artifact": key, "style": "abstract", "description": "Waves in blue", "content_type": "image/jpeg",
                "width": 64, "height": 48, "expires_at": datetime(2099, 1, 1, tzinfo=UTC).isoformat(),
            }  # fmt: skip
            output = {
                "images": [image], "excerpt": "Boats “race” & win.", "category": self.category, "language": "en",
                "category_confidence": self.confidence, "tags": ["boats", "Fish & chips"], "warnings": [],
                "generated_at": "now",
            }  # fmt: skip
        return Outcome(item.item_id, "done", item.price, output, engine="made-up")


@pytest.fixture
def desk(system: System) -> Desk:
    found = Desk(system)
    system.worker.lanes = {"blog_metadata": 1, "speech_batch": 1}
    system.engine.describe = found.make  # type: ignore[method-assign]  # the worker's only engine here
    return found


def begin(system: System, **options: Any) -> Run:
    run, _ = system.database.run(runs.start_run(system.site().id, "posts", {"parts": list(PARTS), **options}))
    return settle(system, run)


def fields(site: WordPress, post: int) -> dict[str, Any]:
    found = site.ask("GET", f"/posts/{post}?context=edit")
    return {name: found[name] for name in ("tags", "categories", "featured_media")} | {
        "excerpt": found["excerpt"]["raw"],
        "content": found["content"]["raw"],
    }


def files(site: WordPress) -> list[str]:
    return sorted(one["mime_type"] for one in site.ask("GET", "/media?per_page=100"))


def test_a_post_gets_what_was_chosen_is_seen_before_and_undone(
    add_site: Callable[..., Ran], pressroom: Callable[..., Ran], system: System, desk: Desk,
    site_wordpress: WordPress, payer: Payer,
) -> None:  # fmt: skip
    site_wordpress.ask("POST", "/categories", {"name": "Harbour"})
    for name in ("Boats", "Race", "Ferry"):
        site_wordpress.ask("POST", "/tags", {"name": name})
    add_site()
    post = site_wordpress.add_post("Regatta", "<!-- wp:paragraph -->\n<p>Boats \\ race.</p>\n<!-- /wp:paragraph -->")
    draft = site_wordpress.add_post("Draft", "<p>Not yet.</p>", status="draft")
    before = fields(site_wordpress, post["id"])

    run = begin(system)

    assert run.state == "review"
    assert fields(site_wordpress, post["id"]) == before
    changes = system.database.run(list_changes(run.id))
    assert [one.field for one in changes] == list(PARTS)
    assert [one.draft for one in changes] == [False] * 5
    system.database.run(review(run.id, {one.id: one.proposed for one in changes}))
    system.database.run(runs.move(run.id, of=["review"], to="writing"))
    assert settle(system, run).state == "done"
    assert {one.field: one.note for one in system.database.run(list_changes(run.id)) if one.state != "written"} == {}

    after = fields(site_wordpress, post["id"])
    names = {one["id"]: one["name"] for one in site_wordpress.ask("GET", "/tags?per_page=100")}
    assert after["excerpt"] == "Boats “race” & win."
    # Its own tags that the post mentions, in its own spelling; and then the engine's.
    assert [one.proposed for one in changes if one.field == "tags"] == [["Boats", "Race", "Fish & chips"]]
    assert sorted(names[number] for number in after["tags"]) == ["Boats", "Fish &amp; chips", "Race"]
    assert site_wordpress.ask("GET", f"/categories/{after['categories'][0]}")["name"] == "Harbour"
    assert site_wordpress.alt_text(after["featured_media"]) == "Waves in blue"
    assert after["content"].startswith("<!-- wp:audio")
    assert after["content"].endswith(before["content"])
    assert files(site_wordpress) == ["audio/mpeg", "image/jpeg"]
    assert fields(site_wordpress, draft["id"])["excerpt"] == ""
    assert spent(system.database, payer.account_id) == 4

    system.database.run(runs.begin_undo(system.site().id))
    assert settle(system, run).state == "undone"
    assert fields(site_wordpress, post["id"]) == before
    assert files(site_wordpress) == []


def test_a_file_that_a_kill_has_left_without_a_note_is_taken_up_again(
    add_site: Callable[..., Ran], system: System, desk: Desk, site_wordpress: WordPress
) -> None:
    add_site()
    post = site_wordpress.add_post("Regatta", "<p>Boats race.</p>")
    run = begin(system, parts=["audio"])
    (change,) = system.database.run(list_changes(run.id))
    name = f"posts-{post['id']}-audio-{run.id.hex[:12]}-{change.id}.mp3"
    headers = {"Content_Type": "audio/mpeg", "Content_Disposition": f'attachment; filename="{name}"'}
    left = site_wordpress.ask("POST", f"/media?post={post['id']}", MP3, **headers)

    system.database.run(review(run.id, {change.id: change.proposed}))
    system.database.run(runs.move(run.id, of=["review"], to="writing"))
    settle(system, run)

    (change,) = system.database.run(list_changes(run.id))
    assert (change.state, change.written["made"]) == ("written", f"media/{left['id']}")
    assert files(site_wordpress) == ["audio/mpeg"]


def test_a_post_of_the_old_editor_keeps_its_paragraphs(
    add_site: Callable[..., Ran], system: System, desk: Desk, site_wordpress: WordPress
) -> None:
    add_site()
    post = site_wordpress.add_post("Regatta", "Boats race.\n\nFog rises.")["id"]

    begin(system, parts=["audio"], at_least=0)

    shown = site_wordpress.ask("GET", f"/posts/{post}")["content"]["rendered"]
    assert "<audio" in shown
    assert "<p>Boats race.</p>" in shown
    assert "<p>Fog rises.</p>" in shown


def test_audio_is_spoken_by_the_lexicon_of_the_account(
    add_site: Callable[..., Ran], system: System, desk: Desk, site_wordpress: WordPress, payer: Payer
) -> None:
    add_site()
    entries = [{"word": "Siobhan", "replacement": "Shivawn"}, {"word": "unused", "replacement": "never"}]
    system.database.run(replace_lexicon(payer.account_id, entries))
    site_wordpress.add_post("Regatta", "<p>Siobhan races.</p>")

    begin(system, parts=["audio"])

    (asked,) = desk.asked
    assert [one["word"] for one in asked["lexicon"]] == ["Siobhan"]


def test_a_category_that_the_site_does_not_have_is_a_draft(
    add_site: Callable[..., Ran], system: System, desk: Desk, site_wordpress: WordPress
) -> None:
    add_site()
    desk.category = "Astronomy"
    site_wordpress.add_post("Regatta", "<p>Boats race.</p>")

    run = begin(system, parts=["categories"], at_least=0.5)

    (change,) = system.database.run(list_changes(run.id))
    assert (run.state, change.proposed, change.draft) == ("review", ["Astronomy"], True)


def test_a_cover_that_somebody_has_chosen_meanwhile_stays_and_one_post_can_be_named(
    add_site: Callable[..., Ran], system: System, desk: Desk, site_wordpress: WordPress
) -> None:
    add_site()
    post = site_wordpress.add_post("Regatta", "<p>Boats race.</p>", status="draft")
    site_wordpress.add_post("Other", "<p>No.</p>")
    run = begin(system, parts=["cover"], posts=[f"posts/{post['id']}"])
    theirs = site_wordpress.add_picture("theirs.jpg", picture(3))["id"]
    site_wordpress.ask("POST", f"/posts/{post['id']}", {"featured_media": theirs})
    (change,) = system.database.run(list_changes(run.id))

    system.database.run(review(run.id, {change.id: change.proposed}))
    system.database.run(runs.move(run.id, of=["review"], to="writing"))
    settle(system, run)

    (change,) = system.database.run(list_changes(run.id))
    assert change.state == "conflict"
    assert fields(site_wordpress, post["id"])["featured_media"] == theirs
    assert files(site_wordpress) == ["image/jpeg"]


def test_without_a_confidence_nothing_is_written_without_a_person_and_audio_has_one(
    add_site: Callable[..., Ran], system: System, desk: Desk, site_wordpress: WordPress
) -> None:
    add_site()
    desk.confidence = None
    site_wordpress.add_post("Regatta", "<p>Boats race.</p>")

    run = begin(system, at_least=0)

    found = {one.field: one.state for one in system.database.run(list_changes(run.id))}
    assert found == {**dict.fromkeys(PARTS, "proposed"), "audio": "written"}


def test_a_post_that_is_too_long_to_speak_is_told_and_costs_nothing(
    add_site: Callable[..., Ran], system: System, desk: Desk, site_wordpress: WordPress, payer: Payer
) -> None:
    add_site()
    site_wordpress.add_post("Regatta", f"<p>{'Boats race. ' * 2_000}</p>")

    run = begin(system, parts=["audio"], at_least=0)

    (change,) = system.database.run(list_changes(run.id))
    assert (change.state, desk.asked, spent(system.database, payer.account_id)) == ("failed", [], 0)
    assert "audio takes at most 20,000" in str(change.note)


def test_a_spoken_draft_becomes_an_episode_when_it_is_published_and_gets_its_later_cover(
    add_site: Callable[..., Ran], system: System, desk: Desk, site_wordpress: WordPress
) -> None:
    add_site()
    post = site_wordpress.add_post("Regatta", "<p>Boats race.</p>", status="draft")
    site = system.site().id
    system.database.run(feeds.make_feed(site, "https://press.example/feeds", {"category": "News", "image": ""}))
    begin(system, parts=["audio"], posts=[f"posts/{post['id']}"], at_least=0)
    SiteFeeds(system.settings).work(system.database)
    assert system.database.run(feeds.list_episodes(site)) == []

    site_wordpress.ask("POST", f"/posts/{post['id']}", {"status": "publish"})
    chore = SiteFeeds(system.settings)
    chore.work(system.database)

    (episode,) = system.database.run(feeds.list_episodes(site))
    assert episode.about["page_url"] == site_wordpress.ask("GET", f"/posts/{post['id']}")["link"]
    assert (episode.about["published_at"] is None, episode.cover) == (False, None)
    begin(system, parts=["cover"], at_least=0)
    chore.work(system.database)
    (episode,) = system.database.run(feeds.list_episodes(site))
    assert episode.cover == "cover.jpg"
    assert desk.artifacts.get(episode_key(episode.id, "cover.jpg")) == picture(9)


def test_a_post_that_is_withdrawn_leaves_the_podcast_and_comes_back_with_it(
    add_site: Callable[..., Ran], system: System, desk: Desk, site_wordpress: WordPress
) -> None:
    add_site()
    site_wordpress.add_post("Old", "<p>Fog.</p>", date="2020-01-01T00:00:00")
    posts = [site_wordpress.add_post(f"Regatta {n}", "<p>Boats race.</p>")["id"] for n in (1, 2)]
    site = system.site().id
    system.database.run(feeds.make_feed(site, "https://press.example/feeds", {"category": "News", "image": ""}))
    begin(system, parts=["audio"], posts=[f"posts/{post}" for post in posts], at_least=0)

    def episodes() -> list[str]:
        SiteFeeds(system.settings).work(system.database)
        return sorted(one.title for one in system.database.run(feeds.list_episodes(site)))

    assert episodes() == ["Regatta 1", "Regatta 2"]
    site_wordpress.ask("POST", f"/posts/{posts[0]}", {"status": "private"})
    site_wordpress.ask("DELETE", f"/posts/{posts[1]}")  # to the bin
    assert episodes() == []
    site_wordpress.ask("POST", f"/posts/{posts[0]}", {"status": "publish"})
    assert episodes() == ["Regatta 1"]
