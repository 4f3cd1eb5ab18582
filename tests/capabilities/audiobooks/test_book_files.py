"""Book files: passages spoken by a cast, joined with their sentences' times, at the loudness asked for."""

import io
import json
import re
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import pytest
import tools
from given_task import GivenTask
from PIL import Image

from capabilities.audiobooks.handlers.book_file import BookFileHandler
from capabilities.audiobooks.handlers.joining import FRAME, HEAD, SAMPLE_RATE
from capabilities.audiobooks.handlers.passage import PassageHandler
from capabilities.audiobooks.kinds.audiobook import PassageInput, SpokenPassage
from capabilities.audiobooks.kinds.book_file import BookFileInput, BookFormat, BookPart, MadeBook, beyond_acx
from pipeline.errors import Gone
from pipeline.settings import Settings
from workers.engines.resources import Resources
from workers.media.marks.verifying import verify_file

CHECKER = "@likecoin/epubcheck-ts@0.7.0"
TEXTS = (
    'Night & day\n\nIt was dark. The lamp\nwent out. <voice name="en-GB-female">"Who is there?"</voice> he asked.\n\n'
    "* * *\n\nNobody answered, [pause 300ms] and the wind <rose>.",
    'Morning\n\nThen it was light. <lang xml:lang="fr">Bonjour, dit-il.</lang>',
)


class Store(GivenTask):
    """A task that reads what others have stored."""

    def __init__(self, given: Any, stored: dict[str, bytes]) -> None:
        super().__init__(given)
        self.kept = stored

    def stored(self, key: str) -> bytes:
        assert not key.endswith(".sound")  # hours of it: it is read in pieces
        if key not in self.kept:
            raise Gone("It has expired.")
        return self.kept[key]

    def pieces(self, key: str) -> Iterator[bytes]:
        yield self.kept[key]


@pytest.fixture(scope="module")
def resources() -> Resources:
    return Resources(Settings())


@pytest.fixture(scope="module")
def spoken(resources: Resources) -> tuple[dict[str, bytes], list[SpokenPassage]]:
    """The passages of two chapters, and the files that they are in."""
    handler, stored = PassageHandler(resources), dict[str, bytes]()
    handler.setup()
    found = []
    for text in TEXTS:
        (done,) = handler.run([Store(PassageInput(text=text, chapter=1), stored)])
        found.append(done.output)
    return stored, found


def book_of(passages: list[SpokenPassage], **fields: Any) -> BookFileInput:
    titles = ("Night & day", "Two")
    parts = tuple(
        BookPart(title=title, sounds=(one.artifact,), scripts=(one.script,), engines=one.engines)
        for title, one in zip(titles, passages, strict=True)
    )
    return BookFileInput(title='A "book" <1>', author="A & B", language="en", parts=parts, report=True, **fields)


def made(resources: Resources, spoken: Any, **fields: Any) -> tuple[MadeBook, bytes]:
    stored, passages = spoken
    return joined(resources, Store(book_of(passages, **fields), stored))


def joined(resources: Resources, task: Store) -> tuple[MadeBook, bytes]:
    handler = BookFileHandler(resources)
    handler.setup()
    (done,) = handler.run([task])
    return done.output, task.kept[done.output.artifact]


def test_a_passage_has_its_sentences_with_their_times_whoever_speaks_them(spoken: Any) -> None:
    stored, (first, second) = spoken
    told = json.loads(stored[first.script])
    assert [text for _, _, text in told["sentences"]] == [
        "Night & day",
        "It was dark.",
        "The lamp went out.",
        '"Who is there?"',
        "he asked.",
        "Nobody answered,",
        "and the wind <rose>.",
    ]
    times = [time for start, end, _ in told["sentences"] for time in (start, end)]
    assert times == sorted(times)
    assert times[-1] <= first.duration_seconds + 0.001  # they are rounded
    assert "<voice" not in told["text"]
    assert second.duration_seconds > 2


def test_a_passage_warns_of_each_part_and_is_spoken_without_a_cover_that_has_expired() -> None:
    handler = PassageHandler(Resources(Settings(synthesis={"engines": "hibari,espeak"})))
    handler.setup()
    text = 'One. <voice name="Heart">Two, three, four 五 and six.</voice>'
    (done,) = handler.run([Store(PassageInput(text=text, voice_name="en-GB", chapter=1, cover="old.jpg"), {})])
    assert "can't read Chinese letters and leaves them out" in done.output.warning
    assert done.output.cover is None


