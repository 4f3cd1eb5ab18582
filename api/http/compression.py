"""Compression: large JSON and CSV are sent compressed to who takes gzip.

Only whole answers are: no stream, no sound or picture, no part of a file, no events. No page of the dashboard either:
it holds the session's CSRF token beside what its address says, and the length of a compressed page would tell, guess by
guess, what the token is (BREACH). JSON has no secret that stays the same from answer to answer. HTML that is the same
for all says so with `resp.context.is_public`.
"""

import asyncio
import gzip
import re

import falcon.asgi

TYPES = frozenset(("application/json", "text/csv"))
#: Level 5 takes a third less time than the usual 9, for one per cent more bytes.
LEVEL = 5
#: What is larger is compressed in a thread: 64 KiB take about a millisecond.
IN_PLACE_BYTES = 64 * 1024
#: `*` is whatever is not named; a quality of 0 refuses.
CODING = re.compile(r"\s*(gzip|x-gzip|\*)\s*(?:;\s*q\s*=\s*([01](?:\.[0-9]{0,3})?)\s*)?", re.IGNORECASE)


class Compression:
    """A Falcon middleware that compresses answers of `from_bytes` and more; 0: none."""

    def __init__(self, *, from_bytes: int) -> None:
        self._from_bytes = from_bytes

    async def process_response(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, resource: object, req_succeeded: bool
    ) -> None:
        """Compress an answer, if it is one of those and its client takes it."""
        body = _body_of(resp)
        if not self._from_bytes or body is None:
            return
        resp.append_header("Vary", "Accept-Encoding")
        if len(body) < self._from_bytes or not takes_gzip(req.get_header("Accept-Encoding") or ""):
            return
        if len(body) > IN_PLACE_BYTES:
            resp.data = await asyncio.to_thread(_compress, body)
        else:
            resp.data = _compress(body)
        resp.text = None
        resp.set_header("Content-Encoding", "gzip")
        if (etag := resp.get_header("ETag")) and not etag.startswith("W/"):
            resp.set_header("ETag", f"W/{etag}")  # the same content, in other bytes


def takes_gzip(accepted: str) -> bool:
    """Return whether an Accept-Encoding takes gzip; what names it counts more than `*`."""
    found = [match for one in accepted.split(",") if (match := CODING.fullmatch(one))]
    named = [match for match in found if match[1] != "*"] or found
    return any(float(match[2] or 1) > 0 for match in named)


def _body_of(resp: falcon.asgi.Response) -> bytes | None:
    """Return the body of an answer that may be compressed."""
    if resp.stream is not None or resp.sse is not None or resp.get_header("Content-Encoding"):
        return None
    content_type = (resp.content_type or "").partition(";")[0].strip().lower()
    if content_type not in TYPES and not getattr(resp.context, "is_public", False):
        return None
    return resp.data if resp.data is not None else resp.text.encode() if resp.text else None


def _compress(body: bytes) -> bytes:
    return gzip.compress(body, LEVEL, mtime=0)
