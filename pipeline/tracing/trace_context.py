"""Trace context: the ids of traces and spans, made of the ids of requests."""

import hashlib
import re
import time

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
    """Return the span of a request, which what it leads to is under; 16 hex digits."""
    return hashlib.blake2b(request_id.encode(), digest_size=8, person=b"span").hexdigest()


def moment_ago(seconds: float) -> int:
    """Return the time so many seconds ago, in nanoseconds since 1970."""
    return time.time_ns() - round(seconds * 1e9)
