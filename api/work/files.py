"""Files: artifacts for whoever has a link to them, with no key."""

import hashlib
from datetime import UTC, datetime
from pathlib import PurePosixPath

import falcon
import falcon.asgi

from api.http.operations import Operation, Reply
from api.http.parameters import RANGE, Json
from api.http.ranges import send_artifacts
from api.services.resource import Resource
from pipeline.storage.links import artifact_of, title_of

#: Content types that a browser may show, by the suffix of the name; anything else is bytes, and is saved.
SHOWN = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".webp": "image/webp",
    ".wav": "audio/wav",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".flac": "audio/flac",
    ".m4a": "audio/mp4",
    ".webm": "audio/webm",
    ".srt": "application/x-subrip; charset=utf-8",
    ".vtt": "text/vtt; charset=utf-8",
}
#: Any page may show a file; a file itself may load or run nothing.
HEADERS = {
    "Accept-Ranges": "bytes",
    "Access-Control-Allow-Origin": "*",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


TYPES = ("image/png", "image/jpeg", "image/webp", "application/octet-stream")


def _required(name: str, kind: str, meaning: str) -> Json:
    return {"name": name, "in": "query", "required": True, "schema": {"type": kind}, "description": meaning}


class Files(Resource):
    """GET /files/{name}."""

    @Operation(
        id="get_file",
        tag="files",
        summary="Return a file that an answer links to. The link needs no key; use it unchanged.",
        parameters=(
            _required("expires", "integer", "When the link expires, in epoch seconds."),
            _required("signature", "string", "The service's signature of name and expiry."),
            RANGE,
        ),
        replies={
            200: Reply("The file, with ETag. It never changes.", content=TYPES),
            206: Reply("The requested range, as Content-Range says.", content=TYPES),
            304: Reply("Unchanged since the ETag in If-None-Match."),
        },
        errors=(403, 410, 416, 503),
        is_open=True,
    )
    async def on_get(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, name: str) -> None:
        expires_at = await self._services.links.verify(name, req.query_string)
        artifact, etag = artifact_of(name), _etag(name)
        if _has(req, etag):
            resp.status = falcon.HTTP_304
        else:
            await send_artifacts(req, resp, self._services.artifacts, [artifact], etag=etag)
        _describe(resp, name, etag, expires_at)

    async def on_head(self, req: falcon.asgi.Request, resp: falcon.asgi.Response, name: str) -> None:
        """Answer as to GET, without the file; a range means nothing here (RFC 9110, section 14.2)."""
        expires_at = await self._services.links.verify(name, req.query_string)
        etag = _etag(name)
        if _has(req, etag):
            resp.status = falcon.HTTP_304
        else:
            resp.content_length = await self._services.artifacts.size(artifact_of(name))
        _describe(resp, name, etag, expires_at)


def _etag(name: str) -> str:
    """Return the ETag of a file: a hash of its name, as the bytes under one name never change."""
    return hashlib.sha256(name.encode()).hexdigest()[:32]


def _describe(resp: falcon.asgi.Response, name: str, etag: str, expires_at: datetime) -> None:
    """Set the headers of the file, last of all: caches must not keep an error that is raised before."""
    content_type = SHOWN.get(PurePosixPath(name).suffix)
    seconds = max(0, int((expires_at - datetime.now(UTC)).total_seconds()))
    resp.set_headers(HEADERS)
    resp.etag = etag
    resp.cache_control = [f"public, max-age={seconds}, immutable"]
    resp.content_type = content_type or "application/octet-stream"
    place = "inline" if content_type else "attachment"
    resp.set_header("Content-Disposition", f'{place}; filename="{title_of(name) or "file"}"')


def _has(req: falcon.asgi.Request, etag: str) -> bool:
    sent = req.if_none_match or []
    return "*" in sent or etag in sent
