"""Runners: carry out flows, one with calls that block, one with asyncio."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from os import PathLike
from typing import Any, Generic, Self, TypeVar

import httpx2

from pressroom.errors import PressroomError
from pressroom.exchange import Ask, Emit, Flow, Read, Send, Sleep, Step, StreamFlow
from pressroom.files import whole_file

T = TypeVar("T")
#: Seconds to connect, and to send a piece of a file.
CONNECT_SECONDS = 10.0
WRITE_SECONDS = 60.0


class Stream(Generic[T]):
    """Values as they arrive. After leaving the loop early, `close` the connection or end its `with` block."""

    def __init__(self, values: Iterator[T]) -> None:
        self._values = values

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        return next(self._values)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; the rest of a text is neither spoken nor charged."""
        if isinstance(self._values, Generator):
            self._values.close()

    def save(self: "Stream[bytes]", to: str | PathLike[str]) -> int:
        """Write everything to a file, whole or not at all; return its size in bytes."""
        with self, whole_file(to) as output:
            return sum(output.write(piece) for piece in self)


class AsyncStream(Generic[T]):
    """A Stream for asyncio."""

    def __init__(self, values: AsyncIterator[T]) -> None:
        self._values = values

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        return await anext(self._values)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connection; the rest of a text is neither spoken nor charged."""
        if isinstance(self._values, AsyncGenerator):
            await self._values.aclose()

    async def save(self: "AsyncStream[bytes]", to: str | PathLike[str]) -> int:
        """Write everything to a file, whole or not at all; return its size in bytes."""
        async with self:
            with whole_file(to) as output:
                return sum([output.write(piece) async for piece in self])


class Turn:
    """A flow under way: takes outcomes, gives the next step, and has the result in the end."""

    def __init__(self, flow: StreamFlow[Any] | Flow[Any], base_url: httpx2.URL) -> None:
        self._flow = flow
        self._base_url = str(base_url).rstrip("/")
        self._address: str | None = None
        self.outcome: Any = None
        self.error: Exception | None = None
        self.result: Any = None

    def next(self) -> Step | Emit[Any] | None:
        """Return the next step; None: the flow has ended. A PressroomError gets the address that was asked."""
        outcome, error = self.outcome, self.error
        self.outcome = self.error = None
        try:
            step = self._flow.send(outcome) if error is None else self._flow.throw(error)
        except StopIteration as ended:
            self.result = ended.value
            return None
        except PressroomError as failure:
            failure.address = failure.address or self._address
            raise
        if isinstance(step, Send):
            self._address = f"{step.ask.method} {self._base_url}{step.ask.path}"
        return step

    def close(self) -> None:
        self._flow.close()


class BlockingRunner:
    """Carries out flows with an httpx2.Client. Threads may share one."""

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client

    def run(self, flow: Flow[T]) -> T:
        """Carry out a flow, and return its result."""
        turn = Turn(flow, self._client.base_url)
        for _ in self._values(turn):
            pass
        result: T = turn.result
        return result

    def stream(self, flow: StreamFlow[T]) -> Stream[T]:
        """Carry out a flow while its values are taken."""
        return Stream(self._values(Turn(flow, self._client.base_url)))

    def _values(self, turn: Turn) -> Iterator[Any]:
        answer: httpx2.Response | None = None
        parts: Iterator[Any] = iter(())
        try:
            while (step := turn.next()) is not None:
                try:
                    match step:
                        case Emit():
                            yield step.value
                        case Sleep():
                            time.sleep(step.seconds)
                        case Read():
                            turn.outcome = next(parts, None)
                        case Send(ask):
                            if answer is not None:
                                answer.close()
                            with ask.body() as body:
                                answer = self._client.send(_request(self._client, ask, body), stream=True)
                            turn.outcome = answer
                            if _is_read_at_once(step, answer):
                                answer.read()
                            elif step.reading == "events":
                                parts = iter(httpx2.EventSource(answer))
                            else:
                                parts = answer.iter_bytes()
                except (httpx2.TransportError, httpx2.DecodingError) as error:
                    turn.error = error
        finally:
            if answer is not None:
                answer.close()
            turn.close()


class AsyncRunner:
    """Carries out flows with an httpx2.AsyncClient."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def run(self, flow: Flow[T]) -> T:
        """Carry out a flow, and return its result."""
        turn = Turn(flow, self._client.base_url)
        async for _ in self._values(turn):
            pass
        result: T = turn.result
        return result

    def stream(self, flow: StreamFlow[T]) -> AsyncStream[T]:
        """Carry out a flow while its values are taken."""
        return AsyncStream(self._values(Turn(flow, self._client.base_url)))

    async def _values(self, turn: Turn) -> AsyncIterator[Any]:
        answer: httpx2.Response | None = None
        parts: AsyncIterator[Any] | None = None
        try:
            while (step := turn.next()) is not None:
                try:
                    match step:
                        case Emit():
                            yield step.value
                        case Sleep():
                            await asyncio.sleep(step.seconds)
                        case Read():
                            turn.outcome = None if parts is None else await anext(parts, None)
                        case Send(ask):
                            if answer is not None:
                                await answer.aclose()
                            with ask.body() as body:
                                answer = await self._client.send(_request(self._client, ask, body), stream=True)
                            turn.outcome = answer
                            if _is_read_at_once(step, answer):
                                await answer.aread()
                            elif step.reading == "events":
                                parts = aiter(httpx2.EventSource(answer))
                            else:
                                parts = answer.aiter_bytes()
                except (httpx2.TransportError, httpx2.DecodingError) as error:
                    turn.error = error
        finally:
            if answer is not None:
                await answer.aclose()
            turn.close()


def _request(client: httpx2.Client | httpx2.AsyncClient, ask: Ask, body: dict[str, Any]) -> httpx2.Request:
    timeout = httpx2.Timeout(connect=CONNECT_SECONDS, read=ask.silence, write=WRITE_SECONDS, pool=None)
    # None rather than an empty mapping, which would remove those of a link.
    params = ask.params or None
    return client.build_request(ask.method, ask.path, params=params, headers=ask.headers, timeout=timeout, **body)


def _is_read_at_once(send: Send, answer: httpx2.Response) -> bool:
    return send.reading == "whole" or answer.status_code != httpx2.codes.OK
