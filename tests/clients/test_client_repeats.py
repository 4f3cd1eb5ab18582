"""Requests of the client that are sent again, and those that are not: a service that asks for patience."""

import asyncio
import os
import time
import tracemalloc
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from aiohttp import BodyPartReader, web

from pressroom import (
    AsyncPressroom,
    ConnectionLost,
    InsufficientCredits,
    InvalidRequest,
    NotPressroom,
    Pressroom,
    PressroomError,
    RateLimitExceeded,
    ServiceUnavailable,
)
from pressroom.exchange import Ask
from pressroom.finding import find_key, find_url, is_here, remember

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]

USAGE = {
    "total_requests": 1,
    "total_credits_used": 1,
    "requests_this_month": 1,
    "credits_used_this_month": 1,
    "subscription_tier": "free",
    "credits_remaining": 9,
    "credits_held": 0,
    "usage_by_endpoint": {},
    "credits_by_endpoint": {},
    "by_key": [],
    "by_day": [],
}


def asked(
    answer: Answer, use: Callable[[AsyncPressroom], Awaitable[Any]], *, patience: timedelta = timedelta(seconds=60)
) -> Any:
    """Serve answers on loopback, and return the result of a client of them."""

    async def serve() -> Any:
        app = web.Application(client_max_size=2**30)
        app.router.add_route("*", "/{path:.*}", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            address = f"http://127.0.0.1:{runner.addresses[0][1]}"
            async with AsyncPressroom("key", url=address, patience=patience) as client:
                return await use(client)
        finally:
            await runner.cleanup()

    return asyncio.run(serve())


def asked_for_usage(answer: Answer, *, patience: timedelta = timedelta(seconds=60)) -> int:
    """Ask for the usage, and return the balance."""
    return int(asked(answer, AsyncPressroom.usage, patience=patience).credits_remaining)


def usage_after(*answers: tuple[int, str], patience: timedelta = timedelta(seconds=60)) -> int:
    """Ask a service that answers with these statuses and Retry-Afters, and then with 200; returns the balance."""
    left = deque(answers)

    async def answer(_: web.Request) -> web.Response:
        if not left:
            return web.json_response(USAGE | {"newer_field": 1})
        status, wait = left.popleft()
        headers = {"Retry-After": wait} if wait else {}
        return web.json_response({"message": "Slow down.", "code": "slow"}, status=status, headers=headers)

    return asked_for_usage(answer, patience=patience)


def test_a_service_that_names_a_time_is_not_asked_before_it() -> None:
    began = time.monotonic()

    assert usage_after((429, "1"), (503, ""), (502, "")) == 9
    assert time.monotonic() - began >= 1


@pytest.mark.parametrize(("code", "repeats"), [("database_unavailable", True), ("database_interrupted", False)])
def test_a_key_that_was_perhaps_made_is_not_made_again(code: str, repeats: bool) -> None:
    methods: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        methods.append(request.method)
        return web.json_response({"message": "The database went away.", "code": code}, status=503)

    with pytest.raises(ServiceUnavailable, match="went away"):
        asked(answer, lambda client: client.create_key("of the shop"), patience=timedelta(seconds=1))
    assert (len(methods) > 1) is repeats


@pytest.mark.parametrize("wait", ["3600", "9" * 5_000, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_one_that_names_a_longer_time_than_there_is_says_so_at_once(wait: str) -> None:
    with pytest.raises(RateLimitExceeded, match="Slow down") as refused:
        usage_after((429, wait), patience=timedelta(minutes=3))

    assert refused.value.retry_after is not None
    assert refused.value.retry_after >= timedelta(hours=1)


def test_an_error_has_what_the_service_said() -> None:
    async def answer(_: web.Request) -> web.Response:
        body = {
            "error": "Insufficient Credits",
            "code": "insufficient_credits",
            "message": "Top up.",
            "request_id": "r",
        }
        return web.json_response(body | {"credits_required": 5, "credits_remaining": 2}, status=402)

    with pytest.raises(InsufficientCredits) as refused:
        asked(answer, lambda client: client.speak("Hello."))
    error = refused.value
    assert (error.code, error.status, error.message, error.request_id) == ("insufficient_credits", 402, "Top up.", "r")
    assert error.details == {"credits_required": 5, "credits_remaining": 2}


def test_every_post_of_a_job_has_a_key_of_its_own_which_its_repeats_share() -> None:
    keys: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        keys.append(request.headers["Idempotency-Key"])
        if len(keys) == 1:
            return web.json_response({"message": "Restarting."}, status=503)
        return web.Response(body=b"RIFF", content_type="audio/wav")

    async def speak(client: AsyncPressroom) -> None:
        await client.speak("One.")
        await client.speak("One.")
        await client.speak("Two.", idempotency_key="mine")

    asked(answer, speak)
    first, again, second, third = keys
    assert first == again != second
    assert third == "mine"


def test_a_post_that_may_have_been_carried_out_is_not_sent_again_unless_it_has_a_key() -> None:
    paths: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        paths.append(request.path)
        if request.path == "/indexing/monitors":
            return web.json_response({"message": "Bad gateway."}, status=502)
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async def ask(client: AsyncPressroom) -> None:
        with pytest.raises(ServiceUnavailable):
            await client.create_monitor(["https://e.example/"], every="day")
        with pytest.raises(ConnectionLost):
            await client.usage()

    asked(answer, ask, patience=timedelta(seconds=1))
    assert paths.count("/indexing/monitors") == 1
    assert paths.count("/usage") > 1


def test_a_result_that_breaks_off_is_fetched_again_and_whole_or_not_there(tmp_path: Path) -> None:
    left = deque([b"half", b"half of it all"])

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "14"})
        await response.prepare(request)
        await response.write(left.popleft())
        if left:
            assert request.transport is not None
            request.transport.abort()
        return response

    asked(answer, lambda client: client.result("x", to=tmp_path / "result"))
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"half of it all"]


