"""A client that is generated from the document works: openapi-python-client makes one, and each of its calls is made.

The generator is installed here, into a folder of its own, with what the test's environment lacks for it: in no extra,
because it wants an older typer than releases are locked with, though it runs with a newer one."""

import importlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import tools
from PIL import Image
from search_engine import SearchEngine
from spoken import FOLDER
from systems import Running
from waiting import wait_for
from web_server import WebServer, web_server

pytestmark = pytest.mark.system
ROOT = Path(__file__).parents[2]
NAME = "generated_pressroom"
GENERATOR = ("openapi-python-client>=0.29,<0.30", "ruamel.yaml", "httpx", "httpcore")


@pytest.fixture(scope="module")
def generator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the generator is installed in."""
    folder = tmp_path_factory.mktemp("generator")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--target", folder]
    run = subprocess.run([*pip, *GENERATOR], capture_output=True, text=True, timeout=300, check=False)
    if run.returncode:
        reason = f"pip can't install {GENERATOR[0]}: {run.stderr.strip()[-300:]}"
        tools.skip("pypi", reason)
    return folder


@pytest.fixture(scope="module")
def generated(generator: Path, service: Running, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The generated package, of the document that the service answers with."""
    folder = tmp_path_factory.mktemp("client")
    document = folder / "openapi.json"
    document.write_bytes(service.ask("/openapi.json").body)
    config = folder / "config.yaml"
    told = (ROOT / "docs" / "api.md").read_text("utf-8").rpartition("```yaml\n")[2].partition("```")[0]
    config.write_text(f"post_hooks: []\n{told}")
    run = subprocess.run(
        [
            sys.executable, "-m", "openapi_python_client", "generate", "--path", document, "--config", config,
            "--meta", "none", "--output-path", folder / NAME,
        ],
        env=os.environ | {"PYTHONPATH": str(generator)}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    written = run.stdout + run.stderr
    assert run.returncode == 0, written
    # The generator says that it leaves sounds to the caller; nothing else may be wrong.
    faults = re.findall(r"^(?:WARNING|ERROR) (.+)\n+(.+)$", written, re.MULTILINE)
    assert not [fault for fault in faults if "Unsupported content_type" not in fault[1]], written
    sys.path += [str(folder), str(generator)]
    try:
        yield importlib.import_module(NAME)
    finally:
        sys.path.remove(str(folder))
        sys.path.remove(str(generator))


class Calls:
    """The generated calls by their operations, with a key, and with models by their names."""

    def __init__(self, package: ModuleType, service: Running) -> None:
        self._package = package
        #: Operations that were answered well.
        self.made: set[str] = set()
        self.client = package.AuthenticatedClient(
            service.address, service.key, prefix="", auth_header_name="X-API-Key", timeout=120
        )

    def __call__(self, operation: str, *arguments: Any, **parameters: Any) -> Any:
        """Make a call; returns its whole answer."""
        call = importlib.import_module(f"{NAME}.api.{operation}")
        answer = call.sync_detailed(*arguments, client=self.client, **parameters)
        if answer.status_code < 300:
            self.made.add(operation)
        return answer

    def parsed(self, operation: str, *arguments: Any, **parameters: Any) -> Any:
        """Make a call that is answered well; returns its answer as the client reads it."""
        answer = self(operation, *arguments, **parameters)
        assert answer.status_code < 300, (operation, answer.status_code, answer.content)
        return answer.parsed

    def model(self, name: str, /, *values: Any, **fields: Any) -> Any:
        return getattr(importlib.import_module(f"{NAME}.models"), name)(*values, **fields)

    def operations(self) -> set[str]:
        """Return all that the document has."""
        folder = Path(str(self._package.__file__)).parent / "api"
        return {f"{file.parent.name}.{file.stem}" for file in folder.glob("*/*.py") if file.stem != "__init__"}

    def file(self, content: bytes, name: str) -> Any:
        return importlib.import_module(f"{NAME}.types").File(io.BytesIO(content), name, "application/octet-stream")


@pytest.fixture(scope="module")
def calls(service: Running, generated: ModuleType) -> Iterator[Calls]:
    calls = Calls(generated, service)
    yield calls
    calls.client.get_httpx_client().close()


def ended(calls: Calls, job_id: Any) -> Any:
    """Poll a job until it has ended."""
    return wait_for(lambda: (job := calls("jobs.get_job", job_id).parsed).finished_at and job)


def picture() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (320, 200), "#14325a").save(file, "JPEG")
    return file.getvalue()


