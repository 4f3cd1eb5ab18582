"""Loopback: an application of aiohttp on a port of its own, served by a thread."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web

PATIENCE_SECONDS = 60


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

    async def start() -> int:
        await runner.setup()
        port = 0
        for host in hosts or ("127.0.0.1",):
            await web.TCPSite(runner, host, port, backlog=512).start()
            port = runner.addresses[0][1]
        return port

    async def stop() -> None:
        if ended is not None:
            ended.set()
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
