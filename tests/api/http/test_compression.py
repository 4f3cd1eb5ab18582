"""Large JSON is sent compressed to who takes gzip, and nothing else is."""

import gzip
import json

import pytest
from http_service import Answer, Service
from manual_worker import ManualWorker
from payers import Payer

from api.http.answer_middleware import takes_gzip


def get(service: Service, path: str, key: str = "", accepted: str = "gzip") -> Answer:
    return service.get(path, key or None, Accept_Encoding=accepted)


@pytest.fixture
def listed(service: Service, client: Payer) -> Payer:
    """An account with enough jobs for a long list."""
    for _ in range(5):
        service.submit({"text": "hi"}, client.api_key)
    return client


def test_a_long_list_is_compressed_for_who_takes_it(service: Service, listed: Payer) -> None:
    plain = service.get("/jobs", listed.api_key)
    answer = get(service, "/jobs", listed.api_key)
    assert "content-encoding" not in plain.headers
    assert (answer.headers["content-encoding"], answer.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert plain.headers["vary"] == "Accept-Encoding"
    assert json.loads(gzip.decompress(answer.body)) == plain.json
    assert int(answer.headers["content-length"]) == len(answer.body) < len(plain.body) / 2
    assert answer.headers["x-total-count"] == "5"


@pytest.mark.parametrize(
    ("accepted", "is_taken"),
    [
        *(("gzip", True), ("GZIP;q=0.5", True), ("br, gzip", True), ("*", True), ("deflate, *;q=0.1", True)),
        *(
            ("", False),
            ("gzip;q=0", False),
            ("*, gzip;q=0.0", False),
            ("*;q=0", False),
            ("br", False),
            ("gzipped", False),
        ),
    ],
)
def test_an_accept_encoding_is_read_as_http_has_it(accepted: str, is_taken: bool) -> None:
    assert takes_gzip(accepted) is is_taken


def test_a_short_answer_is_sent_as_it_is(service: Service, client: Payer) -> None:
    answer = get(service, "/jobs", client.api_key)
    assert (answer.json, answer.headers["vary"]) == ([], "Accept-Encoding")
    assert "content-encoding" not in answer.headers


def test_a_very_large_answer_is_compressed_beside_the_others(
    service: Service, client: Payer, manual_worker: ManualWorker
) -> None:
    job_id = service.submit({"items": 1_000}, client.api_key, "/many")
    manual_worker.lanes = {"many": 1_000}
    manual_worker.work()
    answer = get(service, f"/jobs/{job_id}/result", client.api_key)
    assert len(json.loads(gzip.decompress(answer.body))["results"]) == 1_000


def test_events_and_pages_with_a_token_are_never_compressed(service: Service, client: Payer) -> None:
    job_id = service.submit({"text": "hi"}, client.api_key)
    service.post_bytes(f"/jobs/{job_id}/cancel", b"", client.api_key)
    events = get(service, f"/jobs/{job_id}/events", client.api_key)
    page = get(service, "/dashboard/sign-in")
    assert events.body.startswith(b"event: ")
    assert b"csrf_token" in page.body
    assert len(page.body) > 1_024
    for answer in (events, page):
        assert "content-encoding" not in answer.headers


def test_the_documents_are_compressed(service: Service) -> None:
    for path in ("/openapi.json", "/docs"):
        answer = get(service, path)
        assert gzip.decompress(answer.body) == service.get(path).body


def test_a_compressed_answer_has_a_weak_tag_that_still_matches(service: Service) -> None:
    plain = service.get("/tts/voices").headers["etag"]
    answer = get(service, "/tts/voices")
    assert answer.headers["etag"] == f"W/{plain}"
    for tag in (plain, f"W/{plain}"):
        assert service.get("/tts/voices", Accept_Encoding="gzip", If_None_Match=tag).status == 304
