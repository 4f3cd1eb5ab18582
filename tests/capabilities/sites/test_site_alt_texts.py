"""`pressroom site alt-text` on a real WordPress: proposed, reviewed, written, resumed and undone."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from payers import Payer, discrepancies_of
from ran import Ran
from sites_fixtures import DUE, System, picture, spent
from wordpress_site import WordPress, image_block

from capabilities.sites import runs
from capabilities.sites.changes import Change, count_changes, list_changes, review
from capabilities.sites.chores import chores
from capabilities.sites.commands.reviewing import editable, read_decisions
from capabilities.sites.connectors.trouble import SiteTrouble
from capabilities.sites.connectors.wordpress import WordPress as Connector
from capabilities.sites.runs import Run
from pipeline.database import Statement
from pipeline.database.database import DatabaseUnavailable
from pipeline.errors import InvalidRequest
from pipeline.settings import Settings

Pressroom = Callable[..., Ran]


def begin(system: System, **options: Any) -> Run:
    """Begin a run, and bring it to its review, or to its end with `at_least`."""
    run, _ = system.database.run(runs.start_run(system.site().id, "alt_text", options))
    return settle(system, run)


def settle(system: System, run: Run) -> Run:
    for _ in range(200):
        found = system.database.run(runs.read_run(run.id))
        assert found is not None
        if found.state in ("review", "done", "undone") or found.fault:
            return found
        if not system.step():
            system.database.run(DUE)
    raise AssertionError(found)


def write(system: System, run: Run, **edits: str) -> Run:
    """Accept all proposals of a run, some with another text by the picture's name, and write them."""
    changes = system.database.run(list_changes(run.id, states=["proposed"]))
    texts = {one.id: edits.get(one.about["name"].partition(".")[0], one.proposed) for one in changes}
    system.database.run(review(run.id, texts))
    system.database.run(runs.move(run.id, of=["review"], to="writing"))
    return settle(system, run)


def states(system: System, run: Run) -> dict[str, str]:
    return {one.target: one.state for one in system.database.run(list_changes(run.id))}


def snapshot(site: WordPress) -> dict[str, str]:
    """Return what Pressroom may change on a site."""
    media = site.ask("GET", "/media?per_page=100&context=edit")
    posts = site.ask("GET", "/posts?per_page=100&context=edit&status=any")
    return {f"media/{one['id']}": one["alt_text"] for one in media} | {
        f"posts/{one['id']}": one["content"]["raw"] for one in posts
    }


def test_pictures_without_text_are_described_and_written_and_charged_once(
    add_site: Callable[..., Ran], pressroom: Pressroom, running: System, site_wordpress: WordPress, payer: Payer
) -> None:
    added = add_site()
    assert (added.code, added.out) == (0, "site harbour\n")
    bare, named, told = (site_wordpress.add_picture(f"boat{n}.jpg", picture(n)) for n in (1, 2, 3))
    site_wordpress.ask("POST", f"/media/{named['id']}", {"alt_text": "IMG_2024"})
    site_wordpress.ask("POST", f"/media/{told['id']}", {"alt_text": "The old ferry"})
    post = site_wordpress.add_post("Regatta", f"{image_block(bare)}\n\n<p>Boats &amp; sails.</p>")

    ran = pressroom("site", "alt-text", "harbour", "--yes")

    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[-1] == "done written=3"
    assert [site_wordpress.alt_text(one["id"]) for one in (bare, named, told)] == [
        "A boat called boat1",
        "A boat called boat2",
        "The old ferry",
    ]
    assert 'alt="A boat called boat1" class="wp-image-' in site_wordpress.content(post["id"])
    assert spent(running.database, payer.account_id) == 2
    (asked,) = [one for one in running.engine.asked if one["image_url"] == bare["source_url"]]
    assert asked["hints"]["page_title"] == "Regatta"
    assert asked["hints"]["context"] == "Boats & sails."


