"""Loopback: an application of aiohttp on a port of its own, served by a thread."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web

PATIENCE_SECONDS = 60


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

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(start(), loop).result(PATIENCE_SECONDS)
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result(PATIENCE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