@pytest.fixture(scope="module")
def recording() -> bytes:
    return (FOLDER / "weather.flac").read_bytes()


def test_a_text_is_submitted_polled_fetched_and_listed(calls: Calls) -> None:
    body = calls.model("SpeechRequest", text="Good morning!", language=None)
    taken = calls("synthesis.post_tts", body=body, prefer="respond-async", idempotency_key="generated")
    job = ended(calls, taken.parsed.id)
    sound = calls("jobs.get_job_result", job.id)
    listed = calls("jobs.get_jobs", state=[job.state], limit=5)

    assert (taken.status_code, str(job.state), job.error) == (202, "succeeded", None)
    assert sound.content[:4] == b"RIFF"
    assert [one.id for one in listed.parsed] == [job.id]


def test_files_are_uploaded(calls: Calls, recording: bytes) -> None:
    files = {name: calls.file(recording, f"{name}.flac") for name in ("audio", "music")}
    mixed = calls("synthesis.post_tts_add_music", body=calls.model("AddMusicRequest", **files, music_volume=-30.0))

    assert (mixed.status_code, mixed.headers["Content-Type"]) == (200, "audio/mpeg"), mixed.content
    assert len(mixed.content) > 10_000


def test_errors_are_read_with_their_details(calls: Calls) -> None:
    wrong = calls("synthesis.post_tts", body=calls.model("SpeechRequest", text="Hello", speed=9.0))
    unknown = calls("jobs.get_job", "00000000-0000-4000-8000-000000000000")

    [fault] = wrong.parsed.details
    assert (wrong.status_code, wrong.parsed.code, fault.field, fault.code) == (
        400, "invalid_request", "speed", "field_out_of_range",
    )  # fmt: skip
    assert (unknown.status_code, unknown.parsed.details) == (404, [])


def test_every_call_is_answered(calls: Calls, engine: SearchEngine, recording: bytes) -> None:
    ask_for_speech(calls, recording)
    ask_for_transcripts(calls, recording)
    ask_for_uploads(calls, recording)
    ask_for_audiobooks(calls)
    with web_server() as site:
        ask_for_texts(calls, site)
    ask_as_openais_clients_do(calls, recording)
    ask_for_index_checks(calls, engine)
    ask_for_webhooks(calls)
    ask_about_the_account(calls)
    ask_for_jobs(calls)
    for one in ("healthz", "readyz", "metrics"):
        calls.parsed(f"service.get_{one}")

    assert calls.operations() - calls.made == set()


def ask_for_speech(calls: Calls, recording: bytes) -> None:
    music = calls.file(recording, "music.flac")
    entry = calls.model("LexiconEntry", word="Pressroom", replacement="press room", language=None)
    assert calls.parsed("synthesis.put_lexicon", body=calls.model("LexiconRequest", entries=[entry])).entries == [entry]
    assert calls.parsed("synthesis.get_lexicon").entries == [entry]
    assert calls("synthesis.get_voices", language="en").status_code == 200
    long = calls("synthesis.post_tts_batch", body=calls.model("SpeechBatchRequest", text="Good morning!"))
    stream = calls("synthesis.post_tts_stream", body=calls.model("SpeechStreamRequest", text="Good morning!"))
    under = calls(
        "synthesis.post_tts_with_music", body=calls.model("SpeechWithMusicRequest", text="Good morning!", music=music)
    )
    for answer in (long, stream, under):
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "audio/mpeg"), answer.content[:300]
        assert len(answer.content) > 2_000


def ask_for_transcripts(calls: Calls, recording: bytes) -> None:
    def sent() -> Any:
        return calls.file(recording, "weather.flac")

    answer = calls("transcription.post_tts_stt", body=calls.model("TranscriptionRequest", audio=sent()))
    heard, job_id = answer.parsed, answer.headers["X-Job-Id"]
    streamed = calls("transcription.post_tts_stt_stream", body=calls.model("TranscriptionStreamRequest", audio=sent()))
    assert calls.parsed("transcription.get_job_transcript", job_id).text == heard.text
    none = calls.model("NamesRequest", speakers=calls.model("NamesRequestSpeakers"))
    assert calls.parsed("transcription.patch_job_transcript", job_id, body=none).text == heard.text
    assert streamed.status_code == 200
    assert heard.text.split()[0].encode() in streamed.content


def ask_for_uploads(calls: Calls, recording: bytes) -> None:
    def begun() -> Any:
        return calls.parsed("uploads.post_uploads", upload_length=len(recording))

    upload = begun()
    sent = calls.file(recording, "weather.flac")
    calls.parsed("uploads.patch_upload", upload.id, body=sent, upload_offset=0)
    assert calls.parsed("uploads.get_upload", upload.id).id == upload.id
    wanted = calls.model("LongTranscriptionRequest", upload=upload.id)
    assert calls.parsed("transcription.post_transcriptions", body=wanted).text
    calls.parsed("uploads.delete_upload", begun().id)


def ask_for_audiobooks(calls: Calls) -> None:
    manuscript = calls.file(b"# One\n\nIt begins.\n\n# Two\n\nIt ends.\n", "manuscript.md")
    sent = calls.model("PostAudiobooksPlanFilesPlanRequest", manuscript=manuscript)
    plan = calls.parsed("synthesis.post_audiobooks_plan", body=sent)
    made = calls.parsed("synthesis.post_audiobooks", body=calls.model("AudiobookRequest", plan=plan.plan))
    assert str(ended(calls, made.job_id).state) == "succeeded"
    assert calls.parsed("synthesis.get_audiobook", made.job_id).spoken == 2
    [first] = calls.parsed("synthesis.get_audiobook_chapter", made.job_id, "1").passages
    change = calls.model("ChangedPassage", number=first.number, text="It began.")
    changes = calls.model("BookChanges", passages=[change])
    assert calls.parsed("synthesis.patch_audiobook", made.job_id, body=changes).passages == 2
    wanted = calls.model("BookFileRequest", report=True)
    assert calls.parsed("synthesis.post_audiobook_files", made.job_id, body=wanted).chapters


def ask_for_texts(calls: Calls, site: WebServer) -> None:
    url = site.serve("/picture.jpg", picture(), "image/jpeg")
    for name in ("generate", "atg_generate"):
        by_url = calls.parsed(f"vision.post_{name}", body=calls.model("AltTextRequest", image_url=url))
        model = f"Post{name.title().replace('_', '')}FilesAltTextRequest"
        sent = calls.parsed(f"vision.post_{name}", body=calls.model(model, image=calls.file(picture(), "picture.jpg")))
        assert by_url.alt_text
        assert sent.alt_text
    images = [calls.model("BatchImage", image_url=one) for one in (url, site.url("/missing.jpg"))]
    batch = calls.parsed("vision.post_batch", body=calls.model("AltTextBatchRequest", images=images))
    assert (batch.total, batch.successful) == (2, 1)
    post = calls.parsed("vision.post_blog_generate", body=calls.model("BlogMetadataRequest", title="Tomatoes in pots"))
    link = urlsplit(post.images[0].url)
    query = {name: values[0] for name, values in parse_qs(link.query).items()}
    shown = calls(
        "files.get_file",
        link.path.rpartition("/")[2], expires=int(query["expires"]), signature=query["signature"],
    )  # fmt: skip
    with Image.open(io.BytesIO(shown.content)) as opened:
        assert opened.size == (post.images[0].width, post.images[0].height)
    cover = calls.model("VerifyRequest", file=calls.file(shown.content, "cover"))
    found = calls.parsed("vision.post_verify", body=cover)
    assert (str(found.status), found.is_trusted) == ("signed", True)
    assert "BEGIN CERTIFICATE" in calls("jobs.get_certificate").content.decode()


def ask_as_openais_clients_do(calls: Calls, recording: bytes) -> None:
    spoken = calls("openai.openai_speech", body=calls.model("SpeechBody", input_="Good morning!"))
    assert (spoken.status_code, spoken.headers["Content-Type"]) == (200, "audio/mpeg"), spoken.content[:300]
    for name in ("Transcription", "Translation"):
        body = calls.model(f"Openai{name}s{name}Body", file=calls.file(recording, "weather.flac"))
        answer = calls(f"openai.openai_{name.lower()}s", body=body)
        assert answer.status_code == 200 or "translation_not_supported" in str(answer.content), answer.content
        if name == "Transcription":
            assert answer.parsed.text
    calls.made.add("openai.openai_translations")  # that no model here translates is a good answer too
    models = calls.parsed("openai.openai_models").data
    assert calls.parsed("openai.openai_model", models[0].id).id == models[0].id
    assert calls.parsed("openai.openai_names").models
    assert calls.parsed("openai.openai_voices").voices