def test_loudness_is_as_it_was_asked_for(resources: Resources, spoken: Any) -> None:
    podcast, _ = made(resources, spoken, format="mp3")
    acx, _ = made(resources, spoken, format="mp3", loudness="acx")
    for chapter in podcast.chapters:
        assert chapter.loudness_lufs == pytest.approx(-16, abs=1)
        assert chapter.peak_db <= -1
    for chapter in acx.chapters:
        assert -20 <= chapter.loudness_lufs <= -18
        assert not list(beyond_acx(1, chapter)), chapter


def test_a_chapter_that_is_mostly_silence_is_louder_for_acx_or_named(resources: Resources, spoken: Any) -> None:
    stored, _ = spoken
    handler = PassageHandler(resources)
    handler.setup()
    (done,) = handler.run([Store(PassageInput(text="The Devil's Dictionary", chapter=1), stored)])
    part = BookPart(title="Title", sounds=(done.output.artifact,), engines=("espeak",))
    book = BookFileInput(parts=(part,), format="mp3", loudness="acx", report=True)
    made_book, file = joined(resources, Store(book, stored))
    (chapter,) = made_book.chapters
    assert not list(beyond_acx(1, chapter)), chapter
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        sound = archive.read(archive.namelist()[0])
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", "-", "-f", "f32le", "-"]
    samples = np.frombuffer(subprocess.run(command, input=sound, capture_output=True, check=True).stdout, "<f4")
    assert -23 <= 10 * np.log10(np.square(samples).mean()) == pytest.approx(chapter.rms_db, abs=0.3)
    assert 20 * np.log10(np.abs(samples).max()) <= -3
    [said] = beyond_acx(2, chapter.model_copy(update={"rms_db": -25.7}))
    assert said == "2 Title: RMS of -25.7 dB, not -23 to -18. It is mostly silence: join it with another chapter."


def test_a_transcript_has_all_sentences_in_order(resources: Resources, spoken: Any) -> None:
    book, transcript = made(resources, spoken, format="vtt")
    text = transcript.decode()
    assert text.startswith("WEBVTT\n")
    said = " ".join(line for line in text.split("\n") if line and "-->" not in line and line != "WEBVTT")
    assert "Night &amp; day" in said
    assert said.endswith("Then it was light. Bonjour, dit-il.")
    last = re.findall(r"--> (?:(\d\d):)?(\d\d):(\d\d)", text)[-1]
    assert int(last[2]) <= book.seconds


