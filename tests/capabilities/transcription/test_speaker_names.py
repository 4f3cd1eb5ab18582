"""Speakers, in Chromium: a job's page shows the speakers, takes their names, and writes them into its files."""

import json
from pathlib import Path

from browser import sign_in
from chromium import chromium, faults, reader
from http_service import Service, form
from manual_worker import ManualWorker
from payers import Payer
from playwright.sync_api import expect

from pipeline.database import Database
from pipeline.lifecycle import ClaimedItem, Outcome
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store

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


def test_speakers_get_names_that_stay_with_the_job_and_stand_in_its_files(
    service: Service, api_database: Database, manual_worker: ManualWorker, client: Payer, tmp_path: Path
) -> None:
    def deliver(item: ClaimedItem) -> Outcome:
        key = f"2999-01-01/{item.job_id}/0/{item.lease_id}.json"
        Artifacts(open_store(Settings(data=service.data))).put(key, json.dumps(TRANSCRIPT).encode())
        output = {"artifact": key, "response_format": "verbose_json", "duration_seconds": 4.0}
        return Outcome(item.item_id, "done", item.price, output, engine="whisper")

    sent, content_type = form(
        ("audio", b"RIFF", "talk.wav"),
        *((name, value, None) for name, value in (("diarize", b"true"), ("speakers", b"2"))),
        ("response_format", b"verbose_json", None),
    )
    answer = service.post_bytes("/tts/stt", sent, client.api_key, Content_Type=content_type, Prefer="respond-async")
    manual_worker.lanes = {"transcription": 1}
    manual_worker.work(deliver)
    cookies = sign_in(service, api_database, client).cookies
    address = f"http://127.0.0.1:{service.port}"

    with chromium() as browser, reader(browser, address) as opened:
        opened.context.add_cookies([{"name": name, "value": value, "url": address} for name, value in cookies.items()])
        page = opened.open(f"/dashboard/jobs/{answer.json['id']}")
        expect(page.locator("[data-result]")).to_contain_text("Speaker 2")
        with page.expect_response(
            lambda response: response.url.endswith("/rows") and response.request.method == "POST"
        ):
            page.get_by_label("Name of Speaker 2").fill("Ada Lovelace")
            page.get_by_label("Name of Speaker 2").press("Tab")
        expect(page.locator("[data-result]")).to_contain_text("Ada Lovelace: Let us begin.")

        page = opened.open(f"/dashboard/jobs/{answer.json['id']}")
        expect(page.get_by_label("Name of Speaker 2")).to_have_value("Ada Lovelace")
        with page.expect_download() as download:
            page.get_by_role("button", name="Download as SRT").click()
        download.value.save_as(tmp_path / "talk.srt")
        assert faults(page) == []

    written = (tmp_path / "talk.srt").read_text()
    assert "Speaker 1: Shall we begin?" in written
    assert "Ada Lovelace: Let us begin." in written
