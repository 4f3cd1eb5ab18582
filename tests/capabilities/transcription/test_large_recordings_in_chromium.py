"""A recording that is too large for a form, on the Transcript page: sent in pieces over a connection that breaks."""

import json
from pathlib import Path
from uuid import UUID

from browser import sign_in
from chromium import chromium, reader
from http_service import Start
from manual_worker import ManualWorker
from payers import Payer
from playwright.sync_api import expect

from pipeline.database import Database
from pipeline.lifecycle import ClaimedItem, Outcome
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store
from pipeline.storage.resumable import find_part_keys

#: Two pieces and a bit.
RECORDING = bytes(range(256)) * 40_000
TRANSCRIPT = {
    "text": "Shall we begin?",
    "language": "en",
    "language_probability": 0.9,
    "duration": 4.0,
    "credits_used": 5,
    "draft": False,
    "warnings": [],
    "segments": [{"id": 0, "start": 0.5, "end": 2.0, "text": "Shall we begin?", "words": None}],
}
#: Breaks the second piece and the first question how much has arrived, and notes what was asked. Playwright's own
#: `route` would read each piece through the browser's protocol, for half a minute.
BREAK_SOME = """() => {
  const real = window.fetch;
  window.asked = [];
  window.fetch = (path, options) => {
    if (!path.startsWith('/uploads/')) return real(path, options);
    window.asked.push(options.method);
    const isBroken = [2, 3].includes(window.asked.length);
    return isBroken ? Promise.reject(new TypeError('Failed to fetch')) : real(path, options);
  };
}"""


def test_an_upload_goes_on_after_its_connection_broke_and_makes_one_transcript(
    start: Start, api_database: Database, manual_worker: ManualWorker, client: Payer, tmp_path: Path
) -> None:
    read: dict[UUID, bytes] = {}
    recording = tmp_path / "Gespräch.mp3"
    recording.write_bytes(RECORDING)

    with start(API__MAX_UPLOAD_BYTES="1000000") as service, chromium() as browser:
        artifacts = Artifacts(open_store(Settings(data=service.data)))

        def deliver(item: ClaimedItem) -> Outcome:
            read[item.job_id] = b"".join(map(artifacts.get, api_database.run(find_part_keys(item.job_id))))
            key = f"2999-01-01/{item.job_id}/0/{item.lease_id}.json"
            artifacts.put(key, json.dumps(TRANSCRIPT).encode())
            output = {"artifact": key, "response_format": "verbose_json", "duration_seconds": 4.0}
            return Outcome(item.item_id, "done", item.price, output, engine="whisper")

        cookies = sign_in(service, api_database, client).cookies
        address = f"http://127.0.0.1:{service.port}"
        with reader(browser, address) as opened:
            given = [{"name": name, "value": value, "url": address} for name, value in cookies.items()]
            opened.context.add_cookies(given)  # type: ignore[arg-type]
            page = opened.open("/dashboard/try/transcript")
            page.evaluate(BREAK_SOME)
            page.get_by_label("Recording", exact=True).set_input_files(recording)
            page.get_by_role("button", name="Transcribe").click()
            expect(page.locator("[data-status]")).to_contain_text("Uploading … 4 of 10 MB")
            expect(page.locator("[data-status]")).to_contain_text("Queued …")
            manual_worker.lanes = {"long_transcription": 1}
            manual_worker.work(deliver)
            expect(page.locator("[data-result]")).to_contain_text("Shall we begin?")
            assert page.evaluate("window.asked") == ["PATCH", "PATCH", "HEAD", "HEAD", "PATCH", "PATCH"]

    assert list(read.values()) == [RECORDING]
