"""Slots of downloads: none that waits, ends or is cancelled takes a slot from others, or keeps one."""

import asyncio
from collections.abc import Awaitable, Callable

from pipeline.downloads.slots import DownloadSlots


class Downloads:
    """Downloads that go on until they are let go; `running` are those that have a slot."""

    def __init__(self, slots: DownloadSlots) -> None:
        self._slots = slots
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.running: list[str] = []

    async def start(self, *hosts: str) -> None:
        for host in hosts:
            self.tasks[host] = asyncio.create_task(self._run(host))
        await settled()

    async def end(self, host: str) -> None:
        self.tasks[host].cancel()
        await settled()

    async def _run(self, host: str) -> None:
        async with self._slots.at(host.partition("/")[0]):
            self.running.append(host)
            try:
                await asyncio.Event().wait()
            finally:
                self.running.remove(host)


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def play_with(total: int, play: Callable[[Downloads], Awaitable[None]]) -> None:
    """Play with so many slots, one of them at a host; then all downloads are cancelled at once, and nothing is left."""
    slots = DownloadSlots(total, 1)

    async def run() -> None:
        downloads = Downloads(slots)
        await play(downloads)
        ended = [downloads.end(host) for host in downloads.tasks]
        await asyncio.gather(*ended)
        assert all(task.cancelled() for task in downloads.tasks.values())

    asyncio.run(run())
    assert (slots._free, slots._busy, list(slots._waiting)) == (total, {}, [])


def test_who_waits_for_a_host_lets_others_pass_and_comes_in_order() -> None:
    async def play(downloads: Downloads) -> None:
        await downloads.start("slow.example/1", "slow.example/2", "slow.example/3", "quick.test/1")
        assert downloads.running == ["slow.example/1", "quick.test/1"]
        await downloads.end("slow.example/1")
        assert downloads.running == ["quick.test/1", "slow.example/2"]

    play_with(4, play)


def test_hosts_of_one_site_share_its_slots() -> None:
    async def play(downloads: Downloads) -> None:
        await downloads.start("a.slow.example", "b.slow.example", "c.slow.example", "quick.test")
        assert downloads.running == ["a.slow.example", "b.slow.example", "quick.test"]
        await downloads.end("quick.test")
        await downloads.end("a.slow.example")
        assert downloads.running == ["b.slow.example", "c.slow.example"]

    play_with(4, play)


def test_who_leaves_while_it_waits_holds_nothing() -> None:
    async def play(downloads: Downloads) -> None:
        await downloads.start("one.example/1", "one.example/2", "one.example/3")
        await downloads.end("one.example/2")
        await downloads.end("one.example/1")
        assert downloads.running == ["one.example/3"]

    play_with(1, play)


def test_who_leaves_in_the_moment_it_gets_its_slot_passes_it_on() -> None:
    async def play(downloads: Downloads) -> None:
        await downloads.start("one.example/1", "one.example/2", "one.example/3")
        first, second = (downloads.tasks[f"one.example/{number}"] for number in (1, 2))
        first.cancel()
        # After the first has given its slot to the second, and before that has noticed.
        asyncio.get_running_loop().call_soon(second.cancel)
        await settled()
        assert downloads.running == ["one.example/3"]

    play_with(1, play)