def test_a_stream_that_breaks_off_is_an_error_and_no_file(tmp_path: Path) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"some sound")
        assert request.transport is not None
        request.transport.abort()
        return response

    async def listen(client: AsyncPressroom) -> bytes:
        with pytest.raises(ConnectionLost):
            await client.stream_speech("Hello.").save(tmp_path / "hello.mp3")
        stream = client.stream_speech("Hello.")
        piece = await anext(stream)
        with pytest.raises(ConnectionLost):
            await anext(stream)
        return piece

    assert asked(answer, listen) == b"some sound"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("is_open", [False, True])
def test_a_file_is_read_while_it_is_sent_and_sent_again_from_its_beginning(tmp_path: Path, is_open: bool) -> None:
    film = tmp_path / "film"
    film.write_bytes(b"begin")
    os.truncate(film, 24 * 2**20)
    sizes: list[int] = []

    async def answer(request: web.Request) -> web.Response:
        form = await request.multipart()
        part = await form.next()
        while isinstance(part, BodyPartReader) and part.filename is None:
            part = await form.next()
        assert isinstance(part, BodyPartReader)
        content = await part.read_chunk()
        assert content.startswith(b"begin")
        sizes.append(len(content))
        while piece := await part.read_chunk():
            sizes[-1] += len(piece)
        if len(sizes) == 1:
            return web.json_response({"message": "Restarting."}, status=503)
        return web.json_response({"text": "", "language": "en", "duration": 1, "credits_used": 5})

    async def transcribe(client: AsyncPressroom) -> None:
        if not is_open:
            await client.transcribe(film)
            return
        with film.open("rb") as opened:
            opened.read(3)
            await client.transcribe(opened)
            assert not opened.closed

    tracemalloc.start()
    try:
        asked(answer, transcribe)
        assert sizes == [24 * 2**20] * 2
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


def test_what_comes_from_a_pipe_is_sent_whole_and_again() -> None:
    read, write = os.pipe()
    os.write(write, b"from a pipe")
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        assert sent_twice(pipe) == [b"from a pipe"] * 2


def test_bytes_are_sent_as_a_file() -> None:
    assert sent_twice(b"bytes") == sent_twice(BytesIO(b"bytes")) == [b"bytes"] * 2


def sent_twice(picture: Any) -> list[bytes]:
    """Have a picture described by a service that takes it the second time; return what came."""
    came: list[bytes] = []

    async def answer(request: web.Request) -> web.Response:
        form = await request.post()
        image = form["image"]
        assert isinstance(image, web.FileField)
        came.append(image.file.read())
        image.file.close()
        if len(came) == 1:
            return web.json_response({"message": "Restarting."}, status=503)
        text = {"alt_text": "A lake.", "confidence": 1, "credits_used": 1, "language": "en", "engine": "told"}
        return web.json_response(text)

    asked(answer, lambda client: client.describe(picture))
    return came