def test_nothing_is_written_before_a_person_accepts_it_and_edits_are_kept(
    add_site: Callable[..., Ran], pressroom: Pressroom, running: System, site_wordpress: WordPress
) -> None:
    add_site()
    media = [site_wordpress.add_picture(f"boat{n}.jpg", picture(n))["id"] for n in (1, 2, 3)]
    before = snapshot(site_wordpress)

    ran = pressroom("site", "alt-text", "harbour")

    assert "A boat called boat2" in ran.out
    assert ran.out.splitlines()[-1] == "review proposed=3"
    assert snapshot(site_wordpress) == before
    (run,) = running.database.run(runs.list_runs(running.site().id))
    changes = running.database.run(list_changes(run.id))
    numbers = [one.id for one in changes]
    edited = f"# a comment\n{numbers[0]}\tThe ferry, at noon\n{numbers[2]}\t{changes[2].proposed}\n"
    running.database.run(review(run.id, read_decisions(edited, changes)))
    running.database.run(runs.move(run.id, of=["review"], to="writing"))
    settle(running, run)
    assert [site_wordpress.alt_text(one) for one in media] == ["The ferry, at noon", "", "A boat called boat3"]


def test_an_edited_list_that_can_not_be_read_changes_nothing() -> None:
    with pytest.raises(InvalidRequest, match="not a line with number"):
        read_decisions("7 no tab", [])
    assert read_decisions("# only comments\n", []) == {}


def test_a_proposal_of_several_lines_is_edited_as_one() -> None:
    text = "Boats race.\nFog\u2028 rises."
    one = Change(7, uuid4(), "posts/7", "excerpt", {}, "proposed", None, 0.9, False, "", text, None, None)

    assert read_decisions(editable(one), [one]) == {7: "Boats race. Fog rises."}


def test_drafts_and_doubtful_texts_are_never_written_without_a_person(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress
) -> None:
    add_site()
    draft = site_wordpress.add_picture("blur.jpg", picture(1))["id"]
    system.engine.drafts.add("blur.jpg")
    assert states(system, begin(system, at_least=0.5)) == {f"media/{draft}": "proposed"}
    assert site_wordpress.alt_text(draft) == ""

    system.engine.confidence = 0.4
    system.database.run(runs.skip_rest(system.database.run(runs.list_runs(system.site().id))[0].id))
    site_wordpress.ask("DELETE", f"/media/{draft}?force=true")
    doubtful = site_wordpress.add_picture("fog.jpg", picture(2))["id"]
    assert states(system, begin(system, at_least=0.5)) == {f"media/{doubtful}": "proposed"}


def test_an_edit_between_proposal_and_write_wins_and_is_shown(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress
) -> None:
    add_site()
    first, second, third = (site_wordpress.add_picture(f"boat{n}.jpg", picture(n)) for n in (1, 2, 3))
    post = site_wordpress.add_post("Regatta", image_block(first) + image_block(second))
    run = begin(system)
    site_wordpress.ask("POST", f"/media/{first['id']}", {"alt_text": "Ours, by hand"})
    site_wordpress.ask("DELETE", f"/media/{third['id']}?force=true")
    theirs = site_wordpress.content(post["id"]).replace('alt=""', 'alt="By hand"', 1) + "<p>More.</p>"
    site_wordpress.ask("POST", f"/posts/{post['id']}", {"content": theirs})

    write(system, run)

    assert states(system, run) == {
        f"media/{first['id']}": "conflict",
        f"media/{second['id']}": "written",
        f"media/{third['id']}": "gone",
        f"posts/{post['id']}": "written",
    }
    (conflict,) = system.database.run(list_changes(run.id, states=["conflict"]))
    assert "'Ours, by hand'" in str(conflict.note)
    assert site_wordpress.alt_text(first["id"]) == "Ours, by hand"
    assert site_wordpress.content(post["id"]) == theirs.replace('alt=""', 'alt="A boat called boat2"')


@pytest.mark.parametrize("text", ['Fish & "chips" <b>', "C:\\boats\\new", "50%20 off — ’tis 🚤"])
def test_undo_restores_what_stood_there_byte_for_byte(
    add_site: Callable[..., Ran], pressroom: Pressroom, system: System, site_wordpress: WordPress, text: str
) -> None:
    add_site()
    medium = site_wordpress.add_picture("boat1.jpg", picture(1))
    content = f"<p>\\ & “x” &amp; ’</p>\n{image_block(medium)}\n<img src='{medium['source_url']}'>\n<!-- wp:more -->"
    site_wordpress.add_post("Regatta", content)
    before = snapshot(site_wordpress)
    system.engine.texts["boat1.jpg"] = text
    run = write(system, begin(system))
    assert snapshot(site_wordpress) != before

    system.database.run(runs.begin_undo(system.site().id))

    assert settle(system, run).state == "undone"
    assert snapshot(site_wordpress) == before
    assert "Nothing was written" in pressroom("site", "undo", "harbour").err


