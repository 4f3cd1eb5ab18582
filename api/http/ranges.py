"""Ranges: artifacts sent whole, or the part of them that a GET asks for (RFC 9110, section 14)."""

import re
from collections.abc import Sequence
from http import HTTPStatus

import falcon
import falcon.asgi

from pipeline.errors import PressroomError
from pipeline.storage.artifacts import Artifacts

ONE_RANGE = re.compile(r"bytes=(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))", re.IGNORECASE)


class RangeNotSatisfiable(PressroomError):
    """The range begins behind the file's end."""

    title = "Range Not Satisfiable"
    status = HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
    code = "range_not_satisfiable"
    field = "Range"


async def send_artifacts(
    req: falcon.asgi.Request, resp: falcon.asgi.Response, artifacts: Artifacts, keys: Sequence[str], *, etag: str
) -> None:
    """Answer with the bytes under some keys, one after the other, or with a part of all that.

    Raises Gone, RangeNotSatisfiable, ServiceUnavailable."""
    span = _read_range(req, etag)
    if span is None:
        size, chunks = await artifacts.open_all(keys)
        resp.set_stream(chunks, size)
    else:
        sizes = await artifacts.sizes(keys)
        start, end = _within(span, sum(sizes), resp)
        chunks = artifacts.open_span(list(zip(keys, sizes, strict=True)), start, end)
        resp.status = falcon.HTTP_206
        resp.set_header("Content-Range", f"bytes {start}-{end - 1}/{sum(sizes)}")
        resp.set_stream(chunks, end - start)
    # Last of all: caches must not keep an error that was raised before.
    resp.etag = etag
    resp.set_header("Accept-Ranges", "bytes")


def _read_range(req: falcon.asgi.Request, etag: str) -> tuple[int | None, int | None] | None:
    """Return the first and last byte of the one range that is asked for; (None, n): the last n.

    None, and so all of the file, for several ranges, for what is not a range, for a part of another file, and for any
    method but GET (section 14.2)."""
    condition = req.get_header("If-Range")
    found = ONE_RANGE.fullmatch((req.get_header("Range") or "").strip())
    if found is None or req.method != "GET" or (condition is not None and condition.strip() != f'"{etag}"'):
        return None
    first, last = (int(group) if group else None for group in (found[1], found[2] or found[3]))
    return None if first is not None and last is not None and last < first else (first, last)


def _within(span: tuple[int | None, int | None], size: int, resp: falcon.asgi.Response) -> tuple[int, int]:
    """Return the bytes [start, end) of a file that a range means. Raises RangeNotSatisfiable."""
    match span:
        case None, last:
            start, end = max(0, size - (last or 0)), size
        case first, None:
            start, end = first, size
        case first, last:
            start, end = first, min(size, last + 1)
    if start >= end:
        resp.set_header("Content-Range", f"bytes */{size}")
        raise RangeNotSatisfiable(f"The file has {size:,} bytes, and the range begins after its end. Ask for less.")
    return start, end
