"""Requests that are made while others are on their way go out together, and each gets its own answer."""

import asyncio
import threading
from typing import Any

from pipeline.database.coalescing import Batches, Coalescer


class Server:
    """Squares numbers, and notes which came together; what it refuses, it refuses with the whole batch."""

    def __init__(self, *, refuses: int | None = None) -> None:
        self.batches: list[list[int]] = []
        self.alone: list[int] = []
        self._refuses = refuses

    async def send(self, numbers: list[int]) -> list[int | Exception]:
        self.batches.append(numbers)
        await asyncio.sleep(0)
        if self._refuses in numbers:
            raise ValueError(f"no {self._refuses}")
        return [number**2 for number in numbers]

    async def send_alone(self, number: int) -> int:
        self.alone.append(number)
        await asyncio.sleep(0)
        if number == self._refuses:
            raise ValueError(f"no {number}")
        return number**2


def test_a_batch_has_at_most_so_many_requests_and_those_sorted() -> None:
    server = Server()

    async def ask() -> list[int]:
        coalescer: Coalescer[int, int] = Coalescer(server.send, key=lambda number: -number, limit=2)
        return await asyncio.gather(*(coalescer.ask(number) for number in range(5)))

    assert asyncio.run(ask()) == [0, 1, 4, 9, 16]
    assert server.batches == [[1, 0], [3, 2], [4]]


def test_one_batch_at_a_time_is_on_its_way() -> None:
    under_way, most = 0, 0

    async def send(numbers: list[int]) -> list[int]:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return numbers

    async def ask() -> None:
        coalescer: Coalescer[int, int] = Coalescer(send, limit=1)
        await asyncio.gather(*(coalescer.ask(number) for number in range(10)))

    asyncio.run(ask())
    assert most == 1


def test_one_whose_requester_has_left_is_not_sent() -> None:
    server = Server()

    async def ask() -> list[int]:
        coalescer: Coalescer[int, int] = Coalescer(server.send)
        left, stayed = coalescer.ask(1), coalescer.ask(2)
        left.cancel()
        found = [await stayed]
        coalescer.ask(3).cancel()  # a batch with nobody in it is none
        await asyncio.sleep(0)
        return [*found, await coalescer.ask(4)]

    assert asyncio.run(ask()) == [4, 16]
    assert server.batches == [[2], [4]]


def test_an_error_among_the_answers_is_its_own_requesters() -> None:
    async def send(numbers: list[int]) -> list[int | Exception]:
        return [ValueError("odd") if number % 2 else number for number in numbers]

    async def ask() -> list[Any]:
        coalescer: Coalescer[int, int] = Coalescer(send)
        return await asyncio.gather(*(coalescer.ask(number) for number in range(3)), return_exceptions=True)

    zero, one, two = asyncio.run(ask())
    assert (zero, two) == (0, 2)
    assert isinstance(one, ValueError)


def test_a_batch_that_failed_is_repeated_one_by_one() -> None:
    server = Server(refuses=2)

    async def ask() -> list[Any]:
        coalescer: Coalescer[int, int] = Coalescer(server.send, send_alone=server.send_alone)
        return await asyncio.gather(*(coalescer.ask(number) for number in range(4)), return_exceptions=True)

    zero, one, two, three = asyncio.run(ask())
    assert [zero, one, three] == [0, 1, 9]
    assert isinstance(two, ValueError)
    assert sorted(server.alone) == [0, 1, 2, 3]


def test_without_a_way_to_repeat_it_a_failed_batch_fails_for_all_and_the_next_goes_out() -> None:
    server = Server(refuses=2)

    async def ask() -> list[Any]:
        coalescer: Coalescer[int, int] = Coalescer(server.send)
        failed = await asyncio.gather(*(coalescer.ask(number) for number in (1, 2)), return_exceptions=True)
        return [*failed, await coalescer.ask(3)]

    *failed, three = asyncio.run(ask())
    assert [str(error) for error in failed] == ["no 2", "no 2"]
    assert three == 9


def test_after_its_task_was_ended_the_next_request_goes_out() -> None:
    stuck = True

    async def send(numbers: list[int]) -> list[int]:
        if stuck:
            await asyncio.sleep(3_600)
        return numbers

    async def ask() -> int:
        nonlocal stuck
        coalescer: Coalescer[int, int] = Coalescer(send)
        coalescer.ask(1)
        await asyncio.sleep(0)
        [sender] = asyncio.all_tasks() - {asyncio.current_task()}
        sender.cancel()
        await asyncio.wait({sender})
        stuck = False
        return await coalescer.ask(2)

    assert asyncio.run(ask()) == 2


def test_of_many_threads_one_is_the_sender_and_no_request_is_lost() -> None:
    batches: Batches[int] = Batches()
    senders: list[int] = []  # one entry while somebody sends
    most_senders = 0
    sent: list[int] = []

    def add(first: int) -> None:
        nonlocal most_senders
        for number in range(first, first + 500):
            if not batches.add(number):
                continue
            while batch := batches.take():
                senders.append(first)
                most_senders = max(most_senders, len(senders))
                sent.extend(batch)
                senders.remove(first)  # before the last `take`, after which another thread may send

    threads = [threading.Thread(target=add, args=(first,)) for first in range(0, 4_000, 500)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)

    assert sorted(sent) == list(range(4_000))
    assert most_senders == 1
