"""Server-sent events: a stream of bytes with an event per piece, as OpenAI's clients read it."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, suppress
from typing import Any, cast

import falcon.asgi

from capabilities.openai_audio.routes.errors import openai_error
from pipeline.errors import PressroomError
from pipeline.log import get_logger

log = get_logger(__name__)

CONTENT_TYPE = "text/event-stream"
#: How often a silent stream carries a comment, so that no proxy takes it for dead.
SILENCE_SECONDS = 15.0
COMMENT = b": \n\n"
#: The data of an event.
Event = Mapping[str, Any]
Delta = Callable[[bytes], Event | None]


def show_events(resp: falcon.asgi.Response, *, delta: Delta, done: Callable[[], Event]) -> None:
    """Turn the stream of an answer into events."""
    resp.stream = events_of(cast("AsyncIterator[bytes]", resp.stream), delta=delta, done=done)
    resp.content_type = CONTENT_TYPE
    resp.delete_header("Content-Length")
    resp.delete_header("Content-Disposition")
    resp.set_header("X-Accel-Buffering", "no")  # nginx would collect events before it passes them on


async def events_of(
    pieces: AsyncIterator[bytes], *, delta: Delta, done: Callable[[], Event]
) -> AsyncGenerator[bytes, None]:
    """Yield an event for each piece and one at the end, or for an error. Closing it closes `pieces` too."""
    async with aclosing(_with_comments(pieces)) as commented:
        try:
            async for piece in commented:
                if piece is None:
                    yield COMMENT
                elif (event := delta(piece)) is not None:
                    yield encoded(event)
        except PressroomError as error:
            # The status has been sent already.
            log.warning("event stream broken off", code=error.code, error=error.message)
            yield encoded(openai_error(error.status, error.document()).document)
            return
        yield encoded(done())


def encoded(event: Event) -> bytes:
    """Return an event as bytes. It has no name, since clients read its type from its data."""
    return f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


async def _with_comments(pieces: AsyncIterator[bytes]) -> AsyncGenerator[bytes | None, None]:
    """Yield the pieces, and None after each silence."""
    coming: asyncio.Task[bytes] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(_next(pieces))
            done, _ = await asyncio.wait({coming}, timeout=SILENCE_SECONDS)
            if not done:
                yield None
                continue
            piece = coming.result()
            coming = None
            if not piece:
                return
            yield piece
    finally:
        if coming is not None:
            coming.cancel()
            with suppress(asyncio.CancelledError, PressroomError):
                await coming
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()


async def _next(pieces: AsyncIterator[bytes]) -> bytes:
    """Return the next piece that is not empty; empty at the end."""
    async for piece in pieces:
        if piece:
            return piece
    return b""
