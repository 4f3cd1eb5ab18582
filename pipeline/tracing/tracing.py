"""Tracing: one OpenTelemetry trace from a request to its result, over all processes that had a part in it.

The trace's id is made of the request's id, which a job keeps, so that workers know it without being told; nothing more
is stored or sent with a job. Spans are written down when they end. Without PRESSROOM_TRACING__ENDPOINT none are.
"""

from collections.abc import Mapping
from typing import Any

from pipeline.errors import NotReady
from pipeline.settings import Settings
from pipeline.settings.installing import install_command

#: The extra with OpenTelemetry's packages.
EXTRA = "tracing"

Attributes = Mapping[str, str | int | float | bool]


class Tracer:
    """Writes nothing down; a subclass does.

    Who makes many spans asks first whether it `is_on`: describing one costs more than dropping it."""

    is_on = False

    def request(self, request_id: str, traceparent: str | None, name: str, seconds: float, **attributes: Any) -> None:
        """Write down that a request was answered just now, after so many seconds."""

    def work(self, request_id: str, name: str, *, ago: float, seconds: float, **attributes: Any) -> None:
        """Write down a part of what a request led to: it ended `ago` seconds before now and took `seconds`."""

    def close(self) -> None:
        """Send what is still to be sent."""


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
