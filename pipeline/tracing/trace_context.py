"""Trace context: the ids of traces and spans, made of the ids of requests, and what writes spans down."""

import hashlib
import re
import time
from typing import Any

#: W3C Trace Context: version, trace id, the caller's span id, flags.
TRACEPARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})")
TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}")


def read_traceparent(header: str) -> tuple[str, str, bool] | None:
    """Return the trace and the span of a `traceparent` header, and whether it is sampled; None: it is malformed."""
    found = TRACEPARENT.fullmatch(header.strip())
    return (found[1], found[2], bool(int(found[3], 16) & 1)) if found else None


def trace_id_of(request_id: str) -> str:
    """Return the trace of a request: its id if that has the form of one, else a digest of it; 32 hex digits."""
    if TRACE_ID.fullmatch(request_id):
        return request_id
    return hashlib.blake2b(request_id.encode(), digest_size=16).hexdigest()


def span_id_of(request_id: str) -> str:
    """Return the span of a request, the parent of all that it causes; 16 hex digits."""
    return hashlib.blake2b(request_id.encode(), digest_size=8, person=b"span").hexdigest()


def moment_ago(seconds: float) -> int:
    """Return the time so many seconds ago, in nanoseconds since 1970."""
    return time.time_ns() - round(seconds * 1e9)


class Tracer:
    """Writes nothing down; a subclass does.

    Callers with many spans check `is_on` first: describing a span costs more than dropping it."""

    is_on = False

    def request(self, request_id: str, traceparent: str | None, name: str, seconds: float, **attributes: Any) -> None:
        """Write down that a request was answered just now, after so many seconds."""

    def work(self, request_id: str, name: str, *, ago: float, seconds: float, **attributes: Any) -> None:
        """Write down a part of what a request led to: it ended `ago` seconds before now and took `seconds`."""

    def close(self) -> None:
        """Send the rest."""
