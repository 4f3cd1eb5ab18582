"""The client of endpoints: limits, refusals of each dialect, and no word of the key."""

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web
from model_server import KEY, ModelServer, refused
from waiting import wait_for

from pipeline.settings.endpoints import EndpointSettings
from workers.engines import Stopped
from workers.engines.endpoints.client import Call, EndpointClient
from workers.engines.endpoints.errors import (
    AnswerInvalid,
    EndpointAway,
    EndpointBusy,
    EndpointFailed,
    KeyRefused,
    ModelUnknown,
    QuotaSpent,
    RequestRefused,
)

PATH = "/chat/completions"


Client = Callable[..., EndpointClient]


@pytest.fixture(name="client")
def _client() -> Iterator[Client]:
    made: list[EndpointClient] = []

    def make(server: ModelServer, **settings: Any) -> EndpointClient:
        made.append(EndpointClient("house", EndpointSettings(**{"url": server.url, "key": KEY, **settings})))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (401, {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}, KeyRefused),
        (403, {"error": "forbidden"}, KeyRefused),
        (402, {"message": "pay"}, QuotaSpent),
        (429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, QuotaSpent),
        (429, {"error": {"code": 429, "message": "slow down"}}, EndpointBusy),
        (429, {"error": {"message": "Limit: 3 / min. See openai.com/account/billing"}}, EndpointBusy),
        (404, {"error": "model 'x' not found"}, ModelUnknown),
        (400, {"object": "error", "message": "context too long", "code": 400}, RequestRefused),
        (500, "<html>oops</html>", EndpointAway),
        (302, {}, EndpointAway),
    ],
)
def test_each_refusal_is_told_apart_without_the_key(
    client: Client, status: int, error: Any, expected: type[EndpointFailed]
) -> None:
    with ModelServer({PATH: refused(status, error, Location="http://127.0.0.1:9/")}) as server:
        (found,) = client(server).send([Call(PATH, json={})])
    assert type(found) is expected
    assert found.message.startswith("The endpoint house ")
    assert KEY not in found.message


def test_a_key_ends_without_its_line_break_and_one_that_no_header_may_have_is_an_error(client: Client) -> None:
    with ModelServer({PATH: {}}, key=KEY) as server:
        assert client(server, key=f"{KEY}\n").post(PATH, {}) == {}
        with pytest.raises(EndpointAway, match="its url or key is invalid") as error:
            client(server, key=f"{KEY}\0").post(PATH, {})
    assert KEY not in error.value.message


def test_a_pause_that_the_server_asks_for_holds_later_requests(client: Client) -> None:
    with ModelServer({PATH: refused(429, {}, Retry_After="7")}) as server:
        house = client(server)
        first, second = house.send([Call(PATH, json={})]) + house.send([Call(PATH, json={})])
        assert len(server.asked) == 1
    assert isinstance(first, EndpointBusy)
    assert first.retry_after == timedelta(seconds=7)
    assert isinstance(second, EndpointBusy)
    assert second.retry_after is not None
    assert timedelta(seconds=5) < second.retry_after <= timedelta(seconds=7)


def test_a_refusal_is_read_to_its_end_whatever_it_is(client: Client) -> None:
    async def in_two_parts(request: Any) -> web.Response:
        async def parts() -> Any:
            yield b'{"error": {"message": "no '
            await asyncio.sleep(0.1)
            yield b'response_format here"}}'

        return web.Response(status=400, body=parts())

    answers = {
        "/parts": in_two_parts,
        "/deep": web.Response(status=400, text="[" * 60_000),
        "/key": web.Response(status=400, text="x" * 196 + KEY),
    }
    with ModelServer(answers) as server:
        parts, deep, key = client(server).send([Call(path, json={}) for path in answers])
    assert isinstance(parts, RequestRefused)
    assert parts.said == "no response_format here"
    assert isinstance(deep, RequestRefused)
    assert isinstance(key, RequestRefused)
    assert KEY[:4] not in key.message


def test_a_server_that_loads_its_model_is_waited_for(client: Client) -> None:
    answers = iter([503, 503, 200])

    def loading(_: Any) -> web.Response:
        return web.json_response({"text": "Loading model"}, status=next(answers), headers={"Retry-After": "1"})

    with ModelServer({PATH: loading}) as server:
        assert client(server).post(PATH, {}) == {"text": "Loading model"}
        assert len(server.asked) == 3


