"""Speech by the edge service, and by espeak when it fails: a whole system, and the service on loopback."""

import json
import signal
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection, IncompleteRead

import pytest
from edge_service import EdgeService, edge_service
from systems import Answer, Running, kill, only, system
from waiting import wait_for

from pipeline.accounts.ledger import discrepancies
from pipeline.database import Database

pytestmark = pytest.mark.system

VOICE = "en-GB-SoniaNeural"
TEXT = "A first sentence is here. And a second one follows it! Is there a third? There is, and it is the last of them."


@pytest.fixture(scope="module")
def fake() -> Iterator[EdgeService]:
    with edge_service() as service:
        yield service


@pytest.fixture(scope="module")
def shared(fake: EdgeService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    extra = {
        "PRESSROOM_SYNTHESIS__ENGINES": "edge,espeak",
        "PRESSROOM_SYNTHESIS__EDGE__URL": fake.url,
        "PRESSROOM_SYNTHESIS__EDGE__VOICES_URL": fake.voices_url,
        "PRESSROOM_SYNTHESIS__EDGE__STALL_SECONDS": "3",
        "PRESSROOM_SYNTHESIS__EDGE__PAUSE_SECONDS": "0.5",
        "PRESSROOM_API__OFFERS_MAX_AGE_SECONDS": "0.2",
        "PRESSROOM_LIMITS__ENTERPRISE__PER_MINUTE": "0",
    }
    with system(tmp_path_factory.mktemp("edge") / "data", *only("synthesis"), extra=extra) as running:
        yield running
        with Database(running.database_url) as database:
            assert database.run(discrepancies()) == []


@pytest.fixture
def service(fake: EdgeService, shared: Running) -> Iterator[Running]:
    """The system, with the edge service well and known to be."""
    fake.fail(None)
    wait_for_edge(shared, available=True)
    yield shared
    fake.fail(None)


def wait_for_edge(running: Running, *, available: bool) -> None:
    until = time.monotonic() + 120
    agreed = 0  # both API processes have their own copy of the offers
    while agreed < 8:
        assert time.monotonic() < until, running.written()[-3_000:]
        is_there = VOICE in {voice["id"] for voice in running.ask("/tts/voices").json["voices"]}
        agreed = agreed + 1 if is_there == available else 0
        time.sleep(0.05)


def test_a_probed_edge_speaks_and_says_so(service: Running, fake: EdgeService) -> None:
    for route, body in (
        ("/tts", {"text": TEXT}),
        ("/tts/batch", {"text": TEXT}),
        ("/tts/stream", {"text": TEXT, "chunk_size": 50}),
        ("/tts", {"text": TEXT, "voice_name": VOICE}),
    ):
        answer = service.ask(route, body)
        assert (answer.status, answer.headers["X-Engine"]) == (200, "edge"), answer.body[:300]
    assert fake.most_open <= 4


@pytest.mark.parametrize("fault", ["forbidden", "stall"])
def test_who_named_no_voice_is_served_by_espeak_when_edge_fails(
    service: Running, fake: EdgeService, fault: str
) -> None:
    fake.fail(fault)

    answer = service.ask("/tts/batch", {"text": TEXT})

    assert (answer.status, answer.headers["X-Engine"]) == (200, "espeak"), answer.body[:300]
    assert answer.headers["X-Credits-Used"] == "1"


@pytest.mark.parametrize("route", ["/tts", "/tts/batch", "/tts/stream"])
def test_who_named_an_edge_voice_gets_503_and_pays_nothing(service: Running, fake: EdgeService, route: str) -> None:
    before = service.ask("/usage").json["credits_remaining"]
    fake.fail("forbidden")
    answers = [service.ask(route, {"text": TEXT, "voice_name": VOICE})]
    wait_for_edge(service, available=False)
    answers.append(service.ask(route, {"text": TEXT, "voice_name": VOICE}))

    for answer in answers:
        assert answer.status == 503
        assert answer.json["code"] == "engine_unavailable"
    usage = service.ask("/usage").json
    assert (usage["credits_remaining"], usage["credits_held"]) == (before, 0)


def test_a_stream_that_breaks_ends_without_its_last_chunk_and_what_was_spoken_is_charged(
    service: Running, fake: EdgeService
) -> None:
    fake.delay = 0.02
    text = "These words are spoken slowly by a service that will fail. " * 60
    body = json.dumps({"text": text, "chunk_size": 60, "voice_name": VOICE})
    connection = HTTPConnection(service.address.removeprefix("http://"), timeout=60)
    headers = {"X-API-Key": service.key, "X-Request-Id": "breaks", "Content-Type": "application/json"}
    try:
        connection.request("POST", "/tts/stream", body, headers)
        response = connection.getresponse()  # the first words are there
        fake.fail("forbidden")
        with pytest.raises(IncompleteRead):
            response.read()
    finally:
        fake.delay = 0.0
        connection.close()
    job = service.wait_for_state(service.ask("/jobs?request_id=breaks").json[0]["id"])
    assert job["state"] == "failed"
    assert 1 <= job["credits"]["captured"] < job["credits"]["held"]


def test_streams_at_once_are_served_evenly(service: Running) -> None:
    text = TEXT * 4
    answers: list[tuple[float, Answer]] = []

    def stream() -> None:
        answer = service.ask("/tts/stream", {"text": text, "chunk_size": 100})
        answers.append((time.monotonic(), answer))

    threads = [threading.Thread(target=stream) for _ in range(20)]
    workers = service.workers("synthesis")
    try:
        for pid in workers:
            assert kill(pid, signal.SIGSTOP)
        for thread in threads:
            thread.start()
        wait_for(
            lambda: int(service.ask("/jobs?kind=speech_stream&state=queued").headers["X-Total-Count"]) >= len(threads)
        )
    finally:
        for pid in workers:
            kill(pid, signal.SIGCONT)
    began = time.monotonic()  # for all of them, however long it took to ask
    for thread in threads:
        thread.join()

    assert [answer.status for _, answer in answers] == [200] * 20
    seconds = [ended - began for ended, _ in answers]
    # One after the other, the first would be done in a twentieth of the time of the last.
    assert min(seconds) > max(seconds) / 4