def test_undo_leaves_what_somebody_has_edited_since(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress
) -> None:
    add_site()
    media = [site_wordpress.add_picture(f"boat{n}.jpg", picture(n))["id"] for n in (1, 2)]
    run = write(system, begin(system))
    site_wordpress.ask("POST", f"/media/{media[0]}", {"alt_text": "Better"})

    system.database.run(runs.begin_undo(system.site().id))
    settle(system, run)

    assert [site_wordpress.alt_text(one) for one in media] == ["Better", ""]
    assert system.database.run(runs.begin_undo(run.site_id)) is None  # nor does a repeated command come back to it


def test_an_undo_that_the_site_refused_is_tried_again(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_site()
    medium = site_wordpress.add_picture("boat1.jpg", picture(1))["id"]
    run = write(system, begin(system))

    async def refuse(*_: Any) -> None:
        raise SiteTrouble("The site refuses it.", code="site_refused", of_target=True)

    with monkeypatch.context() as refusing:
        refusing.setattr(Connector, "write", refuse)
        system.database.run(runs.begin_undo(run.site_id))
        settle(system, run)
    assert site_wordpress.alt_text(medium) == "A boat called boat1"
    system.database.run(runs.begin_undo(run.site_id))
    settle(system, run)

    assert site_wordpress.alt_text(medium) == ""
    assert system.database.run(count_changes(run.id)) == {"undone": 1}
    assert system.database.run(runs.begin_undo(run.site_id)) is None


class Killed(BaseException):
    """The sweep's process has ended here."""


@pytest.mark.parametrize("before_answer", [True, False])
def test_a_sweep_that_is_killed_anywhere_goes_on_and_charges_once(
    add_site: Callable[..., Ran],
    system: System,
    site_wordpress: WordPress,
    payer: Payer,
    monkeypatch: pytest.MonkeyPatch,
    before_answer: bool,
) -> None:
    add_site()
    media = [site_wordpress.add_picture(f"boat{n}.jpg", picture(n)) for n in range(4)]
    site_wordpress.add_post("Regatta", "".join(map(image_block, media)))
    before = snapshot(site_wordpress)
    real = {name: getattr(Connector, name) for name in ("look_up", "write")}
    calls = dict.fromkeys(real, 0)

    def dying(name: str) -> Any:
        async def call(site: Connector, *given: Any) -> Any:
            calls[name] += 1
            if calls[name] % 2 and before_answer:
                raise Killed
            answer = await real[name](site, *given)
            if calls[name] % 2:
                raise Killed
            return answer

        return call

    for name in real:
        monkeypatch.setattr(Connector, name, dying(name))
    monkeypatch.setattr("capabilities.sites.working.writing.AT_ONCE", 1)
    run, _ = system.database.run(runs.start_run(system.site().id, "alt_text", {"at_least": 0.5}))

    def survive(run: Run) -> Run:
        for _ in range(100):
            try:
                return settle(system, run)
            except (Killed, BaseExceptionGroup):
                system.database.run(DUE)
        raise AssertionError("it does not end")

    assert survive(run).state == "done"
    assert [site_wordpress.alt_text(one["id"]) for one in media] == [f"A boat called boat{n}" for n in range(4)]
    assert spent(system.database, payer.account_id) == 4
    assert discrepancies_of(system.database, payer) == []
    system.database.run(runs.begin_undo(system.site().id))
    assert survive(run).state == "undone"
    assert snapshot(site_wordpress) == before


def test_a_slow_site_keeps_its_run_claimed_and_an_undo_meanwhile_stops_the_writing(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_site()
    media = [site_wordpress.add_picture(f"boat{n}.jpg", picture(n))["id"] for n in range(2)]
    run = begin(system)
    monkeypatch.setattr("capabilities.sites.runs.CLAIM", timedelta(seconds=0.3))
    monkeypatch.setattr("capabilities.sites.working.site_runs.KEEP", timedelta(seconds=0.1))
    monkeypatch.setattr("capabilities.sites.working.writing.AT_ONCE", 1)
    real, sent, others = Connector.write, list[str](), list[Run | None]()

    async def slow(site: Connector, target: str, values: Any) -> Any:
        sent.append(values["alt_text"])
        if len(sent) == 1:
            await asyncio.sleep(0.6)  # twice the claim
            others.append(system.database.run(runs.claim_run()))
            system.database.run(runs.begin_undo(system.site().id))
        return await real(site, target, values)

    monkeypatch.setattr(Connector, "write", slow)
    assert write(system, run).state == "undone"
    assert others == [None]
    assert sent == ["A boat called boat0", ""]
    assert [site_wordpress.alt_text(one) for one in media] == ["", ""]


def test_an_error_of_the_database_does_not_cut_off_a_write(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_site()
    medium = site_wordpress.add_picture("boat1.jpg", picture(1))["id"]
    run = begin(system)
    monkeypatch.setattr("capabilities.sites.working.site_runs.KEEP", timedelta(seconds=0.1))
    real, written, failed = Connector.write, list[str](), list[Run]()

    async def slow(site: Connector, target: str, values: Any) -> Any:
        monkeypatch.setattr(runs, "renew", fail)
        while not failed:
            await asyncio.sleep(0.05)
        written.append(target)
        return await real(site, target, values)

    def fail(run: Run) -> Any:
        monkeypatch.setattr(Connector, "write", real)
        failed.append(run)
        raise DatabaseUnavailable("The database is away.")

    monkeypatch.setattr(Connector, "write", slow)
    assert write(system, run).state == "done"
    assert len(written) == 1
    assert site_wordpress.alt_text(medium) == "A boat called boat1"


def test_a_revoked_password_stops_the_run_with_one_line_and_it_goes_on_with_a_new_one(
    add_site: Callable[..., Ran], pressroom: Pressroom, running: System, site_wordpress: WordPress
) -> None:
    good = site_wordpress.passwords["admin"]
    made = site_wordpress.ask("POST", "/users/me/application-passwords", {"name": "second"})
    site_wordpress.passwords["admin"] = made["password"]
    add_site()
    site_wordpress.passwords["admin"] = good
    medium = site_wordpress.add_picture("boat1.jpg", picture(1))["id"]
    site_wordpress.revoke(made["uuid"])

    ran = pressroom("site", "alt-text", "harbour", "--yes")

    assert ran.code == 1
    assert "rejects the application password" in ran.err
    add_site()
    assert pressroom("site", "alt-text", "harbour", "--yes").out.endswith("done written=1\n")
    assert site_wordpress.alt_text(medium) == "A boat called boat1"


def test_a_run_that_nobody_looks_after_goes_on_when_its_site_is_added_again(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_site()
    medium = site_wordpress.add_picture("boat1.jpg", picture(1))["id"]
    real = Connector.look_up

    async def refuse(site: Connector) -> Any:
        raise SiteTrouble("No.", code="site_access_revoked")

    monkeypatch.setattr(Connector, "look_up", refuse)
    run = begin(system, watch=True, at_least=0.5)
    assert run.fault == "No."
    monkeypatch.setattr(Connector, "look_up", real)

    add_site()

    assert settle(system, run).state == "done"
    assert site_wordpress.alt_text(medium) == "A boat called boat1"


#: A plug-in that refuses one text.
PLUG_IN = """<?php add_filter('rest_pre_insert_attachment', function ($made, $request) {
    return $request['alt_text'] === 'No' ? new WP_Error('not_now', 'Media are locked.', ['status' => 403]) : $made;
}, 10, 2);"""


def test_a_plug_in_that_refuses_one_write_fails_that_picture_alone(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress
) -> None:
    add_site()
    first, second = (site_wordpress.add_picture(f"boat{n}.jpg", picture(n))["id"] for n in (1, 2))
    system.engine.texts["boat1.jpg"] = "No"
    plug_in = site_wordpress.folder / "site" / "wp-content" / "mu-plugins" / "locked.php"
    plug_in.parent.mkdir(exist_ok=True)
    plug_in.write_text(PLUG_IN)
    try:
        run = begin(system, at_least=0.5)
    finally:
        plug_in.unlink()

    assert states(system, run) == {f"media/{first}": "failed", f"media/{second}": "written"}
    (failed,) = system.database.run(list_changes(run.id, states=["failed"]))
    assert "Media are locked. (not_now)" in str(failed.note)
    assert site_wordpress.alt_text(first) == ""


def test_a_language_that_is_none_stops_the_run_with_one_line(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress
) -> None:
    add_site()
    site_wordpress.add_picture("boat1.jpg", picture(1))

    assert "should be a language code" in str(begin(system, language="!").fault)


def test_a_site_that_asks_for_a_pause_of_a_month_is_asked_again_within_an_hour(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_site()
    busy = SiteTrouble("Busy.", code="site_unavailable", passes=True, after=timedelta(days=30))

    async def refuse(site: Connector) -> Any:
        raise busy

    monkeypatch.setattr(Connector, "look_up", refuse)
    system.database.run(runs.start_run(system.site().id, "alt_text", {}))
    system.step()

    (row,) = system.database.run(Statement("SELECT fault, due_at - now() AS pause FROM site_run"))
    assert (row["fault"], row["pause"] < timedelta(hours=1.1)) == (None, True)


def test_accepted_texts_are_written_while_another_site_is_read(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress
) -> None:
    add_site()
    medium = site_wordpress.add_picture("boat1.jpg", picture(1))["id"]
    run = begin(system)
    system.database.run(review(run.id, {one.id: one.proposed for one in system.database.run(list_changes(run.id))}))
    system.database.run(runs.move(run.id, of=["review"], to="writing"))
    found = chores(system.settings)

    assert found["site_reading"](system.database) == 0
    assert found["site_writing"](system.database) > 0
    assert site_wordpress.alt_text(medium) == "A boat called boat1"


def test_a_step_that_moves_a_run_on_leaves_it_to_the_sweep_that_has_taken_it_since(
    add_site: Callable[..., Ran], system: System
) -> None:
    add_site()
    system.database.run(runs.start_run(system.site().id, "alt_text", {}))
    found = system.database.run(runs.claim_run())
    assert found is not None
    system.database.run(runs.move(found.id, of=["finding"], to="proposing"))
    assert system.database.run(runs.claim_run()) is not None

    system.database.run(runs.put_back(found, timedelta()))

    assert system.database.run(runs.claim_run()) is None


def test_an_account_without_credits_is_told_and_nothing_is_written(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress, database_url: str
) -> None:
    add_site()
    medium = site_wordpress.add_picture("boat1.jpg", picture(1))["id"]
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE account SET available = 0")

    run = begin(system, at_least=0.5)

    assert "credits" in str(run.fault)
    assert site_wordpress.alt_text(medium) == ""


def test_what_is_paid_for_is_reviewed_where_the_credits_do_not_reach_for_all(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress, database_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    add_site()
    media = [site_wordpress.add_picture(f"boat{n}.jpg", picture(n))["id"] for n in (1, 2, 3)]
    monkeypatch.setenv("PRESSROOM_CAPTIONING__MAX_IMAGES", "1")
    system.settings = Settings(data=system.settings.data)
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE account SET available = 1")

    run = begin(system)

    assert (run.state, run.fault) == ("review", None)
    changes = system.database.run(list_changes(run.id))
    assert [one.state for one in changes] == ["proposed", "failed", "failed"]
    assert "Top up the account" in str(changes[1].note)
    assert states(system, write(system, run))[f"media/{media[0]}"] == "written"


def test_a_text_that_stands_in_a_post_is_taken_for_the_library_free_of_charge(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress, payer: Payer
) -> None:
    add_site()
    medium = site_wordpress.add_picture("boat1.jpg", picture(1))
    site_wordpress.add_post("Regatta", image_block(medium, alt="Two sails at dusk"))

    begin(system, at_least=0.5)

    assert site_wordpress.alt_text(medium["id"]) == "Two sails at dusk"
    assert spent(system.database, payer.account_id) == 0


def test_a_text_of_the_library_reaches_the_posts_that_lack_it(
    add_site: Callable[..., Ran], system: System, site_wordpress: WordPress
) -> None:
    add_site()
    medium = site_wordpress.add_picture("boat1.jpg", picture(1), alt_text="Two sails")
    post = site_wordpress.add_post("Regatta", image_block(medium))

    begin(system, at_least=0.5)

    assert 'alt="Two sails"' in site_wordpress.content(post["id"])


def test_a_site_is_listed_and_removed_with_its_password(
    add_site: Callable[..., Ran], pressroom: Pressroom, system: System, site_wordpress: WordPress
) -> None:
    password = site_wordpress.passwords["admin"]
    added = add_site()
    assert password not in added.out + added.err
    assert password.replace(" ", "").encode() not in (system.site().credentials or b"")

    listed = pressroom("site", "list").out.splitlines()[1].split("\t")
    assert listed[:3] == ["harbour", site_wordpress.url, "admin"]
    assert "alt_text, content" in listed[3]
    assert pressroom("site", "remove", "harb").out == "removed harbour\n"
    assert "There is no site" in pressroom("site", "alt-text", "harbour").err
