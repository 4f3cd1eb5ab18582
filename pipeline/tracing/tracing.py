"""Tracing: one OpenTelemetry trace from a request to its result, over all processes that had a part in it.

The trace's id is made of the request's id, which a job keeps, so that workers know it without being told; nothing more
is stored or sent with a job. Spans are written down when they end. Without PRESSROOM_TRACING__ENDPOINT none are."""

from pipeline.errors import NotReady
from pipeline.settings import Settings
from pipeline.settings.installing import install_command
from pipeline.tracing.trace_context import Tracer

#: The extra with OpenTelemetry's packages.
EXTRA = "tracing"


def open_tracer(settings: Settings, part: str) -> Tracer:
    """Return the tracer that the settings ask for; `part` names this process: api, or a pool.

    Raises NotReady when the packages for it are missing."""
    if settings.tracing.endpoint is None:
        return Tracer()
    try:
        from pipeline.tracing.tracing_otlp import OtlpTracer
    except ImportError:
        raise NotReady(f"Tracing needs the packages of OpenTelemetry: `{install_command(EXTRA)}`.") from None
    return OtlpTracer(settings.tracing.endpoint, settings.tracing.share, part)
