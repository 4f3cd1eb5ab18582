"""The client library, as its users have it: both clients ask a whole system for everything."""

import asyncio
import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from search_engine import SearchEngine
from systems import Running, clean_environment

import pressroom
from pressroom import AsyncPressroom, Pressroom

pytestmark = pytest.mark.system

HERE, GONE = "https://e.example/here", "https://e.example/gone"
DOCUMENT = Path(__file__).parents[2] / "clients" / "python" / "README.md"
RECORDINGS = Path(__file__).parent.parent / "recordings"


@pytest.fixture(scope="module")
def client(service: Running, engine: SearchEngine) -> Iterator[Pressroom]:
    engine.pages = {HERE}
    with Pressroom(service.key, url=service.address) as opened:
        yield opened


@pytest.fixture
def banner() -> bytes:
    image = Image.new("RGB", (480, 160), "#14325a")
    ImageDraw.Draw(image).text((30, 50), "SUMMER SALE", "white", font=ImageFont.load_default(48))
    file = io.BytesIO()
    image.save(file, "JPEG", quality=90)
    return file.getvalue()


def test_texts_are_spoken(client: Pressroom, tmp_path: Path) -> None:
    short = client.speak("Good morning!", speed=1.2)
    assert (short.content[:4], short.content_type, short.credits_used) == (b"RIFF", "audio/wav", 1)
    assert short.voice
    assert short.job_id
    assert client.job(short.job_id).state == "succeeded"

    chapter = tmp_path / "chapter.mp3"
    seen: list[str] = []
    long = client.speak_long(
        "One sentence. And another one.", to=chapter, timestamps=True, progress=lambda job: seen.append(job.state)
    )
    assert long.file == chapter
    assert chapter.read_bytes() == long.content
    assert seen[-1] == "succeeded"
    assert [word.word for word in long.timing.words][:2] == ["One", "sentence."]
    assert long.srt is not None
    assert "One sentence." in long.srt
    assert long.vtt.startswith("WEBVTT")

    with chapter.open("rb") as music:
        mixed = client.speak_with_music("News.", music, duck=True, music_intro=0.5)
    over = client.add_music(chapter, mixed.content)
    assert mixed.content_type == over.content_type == "audio/mpeg"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["chapter.mp3"]


def test_a_stream_is_iterated_over_or_saved(client: Pressroom, tmp_path: Path) -> None:
    text = "This is spoken bit by bit. It arrives while the rest is made."
    with client.stream_speech(text, chunk_size=50) as pieces:
        sound = b"".join(pieces)
    assert client.stream_speech(text, chunk_size=50).save(tmp_path / "stream.mp3") > 1_000
    assert (tmp_path / "stream.mp3").stat().st_size == pytest.approx(len(sound), rel=0.1)


def test_the_voices_and_the_lexicon(client: Pressroom) -> None:
    assert {code[:2] for voice in client.voices(language="fr") for code in voice.language_codes} == {"fr"}
    assert client.set_lexicon([{"word": "SQL", "replacement": "sequel"}]).total == 1
    assert client.lexicon().entries[0].replacement == "sequel"


def test_recordings_are_written_down(client: Pressroom, tmp_path: Path) -> None:
    expected = json.loads((RECORDINGS / "texts.json").read_text())
    name = next(iter(expected)) if isinstance(expected, dict) else "weather"
    recording = next(file for file in sorted(RECORDINGS.glob("*.flac")) if file.stem in name or name in file.stem)

    transcript = client.transcribe(recording, language="en")
    assert transcript.text
    assert transcript.segments
    assert transcript.segments[0].words
    with recording.open("rb") as opened:
        opened.read(10)  # it is sent from its beginning
        subtitles = client.subtitles(opened, form="vtt", language="en", to=tmp_path / "talk.vtt")
    assert subtitles.startswith("WEBVTT")
    assert (tmp_path / "talk.vtt").read_text() == subtitles


