"""Parts of results: players ask for them to jump to a place."""

from uuid import uuid4

import pytest
from http_service import Answer, Service
from manual_worker import ManualWorker
from payers import Payer
from workbench import submission

from pipeline import lifecycle
from pipeline.lifecycle import Outcome
from pipeline.settings import Settings
from pipeline.storage.artifacts import Artifacts, open_store

SOUND = bytes(range(256)) * 1_000


@pytest.fixture
def result(service: Service, client: Payer, manual_worker: ManualWorker) -> str:
    """The path of a result of bytes."""
    job_id = uuid4()
    key = f"made/{job_id}"
    Artifacts(open_store(Settings(data=service.data))).put(key, SOUND)
    made = submission(client, kind="files", route="/files-in", job_id=job_id)
    manual_worker.database.run(lifecycle.submit(made))
    manual_worker.work(lambda item: Outcome(item.item_id, "done", 1, {"artifact": key}, engine="made-up"))
    return f"/jobs/{job_id}/result"


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [("bytes=0-99", 0, 100), ("bytes=1000-", 1_000, len(SOUND)), ("bytes=-5", len(SOUND) - 5, len(SOUND))],
)
def test_a_part_of_a_result_is_sent(
    service: Service, client: Payer, result: str, asked: str, start: int, end: int
) -> None:
    answer = service.get(result, client.api_key, Range=asked)
    assert (answer.status, answer.body) == (206, SOUND[start:end])
    assert answer.headers["content-range"] == f"bytes {start}-{end - 1}/{len(SOUND)}"
    assert answer.headers["content-length"] == str(end - start)
    assert answer.headers["content-type"] == "audio/mpeg"
    assert "content-encoding" not in answer.headers


def test_the_whole_says_that_parts_can_be_had_and_a_head_is_of_the_whole(
    service: Service, client: Payer, result: str
) -> None:
    whole = service.get(result, client.api_key)
    headers = {"X-API-Key": client.api_key, "Range": "bytes=0-9"}
    head = service.request("HEAD", result, headers=headers)
    for answer in (whole, head):
        assert (answer.status, answer.headers["accept-ranges"]) == (200, "bytes")
        assert answer.headers["content-length"] == str(len(SOUND))
        assert answer.headers["content-disposition"] == "attachment; filename=output.mp3"
    assert whole.body == SOUND
    again = service.get(result, client.api_key, Range="bytes=0-9", If_Range=whole.headers["etag"])
    other = service.get(result, client.api_key, Range="bytes=0-9", If_Range='"another"')
    assert (again.status, other.status) == (206, 200)


def test_a_result_whose_bytes_are_lost_is_gone(service: Service, client: Payer, result: str) -> None:
    (service.data / "artifacts" / "made" / result.split("/")[2]).unlink()
    assert service.get(result, client.api_key).status == 410


def test_json_is_sent_whole(service: Service, client: Payer, manual_worker: ManualWorker) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    manual_worker.work()

    def read(**headers: str) -> Answer:
        return service.get(f"/jobs/{job_id}/result", client.api_key, **headers)

    assert (read(Range="bytes=0-1").status, read(Range="bytes=0-1").body) == (200, read().body)
