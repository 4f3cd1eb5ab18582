"""Audiobooks, as a user makes them: a plan, a book by passages, a file with chapters, and a changed sentence."""

import io
import json
import re
import subprocess
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import imageio_ffmpeg
import pytest
from systems import Running, kill, run_command
from waiting import wait_for
from web_server import web_server
from webhook_receiver import webhook_receiver

from pressroom import Pressroom
from pressroom.errors import Conflict, NotFound, Refused
from workers.media.marks.verifying import verify_file

pytestmark = pytest.mark.system

BOOK = (
    "# The Lamp\n\n## Night\n\nIt was dark. The lamp went out.\n\n| a |\n|---|\n| 1 |\n\n## Day\n\nThen it was light.\n"
)


@pytest.fixture(scope="module")
def client(service: Running) -> Iterator[Pressroom]:
    with Pressroom(service.key, url=service.address) as opened:
        yield opened


def planned(client: Pressroom, folder: Path, text: str = BOOK) -> str:
    file = folder / "lamp.markdown"
    file.write_text(text)
    job = client.submit("/audiobooks/plan", {}, {"manuscript": file})
    client.wait(job.id)
    return job.id


def test_a_manuscript_becomes_a_book_with_chapters(client: Pressroom, service: Running, tmp_path: Path) -> None:
    plan = client.result(planned(client, tmp_path)).json
    assert [(one["number"], one["title"]) for one in plan["chapters"]] == [(1, "The Lamp"), (2, "Night"), (3, "Day")]
    assert (plan["left_out"], plan["credits"]) == ({"tables": 1}, 1)

    job = client.wait(client.submit("/audiobooks", {"plan": plan["plan"], "author": "A. Writer", "only": [2, 3]}).id)
    assert (job.state, job.credits.captured, job.progress.total) == ("succeeded", 1, 2)
    told = client.result(job.id).json
    assert [one["title"] for one in told["chapters"]] == ["Night", "Day"]

    file = tmp_path / "book.m4b"
    made = client.submit(f"/audiobooks/{job.id}/files", {"format": "m4b"})
    client.wait(made.id)
    client.result(made.id, to=file)
    said = probe(file)
    assert re.findall(r"Chapter #0:\d+.*?\n.*?\n\s+title\s+: (.*)", said) == ["Night", "Day"]
    assert "title           : The Lamp" in said
    assert "artist          : A. Writer" in said
    with file.open("rb") as opened:
        found = verify_file(opened)
    assert (found.status, found.origin) == ("signed", "synthetic")
    assert "the lamp went out" in client.subtitles(file, form="text").lower()