def test_a_server_that_never_has_its_model_is_away(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.engines.endpoints.client.LOADING", timedelta(seconds=1))
    with ModelServer({PATH: refused(503, "no healthy upstream", Retry_After="0.5")}) as server:
        (found,) = client(server).send([Call(PATH, json={})])
    assert isinstance(found, EndpointAway)


def test_a_probe_waits_neither_for_a_model_nor_for_a_slow_server(client: Client) -> None:
    async def slow(_: Any) -> web.Response:
        await asyncio.sleep(5)
        return web.json_response({})

    with ModelServer({"/models": refused(503, {"error": "loading"}, Retry_After="60"), "/slow": slow}) as server:
        house = client(server, connect_seconds=0.3)
        with pytest.raises(EndpointBusy):
            house.get("/models")
        with pytest.raises(EndpointAway, match=r"within 0.3 s"):
            house.get("/slow")


def test_an_answer_that_is_late_too_long_or_no_json_is_an_error(client: Client) -> None:
    async def trickle(_: Any) -> web.Response:
        await asyncio.sleep(5)
        return web.json_response({})

    answers = {"/late": trickle, "/long": {"text": "x" * 5000}, "/page": web.Response(text="<html>Hello</html>")}
    with ModelServer(answers) as server:
        house = client(server, limit_seconds=0.3)
        late, long = house.send([Call("/late", json={}), Call("/long", json={}, most=1000)])
        with pytest.raises(AnswerInvalid, match="something else than JSON"):
            house.post("/page", {})
    assert isinstance(late, EndpointAway)
    assert "did not answer within 0.3 s" in late.message
    assert isinstance(long, AnswerInvalid)
    assert "more than 1,000 bytes" in long.message


def test_requests_that_wait_behind_one_without_an_answer_do_not_wait_as_long_again(client: Client) -> None:
    with ModelServer({PATH: {}}, seconds=600) as server:
        answers = client(server, slots=1, limit_seconds=0.3).send([Call(PATH, json={})] * 3)
        assert len(server.asked) == 1
    assert [type(answer) for answer in answers] == [EndpointAway] * 3


def test_one_request_without_an_answer_takes_no_other_away_while_the_server_answers(client: Client) -> None:
    async def answer(body: Any) -> web.Response:
        await asyncio.sleep(600 if body["place"] == 0 else 0.25)
        return web.json_response({})

    with ModelServer({PATH: answer}) as server:
        calls = [Call(PATH, json={"place": place}) for place in range(7)]
        first, *others = client(server, slots=2, limit_seconds=1).send(calls)
    assert isinstance(first, EndpointAway)
    assert others == [b"{}"] * 6


def test_a_server_that_lets_nobody_in_is_told_from_one_that_is_slow(client: Client) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, socket.socket() as first, socket.socket() as second:
        for other in (first, second):
            other.setblocking(False)
            other.connect_ex(full.getsockname())
        url = f"http://127.0.0.1:{full.getsockname()[1]}/v1"
        with ModelServer() as server, pytest.raises(EndpointAway, match="can't be reached"):
            client(server, url=url, connect_seconds=0.2).post(PATH, {})


def test_stopping_ends_the_request(client: Client) -> None:
    with ModelServer({PATH: {}}, seconds=600) as server:
        began = time.monotonic()
        with pytest.raises(Stopped):
            client(server).send([Call(PATH, json={})], stop=lambda: time.monotonic() > began + 0.2)


def test_who_waits_when_the_client_is_closed_is_told_to_come_back(client: Client) -> None:
    with ModelServer({PATH: {}}, seconds=600) as server, ThreadPoolExecutor() as threads:
        house = client(server)
        waiting = threads.submit(house.send, [Call(PATH, json={})])
        wait_for(lambda: server.asked)
        house.close()
        (found,) = waiting.result(timeout=5)
        with pytest.raises(EndpointBusy, match="was changed by an operator"):
            house.send([Call(PATH, json={})])
    assert isinstance(found, EndpointBusy)


def test_as_many_requests_run_at_once_as_the_operator_allows(client: Client) -> None:
    with ModelServer({PATH: {}}, seconds=0.05) as server:
        client(server, slots=3).send([Call(PATH, json={})] * 12)
        assert server.most_at_once == 3
