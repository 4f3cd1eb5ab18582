"""The client of the commands, against a service that asks for patience."""

import asyncio
import os
import time
import tracemalloc
from collections import deque
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import BodyPartReader, web

from pipeline.errors import NotReady
from scripts.answers import Refused
from scripts.client import Client

Answer = tuple[int, str]


def get(*answers: Answer, patience: timedelta) -> tuple[object, float]:
    """Ask a service that answers with these statuses and Retry-Afters; return its answer and the seconds it took."""

    async def ask() -> tuple[object, float]:
        left = deque(answers)

        async def answer(_: web.Request) -> web.Response:
            status, wait = left.popleft()
            headers = {"Retry-After": wait} if wait else {}
            return web.json_response({"message": "Slow down."}, status=status, headers=headers)

        app = web.Application()
        app.router.add_get("/x", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        began = time.monotonic()
        try:
            async with Client.open(f"http://127.0.0.1:{runner.addresses[0][1]}", "key", patience=patience) as client:
                return await client.get("/x"), time.monotonic() - began
        finally:
            await runner.cleanup()

    return asyncio.run(ask())


def test_a_result_that_breaks_off_is_fetched_again_and_whole_or_not_there(tmp_path: Path) -> None:
    async def fetch() -> int:
        left = deque([b"half", b"half of it all"])

        async def answer(request: web.Request) -> web.StreamResponse:
            response = web.StreamResponse(headers={"Content-Length": "14"})
            await response.prepare(request)
            await response.write(left.popleft())
            if left:
                request.transport.abort()
            return response

        app = web.Application()
        app.router.add_get("/jobs/x/result", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            address = f"http://127.0.0.1:{runner.addresses[0][1]}"
            async with Client.open(address, "key", patience=timedelta(seconds=60)) as client:
                return await client.fetch("x", tmp_path / "result")
        finally:
            await runner.cleanup()

    assert asyncio.run(fetch()) == 14
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"half of it all"]


def test_a_file_is_read_while_it_is_sent_and_sent_again_from_its_beginning(tmp_path: Path) -> None:
    film = tmp_path / "film"
    film.write_bytes(b"begin")
    os.truncate(film, 2**25)

    async def submit() -> tuple[str, list[int]]:
        sizes: list[int] = []

        async def answer(request: web.Request) -> web.Response:
            form = await request.multipart()
            part = await form.next()
            assert isinstance(part, BodyPartReader)
            content = await part.read_chunk()
            assert content.startswith(b"begin")
            sizes.append(len(content))
            while piece := await part.read_chunk():
                sizes[-1] += len(piece)
            status = 503 if len(sizes) == 1 else 202
            return web.json_response({"message": "Restarting."}, status=status, headers={"X-Job-Id": "x"})

        app = web.Application()
        app.router.add_post("/y", answer)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            address = f"http://127.0.0.1:{runner.addresses[0][1]}"
            async with Client.open(address, "key", patience=timedelta(seconds=60)) as client:
                return await client.submit("/y", {}, {"audio": film}), sizes
        finally:
            await runner.cleanup()

    tracemalloc.start()
    try:
        assert asyncio.run(submit()) == ("x", [2**25] * 2)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


def test_a_service_that_names_a_time_is_not_asked_before_it() -> None:
    answer, seconds = get((429, "1"), (503, ""), (200, ""), patience=timedelta(seconds=30))

    assert answer == {"message": "Slow down."}
    assert seconds >= 1


@pytest.mark.parametrize("wait", ["3600", "9" * 5_000, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_one_that_names_a_longer_time_than_there_is_says_so_at_once(wait: str) -> None:
    # Whoever waited would run out of patience, and say that.
    with pytest.raises(NotReady, match=r"answered 429: Slow down\. It asks for [\d,]+ seconds"):
        get((429, wait), patience=timedelta(minutes=3))


@pytest.mark.parametrize("answer", ["{}", "[]", '{"credits_remaining": "much"}', "<html>"])
def test_the_balance_of_what_is_no_pressroom_is_refused(answer: str) -> None:
    async def ask() -> int:
        app = web.Application()

        async def show(_: web.Request) -> web.Response:
            return web.Response(text=answer)

        app.router.add_get("/usage", show)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            async with Client.open(f"http://127.0.0.1:{runner.addresses[0][1]}", "key") as client:
                return await client.balance()
        finally:
            await runner.cleanup()

    with pytest.raises(Refused, match="no Pressroom"):
        asyncio.run(ask())


@pytest.mark.parametrize(("status", "is_of_account"), [(401, True), (402, True), (400, False), (404, False)])
def test_a_refusal_tells_whether_the_next_request_would_be_refused_too(status: int, is_of_account: bool) -> None:
    with pytest.raises(Refused) as caught:
        get((status, ""), patience=timedelta(seconds=30))
    assert caught.value.is_of_account is is_of_account
