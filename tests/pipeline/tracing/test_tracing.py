"""Ids of traces, and who is told what is missing."""

import pytest

from pipeline.settings import Settings, TracingSettings
from pipeline.tracing.trace_context import Tracer, read_traceparent, span_id_of, trace_id_of
from pipeline.tracing.tracing import open_tracer

TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (f"00-{TRACE}-b7ad6b7169203331-01", (TRACE, "b7ad6b7169203331", True)),
        (f"00-{TRACE}-b7ad6b7169203331-00", (TRACE, "b7ad6b7169203331", False)),
        (f"00-{'0' * 32}-b7ad6b7169203331-01", None),
        (f"00-{TRACE}-{'0' * 16}-01", None),
        (f"01-{TRACE}-b7ad6b7169203331-01", None),
        (f"00-{TRACE.upper()}-b7ad6b7169203331-01", None),
        ("", None),
    ],
)
def test_a_header_is_read_as_the_standard_has_it(header: str, found: object) -> None:
    assert read_traceparent(header) == found


def test_each_request_has_ids_of_its_own_that_every_process_finds() -> None:
    assert trace_id_of(TRACE) == TRACE
    assert trace_id_of("order-7") == trace_id_of("order-7") != trace_id_of("order-8")
    assert len(trace_id_of("order-7")) == 32
    assert len(span_id_of("order-7")) == 16
    assert trace_id_of("0" * 32) != "0" * 32


def test_without_a_collector_nothing_is_written() -> None:
    assert isinstance(open_tracer(Settings(tracing=TracingSettings(endpoint=None, share=1)), "api"), Tracer)
