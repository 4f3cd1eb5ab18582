"""Fields of posts and pictures: whose text stands there, and what undo restores, without a site."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from capabilities.sites.changes import Change
from capabilities.sites.connectors.connector import Connector, SiteFacts, SitePicture, SitePost, Values
from capabilities.sites.connectors.trouble import SiteTrouble
from capabilities.sites.feeds import Episode
from capabilities.sites.markup import headings_of, images, is_missing, put_back, replaced, text_of
from capabilities.sites.parts import edited, shown
from capabilities.sites.runs import Run
from capabilities.sites.sites import MAX_NAME, Site, name_of
from capabilities.sites.working.finding import Uses, find_posts, mentioned
from capabilities.sites.working.post_parts import FilePart, requests_of
from capabilities.sites.working.writing import Field, Outcome, PlainField, Plan, PostAlts, Writer
from capabilities.speech.kinds.batch import SpeechBatchRequest
from pipeline.database import Statement
from pipeline.errors import Gone

NOW = datetime.now(UTC)


class Memory(Connector):
    """A site of one object, which keeps what it is sent."""

    def __init__(self, **values: Any) -> None:
        self.values = values

    async def look_up(self) -> SiteFacts:
        return SiteFacts()

    async def list_posts(self) -> AsyncIterator[Sequence[SitePost]]:
        yield ()

    async def read(self, target: str) -> Values:
        return dict(self.values)

    async def write(self, target: str, values: Values) -> Values:
        self.values |= values
        return dict(self.values)


def change(field: str, state: str, *, before: Any = None, proposed: Any = None, written: Any = None) -> Change:
    return Change(1, uuid4(), "posts/7", field, {}, state, None, 0.9, False, before, proposed, written, None)


def plan(field: Field, one: Change, **values: Any) -> Plan | Outcome:
    return asyncio.run(field.plan(Memory(**values), one, values))


def undo(field: Field, one: Change, **values: Any) -> tuple[str, Any]:
    """Return the state of a change that was undone, and what stands on the site then."""
    site = Memory(**values)
    return asyncio.run(field.undo(site, one, values)).state, site.values[
        one.field if one.field in values else "content"
    ]


def test_a_file_that_was_deleted_before_it_was_accepted_fails_alone() -> None:
    def gone(_: str) -> bytes:
        raise Gone("It was deleted.")

    found = plan(FilePart(gone), change("cover", "accepted", proposed={"artifact": "a"}), cover=None)

    assert isinstance(found, Outcome)
    assert found.state == "failed"


@pytest.mark.parametrize(
    ("sent", "now", "state"),
    [
        ("A <b>boat</b> & 50%20 sails", "A boat & 50 sails", "written"),
        ("A boat", "By hand", "conflict"),
        (["Fog", "boats"], ["boats", "fog"], "written"),
        (["fog", "boats"], ["boats"], "conflict"),
    ],
)
def test_after_a_kill_only_what_a_site_may_have_made_of_our_text_is_ours(sent: Any, now: Any, state: str) -> None:
    before: Any = [] if isinstance(sent, list) else ""
    one = change("excerpt", "writing", before=before, proposed=sent, written=sent)

    found = plan(PlainField(), one, excerpt=now)

    assert isinstance(found, Outcome)
    assert found.state == state
    assert undo(PlainField(), one, excerpt=now) == (("undone", before) if state == "written" else ("conflict", now))


def test_a_text_that_somebody_wrote_equal_to_ours_stays_after_an_undo() -> None:
    found = plan(PlainField(), change("alt_text", "accepted", before="", proposed="A boat"), alt_text="A boat")

    assert isinstance(found, Outcome)
    assert (found.state, found.written) == ("written", None)
    assert undo(PlainField(), change("alt_text", "written", before=""), alt_text="A boat") == ("undone", "A boat")


#: Our text stands in the second; the third had a file's name.
BOATS = '<img src="/a.jpg" alt="A boat"><img src="/a.jpg" alt=""><p>Fog</p><img src="/a.jpg" alt="IMG_1">'


def filled() -> tuple[str, list[tuple[str, str]]]:
    """Return the content with our texts, and what a change notes of it."""
    found = plan(PostAlts(), change("alts", "accepted", proposed={"media/1": ["/a.jpg", "A boat"]}), content=BOATS)
    assert isinstance(found, Plan)
    return found.values["content"], found.written


def test_equal_texts_of_an_author_in_a_post_stay_and_each_of_ours_becomes_what_it_was() -> None:
    content, written = filled()
    assert content.count('alt="A boat"') == 3

    assert undo(PostAlts(), change("alts", "written", written=written), content=content) == ("undone", BOATS)
    resumed = change("alts", "writing", proposed={"media/1": ["/a.jpg", "A boat"]}, written=written)
    again = plan(PostAlts(), resumed, content=BOATS)
    assert isinstance(again, Plan)
    assert again.written == written


def test_a_post_whose_equal_pictures_were_moved_since_is_left_to_its_author() -> None:
    content, written = filled()
    fewer = content.replace('<img src="/a.jpg" alt="A boat">', "", 1)

    assert undo(PostAlts(), change("alts", "written", written=written), content=fewer) == ("conflict", fewer)


def test_one_old_tag_comes_back_wherever_its_new_one_was_copied_to() -> None:
    pairs = [("<img>", '<img alt="x">')]
    assert put_back(replaced("<img>", pairs) * 2, pairs) == "<img><img>"


def test_a_heading_of_two_sentences_is_a_chapter_and_one_that_is_not_heard_costs_no_other() -> None:
    said = ["The regatta.", "Why now?", "Because of the tide.", "The race", "Boats sail."]
    sentences = [(float(n), n + 1.0, text) for n, text in enumerate(said)]
    headings = ["Why now? Because of the tide.", "Not spoken", "The race"]
    episode = Episode(
        uuid4(), 1, uuid4(), "posts/7", {"page": "The regatta"}, {"sentences": sentences}, {"headings": headings},
        None, None, 1, None, None,  # type: ignore[arg-type]  # its moment is not asked for
    )  # fmt: skip

    assert list(episode.chapters()) == [(0, "The regatta"), (1.0, headings[0]), (3.0, "The race")]


def test_tags_of_the_sites_own_list_are_found_as_whole_words() -> None:
    assert mentioned("The ferry and the Ferry race in C++", ["Race", "ferry", "car", "C++"]) == ["ferry", "Race", "C++"]


@pytest.mark.parametrize("text", ["<img ", "<img \"<img '", "<script", "<!--", "<", "<a", "<h2>", "<h2 ", "1"])
def test_unclosed_markup_does_not_stop_a_sweep_for_hours(text: str) -> None:
    html = text * 200_000

    assert list(images(html)) == []
    assert headings_of(html) == []
    assert len(text_of(html)) <= len(html)
    assert not is_missing(f"{html}x")


def test_tags_are_told_from_signs_and_their_quotes_are_kept_together() -> None:
    html = "<!-- wp:x {\"a\": \"<b>\"} -->5 < 6 <p title='a > b'>boats</p><script>'<p>'</script> I <3 you"

    assert text_of(html) == "5 < 6 boats I <3 you"


@pytest.mark.parametrize("url", ["http://[site]/boat-1.jpg", "//[boat-1.jpg", "http://a\u2100b/boat-1.jpg"])
def test_a_picture_whose_address_can_not_be_read_lacks_a_text_like_any_other(url: str) -> None:
    uses = Uses()
    post = SitePost("posts/7", "", "", is_published=True, values={"content": f'<img src="{url}" alt="">'})

    uses.add(post)

    (use,) = uses.of(SitePicture("media/1", url, ""))
    assert use.lacks_alt
    assert is_missing("boat-1", url)


def test_a_list_is_read_no_further_than_to_the_posts_that_were_named() -> None:
    class Site(Memory):
        async def list_posts(self) -> AsyncIterator[Sequence[SitePost]]:
            for number in (2, 1, 0):
                assert number, "nobody asks for it"
                values = {"content": "", "excerpt": ""}
                url = f"https://harbour.example/{number}/"
                yield [SitePost(f"posts/{number}", "", url, is_published=True, values=values)]

    async def find(*posts: str) -> list[str]:
        found = find_posts(Site(), {"parts": ["excerpt"], "posts": posts}, SiteFacts(abilities=("excerpt",)))
        return [one.target async for some in found for one in some]

    assert asyncio.run(find("posts/2", "https://harbour.example/1")) == ["posts/2", "posts/1"]


def test_an_address_that_no_post_has_is_told() -> None:
    async def find(name: str) -> None:
        async for _ in find_posts(Memory(), {"parts": ["excerpt"], "posts": [name]}, SiteFacts()):
            pass

    with pytest.raises(SiteTrouble, match=r"lists no post https://harbour\.example/none\."):
        asyncio.run(find("https://harbour.example/none/"))
    asyncio.run(find("posts/9"))  # a watch's, which may have been deleted since


def test_sites_of_one_host_do_not_take_each_others_place() -> None:
    urls = ["https://www.harbour.example", "https://harbour.example/de", "https://harbour.example/?feed=rss2"]
    long = [f"https://harbour.example/{'news/' * 20}{end}" for end in ("a", "b")]

    names = [name_of(url) for url in (*urls, *long)]

    assert names[:3] == ["harbour.example", "harbour.example/de", "harbour.example/?feed=rss2"]
    assert len(set(names)) == 5
    assert max(map(len, names)) == MAX_NAME


def test_what_a_program_replaces_is_not_spoken() -> None:
    html = (
        '<p>Boats [sic] race.</p>[gallery ids="1,2"]\n\n[caption id="a" width="9"]<img src="/a.jpg"> Fog[/caption]\n\n'
        '<figure><div class="wp-block-embed__wrapper">\nhttps://video.example/1\n</div></figure>'
        "<script>let a;\n\nlet b;</script><p>See https://harbour.example.</p>[embed]https://video.example/2[/embed]\r\n\r\nhttps://video.example/3"
    )
    site = Site(uuid4(), uuid4(), "harbour", "wordpress", "https://harbour.example", None, {}, None, None, NOW)

    ((_, request, _),) = requests_of([change("audio", "found")], {"content": html}, site, {})

    assert isinstance(request, SpeechBatchRequest)
    assert request.text.split("\n\n") == ["Untitled.", "Boats [sic] race.", "Fog", "See https://harbour.example."]


def test_each_kind_of_proposal_is_shown_as_a_line_that_can_be_sent_back() -> None:
    cover, audio = {"artifact": "a", "alt_text": ""}, {"artifact": "a", "seconds": 3, "voice": "Heart"}
    texts = {"media/1": ["/a.jpg", "A boat"]}

    assert [shown(one) for one in (cover, audio, texts)] == ["", "3 s, Heart", "Alt texts of its pictures"]
    assert [edited(shown(one), one, "") for one in (audio, texts)] == [audio, texts]


def test_nothing_is_written_to_a_site_that_was_removed_since() -> None:
    class Removed:
        def run(self, statement: Statement[Any]) -> bool:
            return "site_change" not in statement.sql  # the run stood there a moment ago

    site = Memory(excerpt="")
    run = Run(uuid4(), uuid4(), "posts", {}, "writing", None, NOW, None)
    writer = Writer(Removed(), run, site, {})  # type: ignore[arg-type]  # two statements alone are run

    with pytest.raises(SiteTrouble):
        asyncio.run(writer.write([change("excerpt", "accepted", before="", proposed="Boats race.")]))
    assert site.values == {"excerpt": ""}