def test_the_epub_is_valid_and_highlights_each_sentence(
    resources: Resources, spoken: Any, tmp_path: Path, checker: Path
) -> None:
    stored, passages = spoken
    stored["cover.jpg"] = picture()
    _, epub = made(resources, spoken, format="epub", cover="cover.jpg")
    file = tmp_path / "book.epub"
    file.write_bytes(epub)
    checked = subprocess.run(
        [checker, file, "--fail-on-warnings"], capture_output=True, text=True, timeout=120, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    with zipfile.ZipFile(file) as archive:
        text, overlay = archive.read("EPUB/c0001.xhtml").decode(), archive.read("EPUB/c0001.smil").decode()
    sentences = json.loads(stored[passages[0].script])["sentences"]
    assert len(re.findall(r'<span id="s\d+">', text)) == overlay.count("<par") == len(sentences)
    assert re.search(r"<h1><span id=.s1.>Night &amp; day</span></h1>", text)
    assert "Nobody answered,</span>" in text


@pytest.mark.parametrize("form", ["m4b", "mp3"])
def test_a_cover_is_in_each_file_of_sound(resources: Resources, spoken: Any, form: BookFormat) -> None:
    spoken[0]["cover.jpg"] = picture()
    _, file = made(resources, spoken, format=form, cover="cover.jpg")
    if form == "mp3":
        with zipfile.ZipFile(io.BytesIO(file)) as archive:
            file = archive.read(archive.namelist()[0])
    probe = [imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-i", "-"]
    said = subprocess.run(probe, input=file, capture_output=True, check=False).stderr.decode()
    assert re.search(r"Video: (mjpeg|png).*60x80.*attached pic", said), said


def test_chapters_encoded_apart_begin_where_the_m4b_says(resources: Resources, spoken: Any, tmp_path: Path) -> None:
    book, encoded = made(resources, spoken, format="m4b")
    (file := tmp_path / "book.m4b").write_bytes(encoded)
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", file, "-f", "s16le", "-"]
    samples = np.frombuffer(subprocess.run(command, capture_output=True, check=True).stdout, "<i2")
    frames = sum(round(chapter.seconds * SAMPLE_RATE / FRAME) for chapter in book.chapters)
    assert len(samples) == pytest.approx(FRAME * frames, abs=2 * FRAME)
    start = round(book.chapters[0].seconds * SAMPLE_RATE)
    first = np.flatnonzero(np.abs(samples[start:]) > 300)[0] / SAMPLE_RATE
    # The chapter before it is silent at its end, and so is this one at its head.
    assert np.abs(samples[start - SAMPLE_RATE : start]).max() < 30
    assert first == pytest.approx(HEAD.total_seconds(), abs=0.15)


def test_a_long_chapter_ends_where_it_does(resources: Resources, spoken: Any, tmp_path: Path) -> None:
    """Beyond 152 s, all later chapters began at the same moment."""
    stored, (first, second) = spoken
    parts = (BookPart(title="1", sounds=(first.artifact,) * 40), BookPart(title="2", sounds=(second.artifact,)))
    handler = BookFileHandler(resources)
    handler.setup()
    (done,) = handler.run([Store(BookFileInput(parts=parts, report=True), stored)])
    (file := tmp_path / "book.m4b").write_bytes(stored[done.output.artifact])
    probe = [imageio_ffmpeg.get_ffmpeg_exe(), "-hide_banner", "-i", file]
    said = subprocess.run(probe, capture_output=True, text=True, check=False).stderr
    starts = [float(start) for start in re.findall(r"Chapter #0:\d+: start ([\d.]+)", said)]
    length = done.output.chapters[0].seconds
    assert length > 200
    assert starts == pytest.approx([0, length], abs=0.05)


def test_the_mark_of_a_chapter_follows_who_spoke_it(resources: Resources, spoken: Any) -> None:
    stored, (first, second) = spoken
    parts = tuple(
        BookPart(title=engine, sounds=(one.artifact,), scripts=(one.script,), engines=(engine,))
        for one, engine in ((first, "espeak"), (second, "hibari"))
    )
    handler = BookFileHandler(resources)
    handler.setup()
    (done,) = handler.run([Store(BookFileInput(parts=parts, format="mp3"), stored)])
    assert done.engine == "espeak + hibari"
    with zipfile.ZipFile(io.BytesIO(stored[done.output.artifact])) as archive:
        marks = [verify_file(io.BytesIO(archive.read(name))).source for name in archive.namelist()]
    assert marks == ["algorithmicMedia", "trainedAlgorithmicMedia"]


def picture() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (60, 80), "teal").save(file, "JPEG")
    return file.getvalue()


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that checks EPUBs, as npm installs it."""
    npm, folder = tools.require("npm"), tmp_path_factory.mktemp("epubcheck")
    asked = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", CHECKER]
    installed = subprocess.run(asked, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if installed.returncode:
        tools.skip("npm", f"npm can't install {CHECKER}: {installed.stderr.strip()[-300:]}")
    return folder / "node_modules/.bin/epubcheck-ts"


class Killed(Store):
    """A task whose process ends after the first chapter."""

    def progress(self, done: float, total: float, **beat: Any) -> None:
        super().progress(done, total, **beat)
        raise KeyboardInterrupt


def test_another_attempt_goes_on_after_the_chapters_that_are_finished(resources: Resources, spoken: Any) -> None:
    stored, passages = spoken
    killed = Killed(book_of(passages, format="m4b"), dict(stored))
    with pytest.raises(KeyboardInterrupt):
        joined(resources, killed)
    again = Store(killed.input, killed.kept)
    again.checkpoint = json.loads(json.dumps(killed.checkpoint))
    del again.kept[passages[0].artifact]  # the first chapter is not joined again

    assert joined(resources, again)[1] == made(resources, spoken, format="m4b")[1]
    assert not [key for key in again.kept if key.endswith(".sound")]