def test_a_paused_book_goes_on_and_a_changed_passage_is_charged_alone(client: Pressroom) -> None:
    chapters = [{"title": str(number), "text": "The keeper stood. " * 90} for number in range(1, 9)]
    whole = client.make_audiobook(chapters=chapters, title="Eight")
    while not client.audiobook(whole.id).spoken:
        time.sleep(0.05)
    client.cancel(whole.id)
    paused = client.audiobook(whole.id)
    assert paused.state == "cancelled"
    rest = client.wait(client.change_audiobook(whole.id).id)
    spoken = client.audiobook(rest.id)
    assert (spoken.spoken, spoken.passages, spoken.seconds_left) == (8, 8, 0)
    due = -(-8 * len(chapters[0]["text"]) // 1_000)
    assert paused.credits_used + rest.credits.captured in (due, due + 1)  # both are rounded up
    with pytest.raises(Conflict, match="All passages are spoken"):
        client.change_audiobook(rest.id)

    changed = client.wait(client.change_audiobook(rest.id, {3: "The keeper sat down."}).id)
    assert changed.credits.captured == 1
    seconds = [one.seconds for one in client.audiobook(changed.id).chapters]
    assert [place for place, one in enumerate(seconds, start=1) if one < seconds[0] / 2] == [3]
    with pytest.raises(Refused, match="has no passage 9"):
        client.change_audiobook(rest.id, {9: "More."})


def test_an_article_is_planned_from_its_address_and_a_large_file_from_an_upload(
    client: Pressroom, service: Running, tmp_path: Path
) -> None:
    with web_server() as site:
        page = f"<html><body><nav><a href=/>Home</a></nav><article><h1>Day</h1><p>{'It was light. ' * 30}</p></article>"
        article = client.plan_audiobook(url=site.serve("/day", page.encode(), "text/html"))
        assert [chapter.title for chapter in article.chapters] == ["Day"]
        with pytest.raises(Refused, match="HTTP 404"):
            client.plan_audiobook(url=site.url("/missing"))
    file = tmp_path / "lamp.markdown"
    file.write_text(BOOK)
    job = client.submit("/audiobooks/plan", {"upload": client.upload(file), "read": ["tables"]})
    client.wait(job.id)
    assert client.result(job.id).json["left_out"] == {}
    with pytest.raises(Refused, match="Send one manuscript"):
        client.plan_audiobook()


def test_a_book_has_a_cast_and_a_file_tells_what_was_measured(client: Pressroom, service: Running) -> None:
    text = "“It rains,” said Emma.\n\nIt did."
    cast = {"Emma": "en-GB-female"}
    job = client.wait(client.make_audiobook(chapters=[{"text": text}], cast=cast, dialogue=True, title="Rain").id)
    [passage] = service.ask(f"/audiobooks/{job.id}/chapters/1").json["passages"]
    assert passage["text"].startswith('<voice name="en-GB-female">“It rains,”</voice>')
    assert b"fLaC" in service.ask(passage["audio_url"].removeprefix(service.address)).body
    made = client.submit(f"/audiobooks/{job.id}/files", {"format": "epub", "loudness": "acx", "report": True})
    client.wait(made.id)
    report = client.result(made.id).json
    assert (report["content_type"], report["acx"], len(report["chapters"])) == ("application/epub+zip", True, 1)
    assert "It did." in client.audiobook_file(job.id, form="vtt").content.decode()


@pytest.mark.storm  # test_book_files.py has a short one: another attempt goes on after finished chapters
def test_a_killed_pool_loses_and_doubles_nothing_and_the_end_is_told(client: Pressroom, service: Running) -> None:
    chapters = [{"text": f"The keeper {number} stood. " * 90} for number in range(5)]
    with webhook_receiver() as receiver:
        job = client.make_audiobook(chapters=chapters, webhook_url=receiver.url)
        wait_for(lambda: client.audiobook(job.id).spoken)
        for pid in service.pids("synthesis"):
            kill(pid)
        assert not client.job(job.id).finished_at
        ended = client.wait(job.id)
        wait_for(lambda: receiver.events)
    assert [json.loads(event.body)["type"] for event in receiver.events] == ["job.completed"]
    assert (ended.state, ended.credits.captured) == ("succeeded", ended.credits.held)
    found = client.audiobook(job.id)
    assert [one.spoken for one in found.chapters] == [one.passages for one in found.chapters]
    passages = [client.audiobook_passages(job.id, number + 1) for number in range(5)]
    assert [" ".join(one.text for one in found) for found in passages] == [one["text"].strip() for one in chapters]
    assert min(one.seconds for one in found.chapters) > 60


def test_a_changed_sentence_is_spoken_alone(client: Pressroom, tmp_path: Path) -> None:
    chapters = [{"title": "One", "text": "It begins. " * 120}, {"title": "Two", "text": "It goes on. " * 120}]
    first = client.wait(client.submit("/audiobooks", {"title": "B", "chapters": chapters}).id)
    chapters[1]["text"] = "It goes on and on. " * 60
    second = client.wait(client.submit("/audiobooks", {"title": "B", "chapters": chapters, "reuse": first.id}).id)
    assert (first.credits.captured, second.credits.captured, second.progress.total) == (3, 2, 2)

    file = tmp_path / "book.zip"
    made = client.submit(f"/audiobooks/{second.id}/files", {"format": "mp3"})
    client.wait(made.id)
    client.result(made.id, to=file)
    with zipfile.ZipFile(file) as archive:
        assert archive.namelist() == ["001 One.mp3", "002 Two.mp3"]
        sound = verify_file(io.BytesIO(archive.read("001 One.mp3")))
    assert (sound.status, sound.source) == ("tagged", "algorithmicMedia")  # espeak spoke it, by rules
    assert client.result(second.id).json["voices"] == client.result(first.id).json["voices"]


def test_what_cannot_be_made_is_refused_before_it_is_paid(client: Pressroom, service: Running, tmp_path: Path) -> None:
    plan = planned(client, tmp_path)
    for fields, reason in (
        ({}, "Send a plan"),
        ({"chapters": [{"text": "Hi.</voice>"}]}, "closes no open tag"),
        ({"chapters": [{"text": "Hi."}], "cast": {"Emma": "nobody-at-all"}}, "no voice"),
        ({"chapters": [{"text": "Hi."}], "dialogue": True}, "needs a cast"),
        ({"plan": plan, "only": [9]}, "no chapter 9"),
        ({"chapters": [{"text": "мир " * 500}], "language": "en"}, "can't read Cyrillic"),
        ({"chapters": [{"text": "a" + "[pause 10s]" * 2_000}]}, "5.6 hours in all; the limit is 5"),
        ({"chapters": [{"text": "a" * 2_000_001}]}, "limit is 2,000,000"),
    ):
        with pytest.raises(Refused, match=reason):
            client.submit("/audiobooks", fields)
    with pytest.raises(NotFound):
        client.submit(f"/audiobooks/{plan}/files", {})
    with (
        Pressroom(replace(service).key, url=service.address) as other,
        pytest.raises(Refused, match="no audiobook plan"),
    ):
        other.submit("/audiobooks", {"plan": plan})
    job = client.submit("/audiobooks", {"chapters": [{"text": "word " * 4_000}]})
    with pytest.raises(Conflict, match="Ask again when it has ended"):
        client.submit(f"/audiobooks/{job.id}/files", {})
    client.cancel(job.id)


def test_the_command_goes_on_with_what_it_began(service: Running, tmp_path: Path) -> None:
    file = tmp_path / "lamp.markdown"
    file.write_text(BOOK)
    key = {"PRESSROOM_API_KEY": service.key}
    told = ("--yes", "--read", "tables", "--cast", "Emma=en-GB-female", "--dialogue", "--url", service.address)
    runs = [
        run_command("audiobook", str(file), *told, "--out", str(tmp_path / name), **key) for name in ("a.m4b", "b.m4b")
    ]
    assert [run.returncode for run in runs] == [0, 0], runs
    (first, second) = (re.search(r"audiobook ([0-9a-f-]{36})", run.stderr + run.stdout) for run in runs)
    assert first
    assert second
    assert first[1] == second[1]
    (tmp_path / "c.m4b.job").write_text(first[1])  # as Ctrl-C leaves it
    (tmp_path / "c.markdown").write_text("Other text.")
    third = run_command(
        "audiobook", str(tmp_path / "c.markdown"), "--out", str(tmp_path / "c.m4b"), "--url", service.address, **key
    )
    assert f"audiobook {first[1]}" in third.stderr + third.stdout
    assert {one.name for one in tmp_path.glob("c.m4b*")} == {"c.m4b"}


def probe(file: Path) -> str:
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-i", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr
