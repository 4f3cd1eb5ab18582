"""Names of speakers, given by the API or on the job's page, which stay with the job."""

import json
from pathlib import Path
from typing import Any

import pytest
from browser import sign_in
from chromium import chromium, faults, reader
from http_service import Service, form
from manual_worker import ManualWorker
from payers import Payer, open_account
from playwright.sync_api import expect

from capabilities.transcription.kinds.transcripts import ENDINGS, Form
from capabilities.transcription.routes.names import renamed
from pipeline.database import Database
from pipeline.lifecycle import ClaimedItem, Outcome
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store
from pressroom import Pressroom

SEGMENTS = [
    {"id": 0, "start": 0.5, "end": 2.0, "text": "Shall we begin?", "speaker": "Speaker 1"},
    {"id": 1, "start": 2.2, "end": 3.5, "text": "Let us begin.", "speaker": "Speaker 2"},
]
TRANSCRIPT = {
    "text": "Shall we begin? Let us begin.",
    "language": "en",
    "language_probability": 0.9,
    "duration": 4.0,
    "credits_used": 5,
    "draft": False,
    "warnings": [],
    "speakers": ["Speaker 1", "Speaker 2"],
    "segments": [{"probability": None, "words": None, **segment} for segment in SEGMENTS],
}
SRT = (
    "1\n00:00:00,500 --> 00:00:02,000\nSpeaker 1: Shall we begin?\n\n"
    "2\n00:00:02,200 --> 00:00:03,500\nSpeaker 2: Let us begin.\n\n"
)


def transcribed(
    service: Service, worker: ManualWorker, key: str, content: str, form_of_it: Form, **fields: bytes
) -> str:
    """Return the job of a recording for which a worker has delivered some transcript."""

    def deliver(item: ClaimedItem) -> Outcome:
        artifact = f"2999-01-01/{item.job_id}/0/{item.lease_id}{ENDINGS[form_of_it]}"
        Artifacts(open_store(Settings(data=service.data))).put(artifact, content.encode())
        output = {"artifact": artifact, "response_format": form_of_it, "duration_seconds": 4.0}
        return Outcome(item.item_id, "done", item.price, output, engine="whisper")

    sent = [(name, value, None) for name, value in (fields | {"response_format": form_of_it.encode()}).items()]
    body, content_type = form(("audio", b"RIFF", "talk.wav"), *sent)
    answer = service.post_bytes("/tts/stt", body, key, Content_Type=content_type, Prefer="respond-async")
    worker.lanes = {"transcription": 1}
    worker.work(deliver)
    return str(answer.json["id"])


def rename(service: Service, key: str, job_id: str, names: dict[str, Any]) -> Any:
    body, headers = json.dumps({"speakers": names}).encode(), {"X-API-Key": key, "Content-Type": "application/json"}
    return service.request("PATCH", f"/jobs/{job_id}/transcript", body, headers)


def test_names_stay_with_the_job_and_stand_in_its_transcript(
    service: Service, manual_worker: ManualWorker, client: Payer, tmp_path: Path
) -> None:
    job_id = transcribed(service, manual_worker, client.api_key, SRT, "srt", diarize=b"true")
    with Pressroom(client.api_key, url=f"http://127.0.0.1:{service.port}") as pressroom:
        named = pressroom.name_speakers(job_id, {"Speaker 2": " Ada --> Lovelace "}, to=tmp_path / "talk.srt")

    assert named == SRT.replace("Speaker 2", "Ada → Lovelace") == (tmp_path / "talk.srt").read_text()
    again = rename(service, client.api_key, job_id, {"Speaker 1": "Bob", "Speaker 2": ""})
    kept = service.get(f"/jobs/{job_id}/transcript", client.api_key)
    assert again.body == kept.body == SRT.replace("Speaker 1", "Bob").encode()
    assert kept.headers["content-type"] == "application/x-subrip; charset=utf-8"
    assert service.get(f"/jobs/{job_id}/result", client.api_key).body.decode() == SRT


def test_who_does_not_speak_gets_no_name_and_others_accounts_have_no_such_transcript(
    service: Service, manual_worker: ManualWorker, client: Payer, api_database: Database
) -> None:
    job_id = transcribed(service, manual_worker, client.api_key, SRT, "srt", diarize=b"true")
    plain = transcribed(service, manual_worker, client.api_key, SRT, "srt")
    for job, names in ((job_id, {"Speaker 3": "Eve"}), (plain, {"Speaker 1": "Eve"})):
        refused = rename(service, client.api_key, job, names)
        assert (refused.status, refused.code) == (400, "speaker_unknown")
    assert rename(service, client.api_key, job_id, {"Speaker 1": "two\nlines"}).status == 400
    assert rename(service, open_account(api_database).api_key, job_id, {"Speaker 1": "Eve"}).status == 404
    assert service.get(f"/jobs/{job_id}/transcript", client.api_key).body.decode() == SRT


@pytest.mark.parametrize(
    ("form_of_it", "before", "after"),
    [
        ("text", "Speaker 1: Hello.\n\nSpeaker 2: Speaker 1: is me.", "A & B: Hello.\n\nSpeaker 2: Speaker 1: is me."),
        ("vtt", "00:00.000 --> 00:01.000\nSpeaker 1: Hi\n", "00:00.000 --> 00:01.000\nA &amp; B: Hi\n"),
        ("json", '{"text": "Hi", "speakers": ["Speaker 1"]}', '{"text": "Hi", "speakers": ["A & B"]}'),
        ("verbose_json", '{"segments": [{"speaker": "Speaker 1"}]}', '{"segments": [{"speaker": "A & B"}]}'),
    ],
)  # fmt: skip
def test_each_form_has_the_names(form_of_it: Form, before: str, after: str) -> None:
    assert renamed(before, form_of_it, lambda speaker: {"Speaker 1": "A & B"}.get(speaker, speaker)) == after


def test_names_given_on_the_jobs_page_stand_in_its_files(
    service: Service, api_database: Database, manual_worker: ManualWorker, client: Payer, tmp_path: Path
) -> None:
    told = {"diarize": b"true", "speakers": b"2"}
    job_id = transcribed(service, manual_worker, client.api_key, json.dumps(TRANSCRIPT), "verbose_json", **told)
    cookies = sign_in(service, api_database, client).cookies
    address = f"http://127.0.0.1:{service.port}"

    with chromium() as browser, reader(browser, address) as opened:
        opened.context.add_cookies([{"name": name, "value": value, "url": address} for name, value in cookies.items()])
        page = opened.open(f"/dashboard/jobs/{job_id}")
        expect(page.locator("[data-result]")).to_contain_text("Speaker 2")
        with page.expect_response(
            lambda response: response.url.endswith("/rows") and response.request.method == "POST"
        ):
            page.get_by_label("Name of Speaker 2").fill("Ada Lovelace")
            page.get_by_label("Name of Speaker 2").press("Tab")
        expect(page.locator("[data-result]")).to_contain_text("Ada Lovelace: Let us begin.")

        rename(service, client.api_key, job_id, {"Speaker 1": "Bob"})
        page = opened.open(f"/dashboard/jobs/{job_id}")
        expect(page.get_by_label("Name of Speaker 2")).to_have_value("Ada Lovelace")
        with page.expect_download() as download:
            page.get_by_role("button", name="Download as SRT").click()
        download.value.save_as(tmp_path / "talk.srt")
        assert faults(page) == []

    written = (tmp_path / "talk.srt").read_text()
    assert "Bob: Shall we begin?" in written
    assert "Ada Lovelace: Let us begin." in written
