"""A proxy of our own between clients and a server: latency, resets, half-open connections, slow reads, silence.

Clients reach it over TCP; it reaches the server over its unix socket, or at a port of this machine.
"""

import asyncio
import random
import socket
import struct
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from loopback import abort_connections, stop_listening

Fault = Literal["", "latency", "reset", "half-open", "slow", "swallow"]

CHUNK_BYTES = 64 * 1024
LATENCY_SECONDS = 0.05
#: A slow reader takes so many bytes at a time, so often.
SLOW_BYTES = 512
SLOW_SECONDS = 0.005
#: How often some of the connections are reset, or all are left half-open, while that is the fault.
RESET_EVERY_SECONDS = 0.3
HALF_OPEN_EVERY_SECONDS = 3.0


@dataclass(eq=False)
class _Link:
    """One connection: the client's side and, once it is there, the server's."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter | None = None
    #: The server's side is gone, or bytes are, and the client has not been told.
    is_dead: bool = False

    def reset(self) -> None:
        """Cut both sides, the client's with a TCP reset."""
        with suppress(OSError):
            self.client.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
            )
        self.client.transport.abort()
        if self.server:
            self.server.transport.abort()


class TcpProxy:
    """Runs in a thread of its own until the block ends; what it has hurt, it counts.

    `server`: the path of its unix socket, or its port."""

    def __init__(self, server: str | int) -> None:
        self._at = server
        self._links: set[_Link] = set()
        self._fault: Fault = ""
        self._choose = random.Random(str(server))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._hurting: Future[None] | None = None
        self.port = 0
        self.hurt = 0

    def __enter__(self) -> "TcpProxy":
        self._thread.start()
        self._server = self._call(asyncio.start_server(self._serve, "127.0.0.1", 0, limit=CHUNK_BYTES))
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self.mend()
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def begin(self, fault: Fault) -> None:
        """Hurt every connection from now on."""
        self._fault = fault
        steps: dict[Fault, tuple[Callable[[], None], float]] = {
            "reset": (self._reset_some, RESET_EVERY_SECONDS),
            "half-open": (self._leave_half_open, HALF_OPEN_EVERY_SECONDS),
        }
        if fault in steps:
            self._hurting = asyncio.run_coroutine_threadsafe(self._repeat(*steps[fault]), self._loop)

    def mend(self) -> None:
        """Hurt nothing any more; connections whose bytes are lost are reset."""
        self._fault = ""
        if self._hurting:
            self._hurting.cancel()
            self._hurting = None
        self._call(self._reset_dead())

    def _call(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=60)

    async def _close(self) -> None:
        await stop_listening(self._server)
        for link in list(self._links):
            link.reset()
        others = asyncio.all_tasks() - {asyncio.current_task()}  # type: ignore[arg-type]  # there is one
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await abort_connections()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = _Link(writer)
        self._links.add(link)
        try:
            server_reader, link.server = await self._reach()
            there = asyncio.create_task(self._pump(link, reader, link.server, is_answer=False))
            back = asyncio.create_task(self._pump(link, server_reader, writer, is_answer=True))
            await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
            if link.is_dead:
                await there  # until the client leaves, or the fault ends
            there.cancel()
            back.cancel()
            await asyncio.gather(there, back, return_exceptions=True)
        except (OSError, asyncio.CancelledError):  # the server is down
            link.reset()
        finally:
            self._links.discard(link)
            for side in (link.client, link.server):
                if side:
                    side.close()

    async def _reach(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self._at, int):
            return await asyncio.open_connection("127.0.0.1", self._at, limit=CHUNK_BYTES)
        return await asyncio.open_unix_connection(self._at, limit=CHUNK_BYTES)

    async def _pump(
        self, link: _Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_answer: bool
    ) -> None:
        with suppress(OSError):
            while chunk := await reader.read(CHUNK_BYTES):
                if self._fault == "latency":
                    self.hurt += 1
                    await asyncio.sleep(LATENCY_SECONDS)
                if self._fault == "swallow":
                    self.hurt += 1
                    link.is_dead = True
                if link.is_dead:
                    continue
                if self._fault == "slow" and is_answer:
                    await self._write_slowly(writer, chunk)
                else:
                    writer.write(chunk)
                    await writer.drain()

    async def _write_slowly(self, writer: asyncio.StreamWriter, chunk: bytes) -> None:
        for start in range(0, len(chunk), SLOW_BYTES):
            self.hurt += 1
            writer.write(chunk[start : start + SLOW_BYTES])
            await writer.drain()
            if self._fault == "slow":
                await asyncio.sleep(SLOW_SECONDS)

    async def _repeat(self, step: Callable[[], None], every: float) -> None:
        while True:
            step()
            await asyncio.sleep(every)

    def _reset_some(self) -> None:
        for link in list(self._links):
            if self._choose.random() < 0.5:
                self.hurt += 1
                link.reset()

    def _leave_half_open(self) -> None:
        for link in list(self._links):
            if not link.is_dead and link.server:
                self.hurt += 1
                link.is_dead = True
                link.server.transport.abort()

    async def _reset_dead(self) -> None:
        for link in list(self._links):
            if link.is_dead:
                link.reset()
