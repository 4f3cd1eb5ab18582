"""Streams that break after they have begun."""

import http.client
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from http_service import Start
from manual_worker import ManualWorker
from payers import Payer
from test_waiting import wait_for_jobs

from pipeline import lifecycle
from pipeline.lifecycle import Beat, Outcome
from pipeline.storage.streams import Parts
from pipeline.wakes import notices


def test_a_stream_that_breaks_ends_its_connection_and_is_one_line(
    start: Start, client: Payer, manual_worker: ManualWorker
) -> None:
    with start() as service, ThreadPoolExecutor() as pool:
        connection = service.connect()
        headers = {"X-API-Key": client.api_key, "Content-Type": "application/json"}
        connection.request("POST", "/tts/stream", b'{"text": "hi"}', headers)
        begun = pool.submit(connection.getresponse)
        [job_id] = wait_for_jobs(manual_worker.database, client, 1)
        [item] = manual_worker.database.run(lifecycle.claim({"speech_stream": 1}, lease_for=timedelta(seconds=30)))
        assert item.job_id == job_id
        parts = Parts(prefix="made/stream", count=1, engine="made-up")
        stored = service.data / "artifacts" / parts.key(0)
        stored.parent.mkdir(parents=True)
        stored.write_bytes(b"ID3")
        beat = Beat(item.lease_id, item.item_id, checkpoint=parts.checkpoint())
        manual_worker.database.run(lifecycle.heartbeat([beat], lease_for=timedelta(seconds=30)))
        response = begun.result()
        assert (response.status, response.read(3)) == (200, b"ID3")
        error = {"status": 500, "error": "Internal Server Error", "message": "No more.", "code": "no_more"}
        manual_worker.database.run(lifecycle.report(item.lease_id, [Outcome(item.item_id, "failed", 0, error=error)]))
        notices.add_notice(manual_worker.client, [job_id])
        with pytest.raises(http.client.IncompleteRead):
            response.read()
        response.close()
        connection.close()
        line = service.wait_for_line(event="answer broken off")
        assert (line["level"], line["code"], line["request_id"]) == (
            "warning",
            "stream_broken",
            response.getheader("X-Request-Id"),
        )
        service.wait_for_line(event="request answered", path="/tts/stream")
        # One process writes: what it has to say of the stream is there before what it says of the next request.
        service.wait_for_line(request_id=service.get("/healthz").headers["x-request-id"])
        assert "Traceback" not in service.log.read_text()
        assert not any("exception" in one for one in service.lines())
