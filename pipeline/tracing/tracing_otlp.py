"""Tracing by OTLP: spans are sent to a collector over HTTP, some at a time, by a thread of OpenTelemetry's."""

import threading
from typing import Any

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, TraceFlags, set_span_in_context

from pipeline.tracing.trace_context import Tracer, moment_ago, read_traceparent, span_id_of, trace_id_of


class _Ids(RandomIdGenerator):
    """Gives the next span the ids that it is told to; otherwise random ones."""

    def __init__(self) -> None:
        self.trace: int | None = None
        self.span: int | None = None

    def generate_trace_id(self) -> int:
        return self.trace or super().generate_trace_id()

    def generate_span_id(self) -> int:
        return self.span or super().generate_span_id()


class OtlpTracer(Tracer):
    """Sends spans to `endpoint`, such as http://collector:4318/v1/traces; `share` of the traces, from 0 to 1."""

    is_on = True

    def __init__(self, endpoint: str, share: float, part: str) -> None:
        self._ids = _Ids()
        self._lock = threading.Lock()  # the ids are for one span
        # By the trace's id, so that all processes decide alike.
        self._sampler = TraceIdRatioBased(share)
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "pressroom", "service.instance.part": part}),
            id_generator=self._ids,
            sampler=ParentBased(self._sampler, remote_parent_not_sampled=self._sampler),
            shutdown_on_exit=True,
        )
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint)))
        self._tracer = self._provider.get_tracer("pressroom")

    def request(self, request_id: str, traceparent: str | None, name: str, seconds: float, **attributes: Any) -> None:
        """Write down that a request was answered just now: under its caller's span, if that is of the same trace."""
        trace, span = int(trace_id_of(request_id), 16), int(span_id_of(request_id), 16)
        caller = _context_of(traceparent)
        is_ours = caller is not None and caller.trace_id == trace
        parent = set_span_in_context(NonRecordingSpan(caller)) if caller is not None and is_ours else Context()
        links = [] if caller is None or is_ours else [Link(caller)]
        with self._lock:
            self._ids.trace, self._ids.span = trace, span
            try:
                started = self._tracer.start_span(
                    name, parent, SpanKind.SERVER, attributes, links, start_time=moment_ago(seconds)
                )
            finally:
                self._ids.trace = self._ids.span = None
        started.end()

    def work(self, request_id: str, name: str, *, ago: float, seconds: float, **attributes: Any) -> None:
        """Write down a part of what a request led to, under its span."""
        trace, span = int(trace_id_of(request_id), 16), int(span_id_of(request_id), 16)
        # Sampled as the request was: by its id.
        flags = TraceFlags.SAMPLED if trace & TraceIdRatioBased.TRACE_ID_LIMIT < self._sampler.bound else 0
        above = SpanContext(trace, span, is_remote=True, trace_flags=TraceFlags(flags))
        parent = set_span_in_context(NonRecordingSpan(above))
        with self._lock:
            started = self._tracer.start_span(
                name, parent, SpanKind.CONSUMER, attributes, start_time=moment_ago(ago + seconds)
            )
        started.end(moment_ago(ago))

    def close(self) -> None:
        """Send the rest."""
        self._provider.shutdown()


def _context_of(traceparent: str | None) -> SpanContext | None:
    found = read_traceparent(traceparent) if traceparent else None
    if found is None:
        return None
    trace, span, is_sampled = found
    return SpanContext(int(trace, 16), int(span, 16), is_remote=True, trace_flags=TraceFlags(int(is_sampled)))
