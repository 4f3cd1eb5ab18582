"""Streams of bytes as server-sent events: what comes, what fails, and what becomes of those that are left."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from capabilities.openai_audio.routes import sse
from pipeline.errors import ServiceUnavailable


def delta(piece: bytes) -> sse.Event:
    return {"delta": piece.decode()}


def done() -> sse.Event:
    return {"done": True}


def data(sent: list[bytes]) -> list[Any]:
    return [json.loads(one.removeprefix(b"data: ")) for one in sent if one.startswith(b"data: ")]


async def all_of(pieces: AsyncIterator[bytes]) -> list[bytes]:
    return [event async for event in sse.events_of(pieces, delta=delta, done=done)]


def test_an_error_is_the_last_event_in_their_form() -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"a"
        raise ServiceUnavailable("The disk is full.")

    first, last = data(asyncio.run(all_of(pieces())))
    assert first == {"delta": "a"}
    assert last["error"] == {
        "message": "The disk is full.",
        "type": "server_error",
        "param": None,
        "code": "service_unavailable",
    }


def test_a_silent_stream_carries_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "SILENCE_SECONDS", 0.001)

    async def silent_until_two_comments() -> list[bytes]:
        heard = asyncio.Event()

        async def pieces() -> AsyncIterator[bytes]:
            await heard.wait()
            yield b"a"

        sent: list[bytes] = []
        async for event in sse.events_of(pieces(), delta=delta, done=done):
            sent.append(event)
            if sent.count(sse.COMMENT) == 2:
                heard.set()
        return sent

    sent = asyncio.run(silent_until_two_comments())
    assert sent[:2] == [sse.COMMENT, sse.COMMENT]
    assert data(sent) == [{"delta": "a"}, {"done": True}]


@pytest.mark.parametrize("is_waiting", [False, True])
def test_who_leaves_ends_what_makes_the_stream(is_waiting: bool) -> None:
    has_ended = False

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal has_ended
        try:
            yield b"a"
            await asyncio.Event().wait()
        finally:
            has_ended = True

    async def leave() -> None:
        events = sse.events_of(pieces(), delta=delta, done=done)
        await anext(events)
        if is_waiting:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(events), 0.01)
        await events.aclose()

    asyncio.run(leave())
    assert has_ended
