"""Endpoints: pictures described by a server that takes 50 ms each, beside plain aiohttp sending the same requests."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import aiohttp
from model_server import ModelServer, chat
from PIL import Image

from benchmarks.report import Table
from capabilities.alt_text.engines import CaptionRequest
from capabilities.alt_text.engines.endpoint import EndpointCaptioner
from pipeline.settings import Settings
from workers.media.images.picture import Picture

PICTURES, SLOTS, SECONDS, ROUNDS = 100, 8, 0.05, 5
PATH = "/chat/completions"


def measure(*, quick: bool) -> Iterator[Table]:
    """Yield pictures a second, ours and plain aiohttp's, in rounds that follow each other."""
    table = Table(f"Endpoints: {PICTURES} pictures, {SLOTS} at once, by a server that takes {SECONDS * 1000:g} ms each")
    requests = [CaptionRequest(_picture(number), ("short",), "en") for number in range(PICTURES)]
    ours, raw = [], []
    answers = {"/models": {}, PATH: chat({"short": "A brown dog runs along a beach"})}
    with ModelServer(answers, seconds=SECONDS) as server:
        engine = EndpointCaptioner(
            Settings(endpoints={"house": {"url": server.url, "captions": "any", "slots": SLOTS}}), "house"
        )
        engine.setup()
        for _ in range(1 if quick else ROUNDS):
            server.asked.clear()
            ours.append(PICTURES / _seconds_of(engine, requests))
            bodies = [one.body for one in server.asked]
            raw.append(PICTURES / asyncio.run(_plain(f"{server.url}{PATH}", bodies)))
        engine.close()
    table.compare("pictures a second", ours, raw, unit="/s", least=0.9)
    yield table


def _seconds_of(engine: EndpointCaptioner, requests: Sequence[CaptionRequest]) -> float:
    began = time.monotonic()
    engine.caption(requests)
    return time.monotonic() - began


async def _plain(url: str, bodies: Sequence[Mapping[str, Any]]) -> float:
    places = asyncio.Semaphore(SLOTS)
    began = time.monotonic()

    async def post(session: aiohttp.ClientSession, body: Mapping[str, Any]) -> None:
        async with places, session.post(url, json=body) as answer:
            await answer.read()

    async with aiohttp.ClientSession() as session:
        await asyncio.gather(*(post(session, body) for body in bodies))
    return time.monotonic() - began


def _picture(number: int) -> Picture:
    return Picture(Image.linear_gradient("L").rotate(number).resize((800, 600)).convert("RGB"), "PNG")
