"""Loopback: an application of aiohttp on a port of its own, served by a thread."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web

PATIENCE_SECONDS = 60


async def stop_listening(server: asyncio.Server) -> None:
    """Close a server. What it has just accepted becomes a connection first: asyncio would leak its socket otherwise."""
    loop = asyncio.get_running_loop()
    for listener in server.sockets:
        loop.remove_reader(listener.fileno())
    await asyncio.sleep(0)  # each connection is made in the loop's next turn
    server.close()


async def abort_connections() -> None:
    """End each connection of this loop at once, so that closing the loop leaves no socket open.

    A transport that was closed while its peer did not read would wait for ever; asyncio has no public list of them."""
    for transport in list(asyncio.get_running_loop()._transports.values()):  # type: ignore[attr-defined]
        transport.abort()
    await asyncio.sleep(0)  # each transport closes its socket in the loop's next turn


@contextmanager
def served(app: web.Application, *hosts: str, ended: asyncio.Event | None = None) -> Iterator[int]:
    """Serve an application until the block is left; yield its port, which is the same at each address.

    `ended` is set first of all then, so that requests which wait for it end."""
    loop = asyncio.new_event_loop()
    runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
    servers: list[asyncio.Server] = []

    async def start() -> int:
        await runner.setup()
        assert runner.server is not None
        port = 0
        for host in hosts or ("127.0.0.1",):
            servers.append(await loop.create_server(runner.server, host, port, backlog=512))
            port = servers[0].sockets[0].getsockname()[1]
        return port

    async def stop() -> None:
        if ended is not None:
            ended.set()
        for server in servers:
            await stop_listening(server)
        await runner.cleanup()
        await abort_connections()

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(start(), loop).result(PATIENCE_SECONDS)
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result(PATIENCE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
