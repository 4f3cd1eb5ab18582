"""The connector of Ghost on a real Ghost 6 (`make ghost`)."""

import json
import sqlite3
import time
from collections.abc import Iterator
from typing import Any, ClassVar

import ghost_site
import pytest
from connector_suite import ConnectorSuite, With
from ghost_site import Ghost, image, words
from sites_fixtures import picture
from test_connectors import run_with
from tools import skip
from waiting import wait_for
from webhook_receiver import webhook_receiver

from capabilities.sites.connectors.connector import Connector, SiteFacts
from capabilities.sites.connectors.trouble import SiteTrouble
from capabilities.sites.markup import fill_alts, replaced
from capabilities.sites.working.finding import find_pictures, find_posts


@pytest.fixture(scope="module")
def site_ghost(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ghost]:
    if (why := ghost_site.missing()) is not None:
        skip("ghost", why)
    with ghost_site.ghost(tmp_path_factory.mktemp("ghost")) as running:
        yield running


@pytest.fixture
def with_site(site_ghost: Ghost) -> With:
    return run_with("ghost", site_ghost.url, {"password": site_ghost.key}, SiteFacts())


@pytest.fixture
def post(site_ghost: Ghost) -> str:
    return f"posts/{site_ghost.add_post('Pier', words('Boats & sails.'))['id']}"


class TestGhost(ConnectorSuite):
    written: ClassVar[dict[str, Any]] = {"excerpt": 'Fish & “chips” — 5 < 6 "test" 🚤', "tags": ["Fish & chips", "sea"]}
    forgets_files: ClassVar[bool] = True

    @pytest.fixture
    def gone(self) -> str:
        return "posts/6543210fedcba9876543210f"


def test_pictures_in_posts_and_covers_get_texts_and_a_post_a_player_and_all_is_put_back(
    site_ghost: Ghost, with_site: With
) -> None:
    (boat, _), (fog, _) = [
        with_site(lambda site, n=n: site.upload(f"boat{n}.jpg", picture(n), "image/jpeg")) for n in (1, 2)
    ]
    sound, _ = with_site(lambda site: site.upload("spoken.mp3", b"ID3\x04" + bytes(400), "audio/mpeg"))
    card = {"type": "html", "version": 1, "html": f'<p>Tide <img src="{fog}" alt=""></p>'}  # its picture is no card
    cards = (card, image(boat), words('Boats "race".'), image(fog, "Fog"))
    made = site_ghost.add_post("Regatta", *cards, feature_image=fog)
    post, before = f"posts/{made['id']}", site_ghost.read_post(made["id"])

    async def found(site: Connector) -> dict[str, Any]:
        changes = [one async for some in find_pictures(site, {"posts": [post]}) for one in some]
        return {one.target: one.about["posts"] for one in changes}

    assert with_site(found) == {f"picture/{boat}": [post], f"cover/{post}": []}

    async def write(site: Connector) -> None:
        assert (await site.write(f"cover/{post}", {"alt_text": "Fog over water"}))["alt_text"] == "Fog over water"
        content = (await site.read(post) or {})["content"]
        changed = site.player(sound, sound) + replaced(content, fill_alts(content, {"": (boat, 'A "red" boat')}))
        assert (await site.write(post, {"content": changed}))["content"] == changed

    with_site(write)
    after = site_ghost.read_post(made["id"])
    assert after["feature_image_alt"] == "Fog over water"
    assert 'alt="A &quot;red&quot; boat"' in after["html"]
    assert "<audio" in after["html"]

    async def undo(site: Connector) -> None:
        content = (await site.read(post) or {})["content"].removeprefix(site.player(sound, sound))
        await site.write(post, {"content": content.replace("A &quot;red&quot; boat", "")})
        await site.write(f"cover/{post}", {"alt_text": ""})

    with_site(undo)
    restored = site_ghost.read_post(made["id"])
    assert json.loads(restored["lexical"]) == json.loads(before["lexical"])
    assert restored["html"] == before["html"]
    assert restored["feature_image_alt"] is None


def test_words_are_never_changed(with_site: With, post: str) -> None:
    with pytest.raises(SiteTrouble, match="only the texts of pictures"):
        with_site(lambda site: site.write(post, {"content": "<p>Other words.</p>\n\n"}))


def test_a_picture_that_a_post_holds_itself_is_left_alone(site_ghost: Ghost, with_site: With) -> None:
    held = f"data:image/png;base64,{'A' * 3_000}"
    site_ghost.add_post("Pasted", image(held))

    async def targets(site: Connector) -> list[str]:
        return [one.target async for some in site.list_pictures() for one in some]

    assert f"picture/{held}" not in with_site(targets)


def test_a_wrong_key_is_told_in_one_line(site_ghost: Ghost) -> None:
    for key, code in (("none", "site_bad_key"), (f"{site_ghost.key[:-2]}00", "site_access_revoked")):
        with pytest.raises(SiteTrouble) as caught:
            run_with("ghost", site_ghost.url, {"password": key}, SiteFacts())(lambda site: site.look_up())
        assert caught.value.code == code


def test_a_post_of_the_old_editor_is_refused_before_it_costs_anything(site_ghost: Ghost, with_site: With) -> None:
    mobiledoc = {"version": "0.3.1", "atoms": [], "cards": [["image", {"src": f"{site_ghost.url}/old.jpg"}]],
                 "markups": [], "sections": [[1, "p", [[0, [], 0, "Boats race."]]], [10, 0]]}  # fmt: skip
    number = site_ghost.add_post("Old", words("Boats race."))["id"]
    with sqlite3.connect(site_ghost.rows) as rows:  # its API makes no such post any more
        rows.execute("UPDATE posts SET lexical = NULL, mobiledoc = ? WHERE id = ?", (json.dumps(mobiledoc), number))
    made = f"posts/{number}"

    async def found(site: Connector) -> list[Any]:
        facts, options = await site.look_up(), {"posts": [made], "parts": ["excerpt", "audio"]}
        posts = [one async for some in find_posts(site, options, facts) for one in some]
        return [one async for some in find_pictures(site, {"posts": [made]}) for one in some] + posts

    assert [(one.field, bool(one.refusal)) for one in with_site(found)] == [("excerpt", False), ("audio", True)]


def test_a_site_calls_when_a_post_is_published_until_nobody_is_there(site_ghost: Ghost, with_site: With) -> None:
    with webhook_receiver() as service:
        service.answers = [(204, {}), (410, {})]
        for _ in range(2):
            with_site(lambda site: site.subscribe(service.url))
        for number in (1, 2):
            site_ghost.add_post("News", words("Boats race."))
            wait_for(lambda number=number: len(service.events) == number)
        time.sleep(1)
        site_ghost.add_post("Last", words("Boats race."))
        time.sleep(2)

    assert len(service.events) == 2
