"""Client: HTTP/1.1 over connections that stay open, with as little work a request as Python allows.

It writes the same bytes again and again and looks at the status line and Content-Length alone, so that on a small
machine the measured servers get the processor and not their client."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import uvloop


@dataclass
class Sample:
    """One round: how long each answer took, in seconds, and how long the round."""

    took: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0
    body: bytes = b""  # of the last answer

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.took) / self.seconds

    def percentile(self, percent: float) -> float:
        """Return the time, in ms, within which so many of a hundred were answered."""
        return sorted(self.took)[min(len(self.took) - 1, int(len(self.took) * percent / 100))] * 1_000

    def expect(self, status: int) -> "Sample":
        """Return this sample; raise when an answer had another status."""
        if set(self.statuses) != {status}:
            raise AssertionError(f"{dict(self.statuses)} instead of {status} alone; the last: {self.body[:500]!r}")
        return self


def request(address: str, path: str, body: bytes, headers: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes of a POST."""
    sent = {
        "Host": urlsplit(address).netloc,
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        **(headers or {}),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
    return f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + body


def load(
    address: str, sent: bytes, *, connections: int, seconds: float = 60, count: int = 1_000_000, rate: float = 0
) -> Sample:
    """Send a request over and over on each of some connections, for so long or so often in all, whichever is first.

    With a rate, so many a second; one that finds all connections busy is timed from when it was due."""
    return uvloop.run(_load(address, sent, connections, seconds, count, rate))


async def _load(address: str, sent: bytes, connections: int, seconds: float, count: int, rate: float) -> Sample:
    loop = asyncio.get_running_loop()
    url = urlsplit(address)
    sample = Sample()
    lines = [
        (await loop.create_connection(lambda: _Line(sent, sample), url.hostname, url.port))[1]
        for _ in range(connections)
    ]
    _Line.left = count
    _Line.pause = 1 / rate if rate else 0.0
    _Line.due = began = time.perf_counter()
    _Line.until = began + seconds
    for line in lines:
        line.begin()
    try:
        await asyncio.gather(*(line.ended for line in lines))
    finally:
        for line in lines:
            line.close()
    sample.seconds = time.perf_counter() - began
    return sample


class _Line(asyncio.Protocol):
    """One connection: the next request goes out when the last was answered."""

    left = 0
    until = 0.0
    pause = 0.0  # seconds from one request to the next; 0: none
    due = 0.0

    def __init__(self, sent: bytes, sample: Sample) -> None:
        self.ended = asyncio.get_running_loop().create_future()
        self._sent = sent
        self._sample = sample
        self._buffer = b""
        self._missing = 0  # bytes of the answer that are still to come
        self._status = 0
        self._began = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def begin(self) -> None:
        if _Line.left <= 0:
            self._end()
            return
        _Line.left -= 1
        self._began = now = time.perf_counter()
        if _Line.pause:
            self._began = _Line.due
            _Line.due += _Line.pause
            if self._began > now:
                asyncio.get_running_loop().call_later(self._began - now, self._write_at_last)
                return
        self._transport.write(self._sent)

    def _write_at_last(self) -> None:
        self._began = time.perf_counter()  # a timer is up to a ms late
        self._transport.write(self._sent)

    def data_received(self, data: bytes) -> None:
        if self._missing > 0:  # a long body is counted and dropped: the client must not cost more than the server
            self._missing -= len(data)
            if self._missing <= 0:
                self._note(self._status, b"")
            return
        buffer = self._buffer = self._buffer + data if self._buffer else data
        head_end = buffer.find(b"\r\n\r\n")
        if head_end < 0:
            return
        head = buffer[:head_end].lower() + b"\r\n"
        length_at = head.find(b"content-length: ")
        length = int(head[length_at + 16 : head.find(b"\r\n", length_at)]) if length_at >= 0 else 0
        self._status = int(buffer[9:12])
        self._missing = head_end + 4 + length - len(buffer)
        if self._missing <= 0:
            self._note(self._status, buffer[head_end + 4 :])

    def _note(self, status: int, body: bytes) -> None:
        now = time.perf_counter()
        self._sample.took.append(now - self._began)
        self._sample.statuses[status] += 1
        self._sample.body = body
        self._buffer = b""
        if now < _Line.until:
            self.begin()
        else:
            self._end()

    def _end(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_exception(ConnectionError(f"The server closed the connection: {error}"))

    def close(self) -> None:
        self._transport.close()
