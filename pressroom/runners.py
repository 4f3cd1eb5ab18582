"""Runners: they carry out flows, one with calls that block, one with asyncio."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeVar

import httpx2

from pressroom.exchange import Ask, Emit, Flow, Read, Send, Sleep, Step, StreamFlow
from pressroom.streams import AsyncStream, Stream

T = TypeVar("T")

#: Seconds to connect, and to send a piece of a file.
CONNECT_SECONDS = 10.0
WRITE_SECONDS = 60.0


class Turn:
    """Whose turn it is: gives outcomes to a flow, and takes its next step. After the last one it has the result."""

    def __init__(self, flow: StreamFlow[Any] | Flow[Any]) -> None:
        self._flow = flow
        self._outcome: Any = None
        self._error: Exception | None = None
        self.result: Any = None

    def next(self) -> Step | Emit[Any] | None:
        """Return the next step; None: the flow has ended."""
        outcome, error = self._outcome, self._error
        self._outcome = self._error = None
        try:
            return self._flow.send(outcome) if error is None else self._flow.throw(error)
        except StopIteration as ended:
            self.result = ended.value
            return None

    def done(self, outcome: Any) -> None:
        """Note what came of the last step."""
        self._outcome = outcome

    def failed(self, error: Exception) -> None:
        """Note why the last step failed; the flow decides what to do then."""
        self._error = error

    def close(self) -> None:
        """End the flow, which closes its files."""
        self._flow.close()


class BlockingRunner:
    """Carries out flows with an httpx2.Client. Several threads may share one."""

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client

    def run(self, flow: Flow[T]) -> T:
        """Carry out a flow, and return its result."""
        turn = Turn(flow)
        for _ in self._values(turn):
            pass
        result: T = turn.result
        return result

    def stream(self, flow: StreamFlow[T]) -> Stream[T]:
        """Carry out a flow while its values are taken."""
        return Stream(self._values(Turn(flow)))

    def _values(self, turn: Turn) -> Iterator[Any]:
        line = _BlockingLine(self._client)
        try:
            while (step := turn.next()) is not None:
                if isinstance(step, Emit):
                    yield step.value
                    continue
                try:
                    turn.done(line.carry_out(step))
                except (httpx2.TransportError, httpx2.DecodingError) as error:
                    turn.failed(error)
        finally:
            line.close()
            turn.close()


class AsyncRunner:
    """Carries out flows with an httpx2.AsyncClient."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client

    async def run(self, flow: Flow[T]) -> T:
        """Carry out a flow, and return its result."""
        turn = Turn(flow)
        async for _ in self._values(turn):
            pass
        result: T = turn.result
        return result

    def stream(self, flow: StreamFlow[T]) -> AsyncStream[T]:
        """Carry out a flow while its values are taken."""
        return AsyncStream(self._values(Turn(flow)))

    async def _values(self, turn: Turn) -> AsyncIterator[Any]:
        line = _AsyncLine(self._client)
        try:
            while (step := turn.next()) is not None:
                if isinstance(step, Emit):
                    yield step.value
                    continue
                try:
                    turn.done(await line.carry_out(step))
                except (httpx2.TransportError, httpx2.DecodingError) as error:
                    turn.failed(error)
        finally:
            await line.close()
            turn.close()


class _BlockingLine:
    """What a flow has open: one answer at a time."""

    def __init__(self, client: httpx2.Client) -> None:
        self._client = client
        self._answer: httpx2.Response | None = None
        self._parts: Iterator[Any] = iter(())

    def carry_out(self, step: Step) -> Any:
        if isinstance(step, Sleep):
            return time.sleep(step.seconds)
        if isinstance(step, Read):
            return next(self._parts, None)
        self.close()
        with step.ask.body() as body:
            self._answer = answer = self._client.send(_request(self._client, step.ask, body), stream=True)
        if _is_read_at_once(step, answer):
            answer.read()
        else:
            self._parts = iter(httpx2.EventSource(answer)) if step.reading == "events" else answer.iter_bytes()
        return answer

    def close(self) -> None:
        if self._answer is not None:
            self._answer.close()


class _AsyncLine:
    """The same for asyncio."""

    def __init__(self, client: httpx2.AsyncClient) -> None:
        self._client = client
        self._answer: httpx2.Response | None = None
        self._parts: AsyncIterator[Any] | None = None

    async def carry_out(self, step: Step) -> Any:
        if isinstance(step, Sleep):
            return await asyncio.sleep(step.seconds)
        if isinstance(step, Read):
            return None if self._parts is None else await anext(self._parts, None)
        await self.close()
        with step.ask.body() as body:
            self._answer = answer = await self._client.send(_request(self._client, step.ask, body), stream=True)
        if _is_read_at_once(step, answer):
            await answer.aread()
        else:
            self._parts = aiter(httpx2.EventSource(answer)) if step.reading == "events" else answer.aiter_bytes()
        return answer

    async def close(self) -> None:
        if self._answer is not None:
            await self._answer.aclose()


def _request(client: httpx2.Client | httpx2.AsyncClient, ask: Ask, body: dict[str, Any]) -> httpx2.Request:
    timeout = httpx2.Timeout(connect=CONNECT_SECONDS, read=ask.silence, write=WRITE_SECONDS, pool=None)
    # No parameters at all, rather than an empty mapping, which would take away those of a link.
    params = ask.params or None
    return client.build_request(ask.method, ask.path, params=params, headers=ask.headers, timeout=timeout, **body)


def _is_read_at_once(send: Send, answer: httpx2.Response) -> bool:
    return send.reading == "whole" or answer.status_code != httpx2.codes.OK
