"""An S3-compatible store on loopback: objects, multipart uploads, listings and deletions, in memory.

It speaks the part of the S3 REST API that object stores' clients use (docs.aws.amazon.com/AmazonS3/latest/API), and
believes any signature.
"""

import asyncio
import hashlib
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from xml.sax.saxutils import escape

from aiohttp import web
from loopback import served

BUCKET = "pressroom"


class S3Server:
    """The stored objects, and the requests."""

    def __init__(self) -> None:
        self.objects: dict[str, tuple[bytes, datetime]] = {}
        self.requests: list[str] = []
        self.is_down = False
        #: Whether it never answers; and the pause before each of ten parts of a GET's body.
        self.is_silent = False
        self.pause_seconds = 0.0
        self.url = ""
        self._uploads: dict[str, dict[int, bytes]] = {}
        self._numbers = count(1)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one request of any kind."""
        key = request.match_info.get("key", "")
        query = request.query
        self.requests.append(f"{request.method} {request.path_qs}")
        if self.is_down:
            return web.Response(status=503, text="<Error><Code>SlowDown</Code></Error>")
        while self.is_silent:
            await asyncio.sleep(0.05)
        match request.method:
            case "GET" if not key:
                return self._list(query.get("prefix", ""), query.get("delimiter"))
            case "GET" if self.pause_seconds:
                return await self._send_slowly(request, key)
            case "GET" | "HEAD":
                return self._get(key, request.http_range if "Range" in request.headers else None)
            case "PUT" if "partNumber" in query:
                part = await request.read()
                self._uploads[query["uploadId"]][int(query["partNumber"])] = part
                return web.Response(headers={"ETag": tag(part)})
            case "PUT":
                return self._put(key, await request.read())
            case "POST" if "uploads" in query:
                upload = f"upload-{next(self._numbers)}"
                self._uploads[upload] = {}
                return xml(
                    f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>"
                )
            case "POST" if "uploadId" in query:
                parts = self._uploads.pop(query["uploadId"])
                self._put(key, b"".join(parts[number] for number in sorted(parts)))
                found = tag(self.objects[key][0])
                return xml(
                    f"<CompleteMultipartUploadResult><ETag>{escape(found)}</ETag></CompleteMultipartUploadResult>"
                )
            case "POST" if "delete" in query:
                return self._delete_many(await request.text())
            case "DELETE":
                self._uploads.pop(query.get("uploadId", ""), None)
                self.objects.pop(key, None)
                return web.Response(status=204)
        return web.Response(status=501)

    def _put(self, key: str, data: bytes) -> web.Response:
        self.objects[key] = (data, datetime.now(UTC))
        return web.Response(headers={"ETag": tag(data)})

    def _get(self, key: str, span: slice | None) -> web.Response:
        if key not in self.objects:
            return xml("<Error><Code>NoSuchKey</Code></Error>", status=404)
        data, modified = self.objects[key]
        headers = {"ETag": tag(data), "Last-Modified": f"{modified:%a, %d %b %Y %H:%M:%S GMT}"}
        if span is None:
            return web.Response(body=data, headers=headers)
        start, end, _ = span.indices(len(data))
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(data)}"
        return web.Response(status=206, body=data[start:end], headers=headers)

    async def _send_slowly(self, request: web.Request, key: str) -> web.StreamResponse:
        whole = self._get(key, None)
        body = self.objects[key][0]
        response = web.StreamResponse(headers={**whole.headers, "Content-Length": str(len(body))})
        await response.prepare(request)
        step = -(-len(body) // 10)
        for start in range(0, len(body), step):
            await asyncio.sleep(self.pause_seconds)
            await response.write(body[start : start + step])
        return response

    def _list(self, prefix: str, delimiter: str | None) -> web.Response:
        contents, folders = [], set()
        for key, (data, modified) in sorted(self.objects.items()):
            if not key.startswith(prefix):
                continue
            head, found, _ = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
            if found:
                folders.add(prefix + head + found)
                continue
            contents.append(
                f"<Contents><Key>{escape(key)}</Key><LastModified>{modified.isoformat()}</LastModified>"
                f"<ETag>{escape(tag(data))}</ETag><Size>{len(data)}</Size></Contents>"
            )
        common = "".join(
            f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>" for folder in sorted(folders)
        )
        return xml(f"<ListBucketResult><IsTruncated>false</IsTruncated>{''.join(contents)}{common}</ListBucketResult>")

    def _delete_many(self, body: str) -> web.Response:
        keys = [found.text or "" for found in ET.fromstring(body).iter() if found.tag.endswith("Key")]
        for key in keys:
            self.objects.pop(key, None)
        return xml(
            "<DeleteResult>"
            + "".join(f"<Deleted><Key>{escape(key)}</Key></Deleted>" for key in keys)
            + "</DeleteResult>"
        )


def tag(data: bytes) -> str:
    """Return an object's ETag."""
    return f'"{hashlib.md5(data).hexdigest()}"'


def xml(text: str, status: int = 200) -> web.Response:
    """Return an XML answer."""
    return web.Response(
        text=f'<?xml version="1.0" encoding="UTF-8"?>{text}', content_type="application/xml", status=status
    )


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """Run a store with one empty bucket."""
    store = S3Server()
    app = web.Application(client_max_size=2**28)
    app.router.add_route("*", f"/{BUCKET}", store.answer)
    app.router.add_route("*", f"/{BUCKET}/{{key:.*}}", store.answer)
    with served(app) as port:
        store.url = f"http://127.0.0.1:{port}"
        yield store
