"""Audiobooks, as a user makes them: a plan, a book by passages, a file with chapters, and a changed sentence."""

import io
import re
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import imageio_ffmpeg
import pytest
from systems import Running, run_command

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


def test_a_changed_sentence_is_spoken_alone(client: Pressroom, tmp_path: Path) -> None:
    chapters = [{"title": "One", "text": "It begins. " * 120}, {"title": "Two", "text": "It goes on. " * 120}]
    first = client.wait(client.submit("/audiobooks", {"title": "B", "chapters": chapters}).id)
    chapters[1]["text"] = "It goes on and on. " * 60
    second = client.wait(client.submit("/audiobooks", {"title": "B", "chapters": chapters, "reuse": first.id}).id)
    assert (first.credits.captured, second.credits.captured, second.progress.total) == (3, 1, 2)

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
        ({"plan": plan, "only": [9]}, "no chapter 9"),
        ({"chapters": [{"text": "мир " * 500}], "language": "en"}, "can't read Cyrillic"),
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
    runs = [
        run_command("audiobook", str(file), "--yes", "--out", str(tmp_path / name), "--url", service.address, **key)
        for name in ("a.m4b", "b.m4b")
    ]
    assert [run.returncode for run in runs] == [0, 0], runs
    (first, second) = (re.search(r"audiobook ([0-9a-f-]{36})", run.stderr + run.stdout) for run in runs)
    assert first
    assert second
    assert first[1] == second[1]


def probe(file: Path) -> str:
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-i", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr
