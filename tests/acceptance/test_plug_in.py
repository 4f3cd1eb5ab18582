"""Plug-ins and traces: an operator adds somebody else's package and a collector."""

import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from systems import Running, only, system
from waiting import wait_for

pytestmark = pytest.mark.system

PLUG_IN = Path(__file__).parents[1] / "plug_in"
ASKED = {"text": "Two words."}
TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class Collector:
    """Takes spans by OTLP over HTTP."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        taken = self.spans

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sent = ExportTraceServiceRequest.FromString(self.rfile.read(int(self.headers["Content-Length"])))
                for resource in sent.resource_spans:
                    for scope in resource.scope_spans:
                        taken.extend(scope.spans)
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1/traces"

    def of(self, trace: str, *, at_least: int) -> dict[str, Any]:
        """Return the spans of a trace by name, once there are so many."""

        def found() -> dict[str, Any]:
            return {span.name: span for span in self.spans if span.trace_id.hex() == trace}

        wait_for(lambda: len(found()) >= at_least, about=found)
        return found()


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    found = Collector()
    thread = threading.Thread(target=found.server.serve_forever, args=(0.01,))
    thread.start()
    yield found
    found.server.shutdown()
    thread.join()
    found.server.server_close()


@pytest.fixture(scope="module")
def service(collector: Collector, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A system with the package on its path, which tells the collector."""
    path = os.pathsep.join((os.environ.get("PYTHONPATH", ""), str(PLUG_IN)))
    extra = {"PYTHONPATH": path, "PRESSROOM_SYNTHESIS__ENGINES": "hum,espeak"}
    extra |= {"PRESSROOM_TRACING__ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "200"}
    with system(tmp_path_factory.mktemp("added") / "data", *only("synthesis"), extra=extra) as running:
        yield running


def test_an_engine_of_another_package_speaks_first_and_its_voice_is_listed(service: Running) -> None:
    spoken = service.ask("/tts", {"text": "Hello."})

    assert (spoken.status, spoken.headers["X-Engine"]) == (200, "hum"), spoken.body
    assert spoken.body[:4] == b"RIFF"
    # The API reads the pools' offers again after a while.
    wait_for(lambda: service.ask("/tts/voices").json["voices"][0]["name"] == "hum")
    assert service.ask("/tts", {"text": "Hello.", "voice_name": "de"}).headers["X-Engine"] == "espeak"


def test_a_kind_of_another_package_is_asked_for_like_any_other(service: Running) -> None:
    counted = service.ask("/words/tally", ASKED)

    assert (counted.status, counted.json) == (200, {"words": 2}), counted.body
    assert counted.headers["X-Credits-Used"] == "2"
    assert "X-Engine" not in counted.headers
    assert "/words/tally" in service.ask("/openapi.json").json["paths"]
    assert service.ask("/words/tally", {"text": 5}).json["code"] == "invalid_request"


def test_a_request_its_wait_and_its_run_are_one_trace(service: Running, collector: Collector) -> None:
    answer = service.ask("/words/tally", ASKED)

    spans = collector.of(answer.headers["X-Request-Id"], at_least=3)
    request = spans["POST /words/tally"]
    assert set(spans) == {"POST /words/tally", "wait word_tally", "run word_tally"}
    assert {spans[name].parent_span_id for name in ("wait word_tally", "run word_tally")} == {request.span_id}
    assert request.parent_span_id == b""
    run = spans["run word_tally"]
    assert request.start_time_unix_nano <= run.start_time_unix_nano <= run.end_time_unix_nano
    about = {one.key: one.value.string_value for one in run.attributes}
    assert (about["pressroom.job.id"], about["pressroom.outcome"]) == (answer.headers["X-Job-Id"], "done")


def test_a_caller_s_trace_goes_on(service: Running, collector: Collector) -> None:
    answer = service.ask("/words/tally", ASKED, traceparent=f"00-{TRACE}-{CALLER}-01")

    assert answer.headers["X-Request-Id"] == TRACE
    spans = collector.of(TRACE, at_least=3)
    assert spans["POST /words/tally"].parent_span_id.hex() == CALLER
    assert spans["run word_tally"].parent_span_id == spans["POST /words/tally"].span_id


def test_a_request_id_of_its_own_keeps_its_trace_and_names_the_caller_s(service: Running, collector: Collector) -> None:
    headers = {"X-Request-Id": "order-7", "traceparent": f"00-{'ab' * 16}-{CALLER}-01"}
    assert service.ask("/words/tally", ASKED, **headers).headers["X-Request-Id"] == "order-7"

    def linked() -> list[str]:
        return [span.name for span in collector.spans if any(link.trace_id.hex() == "ab" * 16 for link in span.links)]

    assert wait_for(linked) == ["POST /words/tally"]