def ask_for_index_checks(calls: Calls, engine: SearchEngine) -> None:
    urls = ["https://e.example/1", "https://e.example/2"]
    engine.pages.add("e.example/1")
    check = calls.model(
        "IndexCheckRequest", type_=calls.model("IndexCheckRequestType", "check"), urls=urls, skip_invalid=True
    )
    made = calls.parsed("search_check.post_indexing_jobs", body=check)
    assert str(ended(calls, made.job_id).state) == "succeeded"
    found = calls.parsed("search_check.get_indexing_job", made.job_id)
    assert (found.id, found.indexed_count, found.status) == (made.job_id, 1, "complete")
    assert [one.url for one in calls.parsed("search_check.get_indexing_job_urls", made.job_id)] == urls
    assert urls[1] in calls("search_check.get_indexing_job_export", made.job_id).content.decode()
    assert made.job_id in [one.id for one in calls.parsed("search_check.get_indexing_jobs")]
    engine.is_held = True
    cancelled = calls.parsed("search_check.post_indexing_jobs", body=check.from_dict(check.to_dict() | {"fresh": True}))
    assert str(calls.parsed("jobs.post_job_cancel", cancelled.job_id).state) == "cancelled"
    engine.is_held = False
    assert calls.parsed("search_check.post_indexing_job_retry", cancelled.job_id).total_urls == 2

    every = calls.model("MonitorRequestEvery", "week")
    made = calls.parsed(
        "search_check.post_indexing_monitors", body=calls.model("MonitorRequest", every=every, urls=urls)
    )
    paused = calls.model("MonitorChanges", state=calls.model("MonitorChangesStateType0", "paused"))
    assert calls.parsed("search_check.patch_indexing_monitor", made.id, body=paused).state == "paused"
    assert calls.parsed("search_check.get_indexing_monitor", made.id).total_urls == 2
    assert [one.id for one in calls.parsed("search_check.get_indexing_monitors")] == [made.id]
    assert isinstance(calls.parsed("search_check.get_indexing_monitor_changes", made.id), list)
    calls.parsed("search_check.delete_indexing_monitor", made.id)


def ask_for_webhooks(calls: Calls) -> None:
    url = "https://example.org/hook"
    assert calls.parsed("webhooks.put_webhooks", body=calls.model("WebhookRequest", webhook_url=url)).webhook_secret
    assert calls.parsed("webhooks.get_webhooks").webhook_url == url
    sent = calls.parsed("webhooks.post_webhooks_test")
    assert sent.id in [one.id for one in calls.parsed("webhooks.get_webhook_deliveries")]
    assert calls.parsed("webhooks.get_webhook_delivery", sent.id).url == url
    calls.parsed("webhooks.post_webhook_delivery_send", sent.id)
    assert calls.parsed("webhooks.post_webhooks_secret").webhook_secret
    calls.parsed("webhooks.delete_webhooks")
    wanted = calls.model("AddedWebhookRequest", webhook_url=url)
    added = calls.parsed("webhooks.post_webhooks", body=wanted)
    assert calls.parsed("webhooks.get_webhook", added.id) == calls.parsed("webhooks.put_webhook", added.id, body=wanted)
    assert calls.parsed("webhooks.post_webhook_test", added.id).webhook_id == added.id
    assert calls.parsed("webhooks.post_webhook_secret", added.id).webhook_secret != added.webhook_secret
    calls.parsed("webhooks.delete_webhook", added.id)


def ask_about_the_account(calls: Calls) -> None:
    made = calls.parsed("account.post_keys", body=calls.model("KeyRequest", name="made"))
    changed = calls.parsed("account.patch_key", made.id, body=calls.model("KeyChanges", name="changed"))
    assert (changed.id, changed.name) == (made.id, "changed")
    assert calls.parsed("account.get_key", made.id).name == "changed"
    assert made.id in [one.id for one in calls.parsed("account.get_keys")]
    verified = calls.parsed("account.post_verify_key", body=calls.model("KeyVerificationRequest", api_key=made.api_key))
    assert verified.valid
    assert calls.parsed("account.get_usage").credits_remaining
    assert calls.parsed("account.get_usage_ledger")
    calls.parsed("account.delete_key", made.id)


def ask_for_jobs(calls: Calls) -> None:
    state = calls.model("GetJobsStateItem", "partial")
    (batch,) = calls.parsed("jobs.get_jobs", state=[state])
    assert b"event: ended" in calls("jobs.get_job_events", batch.id).content
    assert str(ended(calls, calls.parsed("jobs.post_job_retry", batch.id).id).state) == "failed"
    assert calls.parsed("jobs.get_job_receipt", batch.id).receipt.origin
    calls.parsed("jobs.delete_job", batch.id)
