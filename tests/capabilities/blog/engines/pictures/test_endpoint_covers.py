"""Covers by an endpoint."""

import asyncio
import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from typing import Any

import pytest
from aiohttp import web
from model_server import ModelServer, drawing, refused
from PIL import Image

from capabilities.blog.engines.pictures import Brief, Painted
from capabilities.blog.engines.pictures.endpoint import EndpointPainter
from pipeline.errors import PressroomError
from pipeline.settings import Settings
from workers.engines.endpoints.errors import EndpointAway, EndpointBusy, RequestRefused

PATH = "/images/generations"
BRIEF = Brief("Baking bread", "How to bake.", "Food", ("bread",), "photographic", "en")


@pytest.fixture(name="server")
def _server() -> Iterator[ModelServer]:
    with ModelServer({"/models": {}}) as server:
        yield server


@pytest.fixture(name="painter")
def _painter(server: ModelServer) -> Iterator[EndpointPainter]:
    painter = EndpointPainter(Settings(endpoints={"house": {"url": server.url, "covers": "sd"}}), "house")
    painter.setup()
    yield painter
    painter.close()


def sizes(server: ModelServer) -> list[str]:
    return [one.body["size"] for one in server.asked if one.path == PATH]


def test_each_cover_is_a_request_and_is_cropped(server: ModelServer, painter: EndpointPainter) -> None:
    server.answers[PATH] = drawing((1216, 640))
    covers: Any = painter.paint(BRIEF, count=3)
    assert [Image.open(io.BytesIO(cover.data)).size for cover in covers] == [(1200, 630)] * 3
    assert sizes(server) == ["1216x640"] * 3
    assert "Baking bread" in server.asked[-1].body["prompt"]


def test_the_nearest_size_that_the_server_takes_is_asked_for(server: ModelServer, painter: EndpointPainter) -> None:
    def only(body: Any) -> Any:
        if "response_format" in body:
            return web.json_response({"error": {"message": "Unknown parameter: 'response_format'."}}, status=400)
        if body["size"] != "1536x1024":
            return web.json_response({"error": {"message": "Invalid value: size"}}, status=400)
        return drawing((1536, 1024))

    server.answers[PATH] = only
    assert isinstance(painter.paint(BRIEF, count=1)[0], Painted)
    assert isinstance(painter.paint(BRIEF, count=1)[0], Painted)
    assert sizes(server) == ["1216x640", "1216x640", "1536x1024", "1536x1024"]


@pytest.mark.parametrize(
    "answer",
    [
        {"data": [{"url": "http://127.0.0.1:9/cover.png"}]},
        {"data": [{"b64_json": "no base64!"}]},
        {"data": [{"b64_json": "bm8gcGljdHVyZQ=="}]},
        {"data": []},
    ],
)
def test_what_is_no_picture_is_an_error(server: ModelServer, painter: EndpointPainter, answer: Any) -> None:
    server.answers[PATH] = answer
    assert isinstance(painter.paint(BRIEF, count=1)[0], PressroomError)


def test_a_server_that_asks_for_a_pause_has_the_post_wait(server: ModelServer, painter: EndpointPainter) -> None:
    server.answers[PATH] = refused(429, {"error": "busy"}, Retry_After="20")
    with pytest.raises(EndpointBusy):
        painter.paint(BRIEF, count=3)
    assert painter.is_available()


def test_of_a_server_that_takes_two_at_once_no_picture_is_asked_for_in_vain(
    server: ModelServer, painter: EndpointPainter
) -> None:
    busy, turns = web.json_response({"error": "busy"}, status=429, headers={"Retry-After": "1"}), count(1)
    server.answers[PATH] = lambda _: busy if next(turns) == 3 else drawing()
    assert all(isinstance(one, Painted) for one in painter.paint(BRIEF, count=3))
    assert len(sizes(server)) == 4


def test_a_refused_prompt_is_told(server: ModelServer, painter: EndpointPainter) -> None:
    server.answers[PATH] = refused(400, {"error": {"message": "content policy", "code": "moderation_blocked"}})
    assert isinstance(painter.paint(BRIEF, count=1)[0], RequestRefused)
    assert painter.is_available()
    server.answers[PATH] = refused(500, {"error": "out of memory"})
    assert isinstance(painter.paint(BRIEF, count=1)[0], EndpointAway)
    assert not painter.is_available()


def test_posts_that_are_painted_at_once_learn_the_same(server: ModelServer, painter: EndpointPainter) -> None:
    both = asyncio.Barrier(2)

    async def only(body: Any) -> Any:
        said = "response_format" if "response_format" in body else "size" if body["size"] == "1216x640" else None
        if said is None:
            return web.json_response(drawing())
        with suppress(TimeoutError):
            await asyncio.wait_for(both.wait(), 2)
        return web.json_response({"error": {"message": f"Invalid: {said}"}}, status=400)

    server.answers[PATH] = only
    with ThreadPoolExecutor() as threads:
        made = list(threads.map(lambda _: painter.paint(BRIEF, count=1)[0], range(2)))
    assert all(isinstance(one, Painted) for one in made)
    assert sizes(server)[4:] == ["1536x1024"] * 2
