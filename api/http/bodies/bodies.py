"""Bodies: JSON read within limits."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import falcon.asgi
from pydantic_core import from_json

from api.http.bodies.sent_fields import paths_of
from api.http.request_context import context_of
from pipeline.errors import InvalidRequest, PayloadTooLarge, ServiceUnavailable, UnsupportedMediaType

#: Levels of nesting that a body may have.
MAX_DEPTH = 32
CHUNK_BYTES = 64 * 1024
#: Parsing a larger body may take a tenth of a second; dozens in a row would look like a hanging process.
LARGE_BYTES = 128 * 1024
_large = asyncio.Semaphore(1)
#: Most bytes of all bodies that arrive or wait in a process: sixteen of the largest.
MOST_COMING_BYTES = 512 * 2**20
#: Wait before a refusal for the rest of a body; whatever was sent with the head has arrived by then.
PATIENCE_SECONDS = 0.03
#: Some programs write it before UTF-8; readers may skip it (RFC 8259, section 8.1).
BOM = b"\xef\xbb\xbf"
INFINITY = float("inf")


#: Counts bytes of a body. Raises ServiceUnavailable.
Take = Callable[[int], None]


class _Coming:
    """Counts the bytes of all arriving bodies, so that many connections can't exhaust memory."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = 0

    @contextlib.contextmanager
    def room(self) -> Iterator[Take]:
        """Yield a function that counts bytes of one body until the block ends; it raises ServiceUnavailable."""
        mine = 0

        def take(size: int) -> None:
            nonlocal mine
            mine += size
            self._bytes += size
            if self._bytes > self._most:
                message = "Too many large requests at once. Send this one again."
                raise ServiceUnavailable(message, code="bodies_too_many", retry_after=timedelta(seconds=1))

        try:
            yield take
        finally:
            self._bytes -= mine


coming = _Coming(MOST_COMING_BYTES)


async def read_json(req: falcon.asgi.Request, *, max_bytes: int) -> tuple[bytes, dict[str, Any]]:
    """Return a JSON object as sent and as read. Raises InvalidRequest, PayloadTooLarge, UnsupportedMediaType."""
    require_type(req, "application/json")
    with coming.room() as take:  # until it is read: many may wait for that
        body = (await _read_body(req, take, max_bytes=max_bytes)).removeprefix(BOM)
        parsed = await _parse_without_haste(body)
        context_of(req).sent_fields = paths_of(parsed)
        return body, parsed


async def _parse_without_haste(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a body. Large ones are parsed in a thread, one at a time."""
    if len(body) < LARGE_BYTES:
        return parse_object(body)
    async with _large:
        return await asyncio.to_thread(parse_object, body)


def refuse_length(req: falcon.asgi.Request, max_bytes: int) -> None:
    """Raise PayloadTooLarge for a Content-Length above the limit."""
    if (req.content_length or 0) > max_bytes:
        raise too_large(max_bytes)


def require_type(req: falcon.asgi.Request, wanted: str) -> None:
    """Raise UnsupportedMediaType unless the body has the wanted type; no type counts as JSON."""
    sent = req.content_type
    if sent is None and wanted == "application/json":
        return
    essence, _, parameters = (sent or "").partition(";")
    if essence.strip().lower() != wanted:
        raise UnsupportedMediaType(f"This route takes {wanted}; send it with Content-Type: {wanted}.")
    charset = parameters.lower().partition("charset=")[2].strip(' "')
    if charset and charset.partition(";")[0] not in {"utf-8", "utf8", "us-ascii"}:
        raise UnsupportedMediaType("Only UTF-8 is supported; send the body in it.")


async def read_body(req: falcon.asgi.Request, *, max_bytes: int) -> bytes:
    """Return a body. Raises PayloadTooLarge, InvalidRequest, ServiceUnavailable."""
    with coming.room() as take:
        return await _read_body(req, take, max_bytes=max_bytes)


async def _read_body(req: falcon.asgi.Request, take: Take, *, max_bytes: int) -> bytes:
    chunks = []
    size = 0
    while chunk := await req.stream.read(CHUNK_BYTES):
        size += len(chunk)
        if size > max_bytes:
            raise too_large(max_bytes)
        take(len(chunk))
        chunks.append(chunk)
    require_whole(req, size)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def require_whole(req: falcon.asgi.Request, size: int) -> None:
    """Raise InvalidRequest if a body ended early, which Falcon does not notice."""
    if size < (req.content_length or 0):
        raise InvalidRequest("The body is shorter than its Content-Length.", code="body_incomplete")
    incoming = context_of(req).incoming
    if req.content_length is None and incoming is not None and not incoming.has_ended:
        raise InvalidRequest("The body broke off before its last chunk.", code="body_incomplete")


async def drop_rest(req: falcon.asgi.Request, max_bytes: int, *, seconds: float = PATIENCE_SECONDS) -> None:
    """Read and drop the rest of a body, for a moment."""
    dropped = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while not req.stream.eof and dropped < max_bytes:
                dropped += len(await req.stream.read(CHUNK_BYTES))


def parse_object(body: bytes) -> dict[str, Any]:
    """Return the JSON object in a body. Raises InvalidRequest."""
    try:
        parsed = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        code = "json_too_deep" if "recursion" in str(error) else "json_invalid"
        raise InvalidRequest(f"The body can't be read as JSON: {error}.", code=code) from error
    if not isinstance(parsed, dict):
        raise InvalidRequest("The body must be a JSON object, such as {…}.", code="json_not_an_object")
    _refuse_unstorable(parsed)
    return parsed


def _refuse_unstorable(parsed: dict[str, Any]) -> None:
    """Refuse NUL, infinite numbers and nesting past MAX_DEPTH, which PostgreSQL can't store."""
    level: list[Any] = [parsed]
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise InvalidRequest(f"The JSON is nested deeper than {MAX_DEPTH} levels.", code="json_too_deep")
        below: list[Any] = []
        for container in level:
            if isinstance(container, dict):
                _refuse_nul(container)
                below.extend(container.values())
            else:
                below.extend(container)
        _refuse_values(below)
        level = [value for value in below if isinstance(value, dict | list)]


def _refuse_nul(texts: Any) -> None:
    for text in texts:
        if "\0" in text:
            raise InvalidRequest("The JSON contains a NUL character (\\u0000).", code="text_has_nul")


def _refuse_values(values: list[Any]) -> None:
    _refuse_nul(value for value in values if isinstance(value, str))
    if any(isinstance(value, float) and abs(value) == INFINITY for value in values):
        raise InvalidRequest("The JSON contains a number that is too large.", code="json_number_too_large")


def too_large(max_bytes: int) -> PayloadTooLarge:
    return PayloadTooLarge(
        f"The body is larger than {max_bytes:,} bytes, the most that is accepted. Send less at once.",
        max_bytes=max_bytes,
    )
