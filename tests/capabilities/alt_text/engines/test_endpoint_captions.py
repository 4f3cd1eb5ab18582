"""Captions by an endpoint: a server on loopback that answers as told, and llama.cpp's own."""

import io
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from drawn_pictures import banner, photo, picture_of
from model_server import ModelServer, chat, refused
from PIL import Image
from tiny_gguf import build_gguf

from capabilities.alt_text.engines import MODES, CaptionRequest
from capabilities.alt_text.engines.endpoint import EndpointCaptioner
from capabilities.alt_text.engines.llama import Llama
from capabilities.alt_text.engines.text.shaping import LIMITS
from capabilities.alt_text.handlers.alt_text import WAITING_SIDE
from capabilities.alt_text.kinds.fields import Hints
from capabilities.alt_text.settings import CaptioningSettings
from pipeline.settings import Settings
from workers.engines.endpoints.errors import AnswerInvalid, EndpointBusy
from workers.media.images.reading import read_picture

PATH = "/chat/completions"
PICTURES = [picture_of(draw()) for draw in (banner, photo)]
DOG = "A brown dog runs along a beach"

Engine = Callable[..., EndpointCaptioner]


@pytest.fixture(name="engine")
def _engine() -> Iterator[Engine]:
    made: list[EndpointCaptioner] = []

    def make(url: str, **endpoint: Any) -> EndpointCaptioner:
        settings = Settings(endpoints={"house": {"url": url, "captions": "llava", **endpoint}})
        made.append(EndpointCaptioner(settings, "house"))
        made[-1].setup()
        return made[-1]

    yield make
    for one in made:
        one.close()


def request(number: int = 0, *modes: Any, language: str = "en", **hints: Any) -> CaptionRequest:
    return CaptionRequest(PICTURES[number], modes or ("short",), language, Hints(**hints))


def test_all_texts_of_a_picture_come_with_one_request_and_are_judged_as_every_models(engine: Engine) -> None:
    texts = {"short": DOG, "long": f"{DOG}. Waves break behind it.", "seo": "Brown dog running on a beach"}
    with ModelServer({PATH: chat(texts)}) as server:
        captions: Any = engine(server.url).caption([request(0, *MODES), request(1, *MODES)])
        requests = [one for one in server.asked if one.path == PATH]
    assert [caption["short"].text for caption in captions] == [DOG, DOG]
    assert captions[0]["long"].text == texts["long"]
    assert len(requests) == 2
    parts = requests[0].body["messages"][0]["content"][1:]
    assert parts[0]["image_url"]["url"].startswith("data:image/jpeg;base64,")
    assert sorted(requests[0].body["response_format"]["json_schema"]["schema"]["required"]) == sorted(MODES)


def test_pictures_that_wait_for_many_slots_take_two_gigabytes_at_most(engine: Engine) -> None:
    file = io.BytesIO()
    Image.merge("LA", [Image.linear_gradient("L")] * 2).resize((3_000, 3_000)).save(file, "PNG", compress_level=1)
    picture = read_picture(file.getvalue(), max_pixels=10**7, max_side=3_000, shrink_to=WAITING_SIDE)
    assert picture.opaque is not None
    # Pillow has four bytes for a pixel of RGB.
    size = 4 * math.prod(picture.image.size) + math.prod(picture.opaque.size)

    with ModelServer() as server:
        assert engine(server.url, slots=256).batch * CaptioningSettings().slots * size < 2.1 * 10**9


def test_one_picture_that_the_server_refuses_takes_no_other_away(engine: Engine) -> None:
    def odd(body: Any) -> Any:
        return chat("I can't help with that.") if "Odd page" in str(body["messages"]) else chat({"short": DOG})

    with ModelServer({PATH: odd}) as server:
        refusal, caption = engine(server.url).caption([request(page_title="Odd page"), request(1)])
    assert isinstance(refusal, AnswerInvalid)
    assert caption["short"].text == DOG  # type: ignore[index]


def test_a_server_that_asks_for_a_pause_says_until_when(engine: Engine) -> None:
    with ModelServer({"/models": {}, PATH: refused(429, {"error": "busy"}, Retry_After="20")}) as server:
        captioner = engine(server.url)
        (found,) = captioner.caption([request()])
        assert captioner.is_available()
    assert isinstance(found, EndpointBusy)


def test_llama_cpps_own_server_describes_a_picture(engine: Engine, tmp_path: Path) -> None:
    """It ignores nothing of the request: the answer of a model with random weights keeps the schema."""
    llama = Llama(CaptioningSettings(llama={"model": str(build_gguf(tmp_path, "llama"))}))
    llama.setup()
    try:
        url, key = llama.server.endpoint
        captioner = engine(url, key=key, slots=2)
        first, second = captioner.caption([request(0, *MODES), request(1, *MODES)])
        wrong = engine(url, key="wrong")
    finally:
        llama.server.stop()
    assert 0 < len(first["short"].text) <= LIMITS["short"]  # type: ignore[index]
    assert first != second
    assert not wrong.is_available() or wrong.models == captioner.models


@pytest.mark.parametrize("listed", [{"data": 5}, 7, {"data": [{"id": "eyes\0\x1b[2J\ud800"}]}])
def test_a_list_of_models_that_is_none_takes_nothing_away(engine: Engine, listed: Any) -> None:
    with ModelServer({"/models": lambda _: web.json_response(listed)}) as server:
        captioner = engine(server.url)
    assert captioner.is_available()
    assert captioner.offer().get("warning", "").isprintable()