def test_events_that_break_off_are_followed_again() -> None:
    def job(state: str, done: int) -> dict[str, Any]:
        ended = "2026-01-01T00:00:01.000Z" if state == "succeeded" else None
        return {
            "id": "j",
            "kind": "speech",
            "state": state,
            "progress": {"done": done, "total": 2, "failed": 0, "unit": "texts"},
            "credits": {"held": 1, "captured": 0, "released": 0},
            "created_at": "2026-01-01T00:00:00.000Z",
            "finished_at": ended,
            "route": "/tts",
            "request_id": "r",
        }

    streams = deque([[job("queued", 0)], [], [job("succeeded", 2)]])

    async def answer(request: web.Request) -> web.StreamResponse:
        if not request.path.endswith("/events"):
            return web.json_response(job("running", 1))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for one in streams.popleft():
            shown = web.json_response(one).text
            await response.write(f": still here\n\nevent: progress\ndata: {shown}\n\n".encode())
        if len(streams) == 1:
            assert request.transport is not None
            request.transport.abort()
        return response

    async def follow(client: AsyncPressroom) -> list[str]:
        return [job.state async for job in client.iter_events("j")]

    assert asked(answer, follow) == ["queued", "running", "running", "succeeded"]


@pytest.mark.parametrize("answer", ["{}", "[]", '{"credits_remaining": "much"}', "<html>"])
def test_what_is_no_pressroom_is_said_to_be_none(answer: str) -> None:
    async def show(_: web.Request) -> web.Response:
        return web.Response(text=answer)

    with pytest.raises(NotPressroom, match="not Pressroom"):
        asked_for_usage(show)


def test_an_address_where_nobody_answers_is_given_up_soon() -> None:
    client = Pressroom("key", url="http://127.0.0.1:9", patience=timedelta(seconds=0.5))
    with client, pytest.raises(ConnectionLost) as lost:
        client.usage()
    assert (lost.value.code, lost.value.status) == ("connection_lost", None)
    assert lost.value.__suppress_context__  # its traceback is short


def test_an_error_that_is_no_json_is_told_too() -> None:
    async def answer(_: web.Request) -> web.Response:
        return web.Response(status=413, text="<h1>Too large</h1>")

    with pytest.raises(InvalidRequest, match="413: <h1>Too large"):
        asked_for_usage(answer)


def test_the_key_of_a_system_here_is_found_and_sent_to_no_other_machine(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.delenv("PRESSROOM_API_KEY", raising=False)
    monkeypatch.delenv("PRESSROOM_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".pressroom").mkdir()
    (tmp_path / ".pressroom" / "first-key").write_text("pr_live_here\n")

    assert find_key(None, "http://localhost:8000") == find_key(None, "http://[::1]:8000") == "pr_live_here"
    assert find_key("pr_live_given", "http://localhost:8000") == "pr_live_given"
    for elsewhere in ("https://pressroom.example", "http://127.0.0.1.pressroom.example", "http://10.0.0.1"):
        assert not is_here(elsewhere)
        with pytest.raises(PressroomError, match="Which API key"):
            find_key(None, elsewhere)
    monkeypatch.setenv("PRESSROOM_API_KEY", "pr_live_named")
    assert find_key(None, "https://pressroom.example") == "pr_live_named"


def test_the_system_that_runs_here_is_found_whatever_its_port_and_folder(tmp_path: Path, monkeypatch: Any) -> None:
    for variable in ("PRESSROOM_URL", "PRESSROOM_DATA", "PRESSROOM_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    assert find_url(None) == "http://127.0.0.1:8000"

    for name, port in (("elsewhere", 8123), (".pressroom", 8124)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "first-key").write_text(f"pr_live_{port}")
        (tmp_path / name / "system.json").write_text(f'{{"pid": 1, "address": "http://127.0.0.1:{port}"}}')
    remember(tmp_path / "elsewhere")
    assert find_url(None) == "http://127.0.0.1:8124"
    assert find_key(None, "http://127.0.0.1:8123") == "pr_live_8123"
    (tmp_path / ".pressroom" / "system.json").unlink()
    assert find_url(None) == "http://127.0.0.1:8123"

    assert find_url("http://pressroom.example/") == "http://pressroom.example"
    monkeypatch.setenv("PRESSROOM_URL", "http://other.example")
    assert find_url(None) == "http://other.example"


def test_a_request_without_a_body_has_none() -> None:
    with Ask("GET", "/usage").body() as body:
        assert body == {}
