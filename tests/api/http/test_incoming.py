"""How long a body may take: it is told from a silent one by how much comes."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from api.http import request_context
from api.http.connections import Refusal
from api.http.request_context import LEAST_RATE, Incoming


class Network:
    """Gives pieces of a body, so many bytes after so many seconds each; its clock is `now`."""

    def __init__(self, *pieces: tuple[float, int]) -> None:
        self._pieces = list(pieces)
        self.now = 0.0

    async def __call__(self) -> Mapping[str, Any]:
        seconds, size = self._pieces.pop(0)
        self.now += seconds
        return {"type": "http.request", "body": bytes(size), "more_body": bool(self._pieces)}


def read(network: Network, monkeypatch: pytest.MonkeyPatch, *, pause: float = 0.0) -> int:
    """Read a body, with so long a pause after each piece; return its bytes."""
    monkeypatch.setattr(request_context, "monotonic", lambda: network.now)

    async def read_all() -> int:
        body, size = Incoming(network), 0
        while not body.has_ended:
            size += len((await body())["body"])
            network.now += pause
        return size

    return asyncio.run(read_all())


def test_what_came_at_first_does_not_count_for_what_comes_later(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network((1.0, 100 * LEAST_RATE), *[(20.0, 1)] * 1_000)

    with pytest.raises(Refusal, match="2 bytes have arrived within 40 seconds"):
        read(network, monkeypatch)


def test_a_body_that_comes_slowly_but_steadily_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(Network(*[(1.0, LEAST_RATE)] * 600), monkeypatch) == 600 * LEAST_RATE


def test_time_in_which_nobody_reads_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(Network(*[(1.0, 1)] * 20), monkeypatch, pause=60.0) == 20


def test_a_body_that_was_given_up_is_read_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(*[(40.0, 1)] * 3)
    monkeypatch.setattr(request_context, "monotonic", lambda: network.now)

    async def read_twice() -> Mapping[str, Any]:
        body = Incoming(network)
        with pytest.raises(Refusal):
            await body()
        assert not body.has_ended
        return await body()

    assert asyncio.run(read_twice()) == {"type": "http.disconnect"}
    assert network.now == 40.0
