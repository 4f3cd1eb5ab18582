"""Fetching: 1,000 pictures through the guarded download, beside plain aiohttp from the same server meanwhile."""

import asyncio
import ctypes
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path

import aiohttp

from benchmarks.report import Table
from pipeline.settings.fields import FetchSettings
from scripts.system.programs import ROOT, environment
from workers.media.downloads.fetcher import Fetcher

PICTURES = 1_000
#: A photo for a page of the web, and a thumbnail.
SIZES = {"60 kB": 60_000, "4 kB": 4_000}
#: Loopback addresses, each a host of its own to the fetcher, which takes few connections to one.
HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4")
SERVER = """
import sys
from web_server import web_server
with web_server("0.0.0.0") as server:
    for size in sys.argv[1:]:
        server.serve(f"/{size}.jpg", bytes(int(size)), "image/jpeg")
    server.asked = server.heads = __import__("collections").deque(maxlen=1)
    print(server.port, flush=True)
    sys.stdin.read()
"""


def measure(*, quick: bool) -> Iterator[Table]:
    """Measure pictures a second, and the memory that they leave behind."""
    table = Table(
        "Downloads",
        f"{PICTURES:,} pictures from a server in a process of its own, {FetchSettings().downloads} at once from "
        f"{len(HOSTS)} addresses; raw: plain aiohttp that reads the same bodies and looks at nothing.",
    )
    rounds = 9 if quick else 25  # a quarter of a second each, and neighbours take turns at the cores
    fetcher = Fetcher(FetchSettings(allow_networks="127.0.0.0/8"))
    with server_process() as port:
        for name, size in SIZES.items():
            urls = list(islice(cycle(f"http://{host}:{port}/{size}.jpg" for host in HOSTS), PICTURES))
            ours, raw = [], []
            _ours(fetcher, urls)
            asyncio.run(_plain(urls))
            before = _resident()
            for _ in range(rounds):
                ours.append(_ours(fetcher, urls))
                raw.append(asyncio.run(_plain(urls)))
            table.compare(f"pictures of {name}", ours, raw, unit="/s", least=0.7)
            grown = _resident() - before
            table.say(
                f"memory after {rounds * PICTURES:,} more", f"{grown:+.1f} MiB", target="≤ 20 MiB", is_met=grown <= 20
            )
    fetcher.close()
    yield table


def _ours(fetcher: Fetcher, urls: Sequence[str]) -> float:
    """Return the pictures a second of the guarded download."""
    began = time.perf_counter()
    downloads = [fetcher.start(url) for url in urls]
    ended, _ = wait(downloads, timeout=60)
    took = time.perf_counter() - began
    assert all(download in ended and download.result().body for download in downloads)
    return len(urls) / took


async def _plain(urls: Sequence[str]) -> float:
    """Return the pictures a second of a session as the documentation shows it."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=FetchSettings().downloads)) as session:

        async def get(url: str) -> bytes:
            async with session.get(url) as response:
                return await response.read()

        began = time.perf_counter()
        # Kept until the end as ours are: fresh memory for 60 MB costs a fifth of the time.
        bodies = await asyncio.gather(*map(get, urls))
        took = time.perf_counter() - began
        assert all(bodies)
        return len(urls) / took


def _resident() -> float:
    """Return the MiB that this process holds: without what is free, which glibc keeps or not as its pieces happen to
    lie; a round's pictures are 60 MB of it."""
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1_024 for line in lines if line.startswith("VmRSS:"))


@contextmanager
def server_process() -> Iterator[int]:
    """Run a web server in a process of its own; give its port."""
    found = environment()
    found["PYTHONPATH"] = f"{ROOT}:{ROOT / 'tests'}"
    sizes = map(str, SIZES.values())
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, *sizes], env=found, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait(timeout=30)