def test_a_german_recording_is_transcribed_without_any_setting(client: Pressroom) -> None:
    # espeak's sound differs each time, and of three seconds of it Whisper is not sure.
    text = "Guten Morgen, meine Damen und Herren. Wir beginnen jetzt mit den Nachrichten. Das Wetter ist heute schön."
    spoken = client.speak(text, language="de")

    transcript = client.transcribe(spoken.content)

    assert (transcript.language, transcript.warnings) == ("de", [])
    assert "Damen und Herren" in transcript.text


def test_pictures_are_described_from_a_path_from_bytes_and_by_their_url(
    client: Pressroom, banner: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "banner.jpg"
    file.write_bytes(banner)

    assert client.describe(file).alt_text == client.describe(str(file)).alt_text == client.describe(banner).alt_text
    assert client.describe(file, keywords=["lake", "heron"]).alt_text
    (batch,) = client.describe_batch(["http://10.0.0.1/x.png"], mode="all")
    assert (batch.alt_text, batch.code) == (None, "image_blocked")
    with pytest.raises(pressroom.InvalidRequest) as refused:
        client.describe("http://10.0.0.1/x.png")
    assert (refused.value.code, refused.value.status) == ("image_blocked", 400)
    assert refused.value.request_id


def test_a_post_gets_what_it_needs(client: Pressroom) -> None:
    post = client.blog("A walk by the lake", "We saw herons. The path is flat and easy.")

    assert len(post.images) == 3
    assert post.excerpt
    assert post.tags


def test_pages_are_looked_for(client: Pressroom) -> None:
    records = client.check_index([HERE, GONE], index="bing", name="site")
    assert [(record.url, record.is_indexed) for record in records] == [(HERE, True), (GONE, False)]

    (job, *_) = client.index_jobs(name="site")
    assert client.index_job(job.id).indexed_count == 1
    assert [record.url for record in client.index_urls(job.id, status="done")] == [HERE, GONE]
    assert client.export_index(job.id).text.count("\n") >= 3
    assert client.retry_index(job.id, reason="not_indexed").total_urls == 1


def test_monitors_are_made_changed_and_deleted(client: Pressroom) -> None:
    made = client.create_monitor([HERE], every="week", name="weekly")
    assert client.change_monitor(made.id, {"state": "paused"}).state == "paused"
    assert client.monitor(made.id).name == "weekly"
    assert [one.id for one in client.monitors()] == [made.id]
    assert list(client.monitor_changes(made.id)) == []
    assert client.delete_monitor(made.id) is None
    with pytest.raises(pressroom.NotFound):
        client.monitor(made.id)


def test_a_job_is_submitted_followed_and_fetched(client: Pressroom, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="no effect on /tts/batch: vioce"):
        client.cancel(client.submit("/tts/batch", {"text": "Chapter one.", "vioce": "Heart"}).id)
    job = client.submit("/tts/batch", {"text": "Chapter one."}, idempotency_key="first-chapter")
    assert client.submit("/tts/batch", {"text": "Chapter one."}, idempotency_key="first-chapter").id == job.id

    assert [one.id for one in client.iter_events(job.id)][-1] == job.id
    ended = client.wait(job.id)
    assert ended.has_delivered
    # A job that has ended is answered with its result; its submission is still its job.
    assert client.submit("/tts/batch", {"text": "Chapter one."}, idempotency_key="first-chapter").id == job.id
    client.result(job.id, to=tmp_path / "one.mp3")
    assert (tmp_path / "one.mp3").stat().st_size > 1_000
    assert client.cancel(job.id).state == "succeeded"
    assert client.jobs(kind="speech_batch", limit=1).total >= 1
    today = datetime.now(UTC).date()
    found = client.all_jobs(state=["succeeded", "partial"], since=today, until=today, text="Chapter one")
    assert [one.id for one in found] == [job.id]
    assert client.delete(job.id) is None
    with pytest.raises(pressroom.Gone):
        client.result(job.id)


def test_a_cancelled_job_is_tried_again(client: Pressroom) -> None:
    job = client.submit("/tts/batch", {"text": "This is a long text. " * 900})
    assert client.cancel(job.id).state == "cancelled"
    with pytest.raises(pressroom.Conflict):
        client.result(job.id)
    again = client.retry(job.id)
    assert again.id != job.id
    client.cancel(again.id)
    with pytest.raises(pressroom.NotFound) as refused:
        client.job("00000000-0000-0000-0000-000000000000")
    assert refused.value.code == "job_not_found"


def test_the_account_is_told(client: Pressroom, service: Running) -> None:
    usage = client.usage()
    assert usage.credits_remaining > 0
    assert client.verify_key(service.key).valid
    key = client.create_key("website", credits_per_month=100, routes=["/tts"])
    assert key.api_key
    assert client.change_key(key.id, {"routes": None}).routes is None
    listed = client.keys()
    assert key.id in {one.id for one in listed}
    with Pressroom(key.api_key, url=service.address) as website:
        assert website.speak("Hello.").content[:4] == b"RIFF"
        client.delete_key(key.id)
    with Pressroom("pr_live_wrong", url=service.address) as stranger, pytest.raises(pressroom.Unauthorized):
        stranger.usage()


def test_webhooks_are_set_and_taken_away(client: Pressroom) -> None:
    assert client.set_webhook("https://hooks.example/x", events=["job.failed"]).webhook_secret
    assert client.webhook().webhook_events == ["job.failed"]
    assert client.rotate_webhook_secret().webhook_secret
    assert list(client.webhook_deliveries(state="failed")) == []
    assert client.delete_webhook() is None


def test_the_same_without_blocking(service: Running, banner: bytes, tmp_path: Path) -> None:
    async def ask() -> None:
        async with AsyncPressroom(service.key, url=service.address) as client:
            speech, picture, usage = await asyncio.gather(
                client.speak("Good evening!", to=tmp_path / "evening.wav"), client.describe(banner), client.usage()
            )
            assert speech.content[:4] == b"RIFF"
            assert picture.alt_text
            assert usage.credits_remaining > 0
            assert await client.stream_speech("Bit by bit.").save(tmp_path / "bit.mp3") > 500
            job = await client.submit("/tts", {"text": "One."})
            states = [one.state async for one in client.iter_events(job.id)]
            assert states[-1] == "succeeded"
            assert (await client.result(job.id)).content[:4] == b"RIFF"
            with pytest.raises(pressroom.InvalidRequest, match="nobody"):
                await client.speak("Hello.", voice="nobody")
            assert [one.id async for one in client.all_jobs(kind="speech")]

    asyncio.run(ask())


def examples(language: str) -> list[str]:
    """Return what the document has in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, banner: bytes, client: Pressroom) -> Path:
    """A folder with the files that the examples name."""
    (tmp_path / "banner.jpg").write_bytes(banner)
    (tmp_path / "chapter.txt").write_text("It was a dark and stormy night.")
    shutil.copy(RECORDINGS / "weather.flac", tmp_path / "interview.flac")
    client.speak_long("This stands for music.", to=tmp_path / "theme.mp3")
    return tmp_path


def test_the_documents_examples_run_as_they_are(service: Running, folder: Path) -> None:
    client = clean_environment(extra={"PRESSROOM_URL": service.address, "PRESSROOM_API_KEY": service.key})
    script = "\n".join(examples("python"))

    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=client, capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stderr
    for name in ("morning.wav", "chapter.mp3", "news.mp3", "interview.srt", "chapter-1.mp3", "One.wav", "bit.mp3"):
        assert (folder / name).stat().st_size > 50, name
    assert ran.stdout.splitlines()[-1].split()[1] == "400"
