"""Falcon middleware for answers: gzip for large JSON and CSV, and access for pages of other origins.

Streams, audio, pictures, ranges and events are not compressed. Neither are the dashboard's pages: they hold the CSRF
token beside parts of their address, and the compressed length would reveal it guess by guess (BREACH). HTML that is the
same for everybody sets `resp.context.is_public`.
"""

import asyncio
import gzip
import re
from typing import Any

import falcon
import falcon.asgi

TYPES = frozenset(("application/json", "text/csv"))
#: Level 5 takes a third less time than the usual 9, for one per cent more bytes.
LEVEL = 5
#: Larger answers are compressed in a thread: 64 KiB take about a millisecond.
IN_PLACE_BYTES = 64 * 1024
#: `*` means every other coding; a quality of 0 refuses.
CODING = re.compile(r"\s*(gzip|x-gzip|\*)\s*(?:;\s*q\s*=\s*([01](?:\.[0-9]{0,3})?)\s*)?", re.IGNORECASE)
#: Headers that pages of other origins may read, besides those that they always may.
EXPOSED = (
    *("Accept-Ranges", "Content-Disposition", "Content-Range", "ETag", "Link", "Location", "Preference-Applied"),
    *("Retry-After", "X-Content-Origin", "X-Credits-Remaining", "X-Credits-Used", "X-Engine", "X-Ignored-Fields"),
    *("X-Job-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"),
    *(
        "Tus-Resumable",
        "Upload-Expires",
        "Upload-Length",
        "Upload-Offset",
        "X-Credits-Required",
        "X-Searched-Since",
        "X-Total-Count",
        "X-Voice",
        "X-Warning",
    ),
)


class CrossOrigin(falcon.CORSMiddleware[Any, Any]):
    """Let pages of some origins, or of all (`*`), use the API with a key; never with the dashboard's cookie."""

    def __init__(self, origins: str) -> None:
        named = [origin.strip() for origin in origins.split(",")]
        super().__init__(allow_origins="*" if "*" in named else named, expose_headers=EXPOSED)

    def process_response(self, req: Any, resp: Any, resource: object, req_succeeded: bool) -> None:
        """Add the headers; a cache must not give one origin's answer to another."""
        super().process_response(req, resp, resource, req_succeeded)
        if self.allow_origins != "*":
            resp.append_header("Vary", "Origin")


class Compression:
    """Compress answers from `from_bytes` on; 0 turns it off."""

    def __init__(self, *, from_bytes: int) -> None:
        self._from_bytes = from_bytes

    async def process_response(
        self, req: falcon.asgi.Request, resp: falcon.asgi.Response, resource: object, req_succeeded: bool
    ) -> None:
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
    """Return whether an Accept-Encoding accepts gzip; its name counts more than `*`."""
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
