"""The wake-up: one waits at most, a consumer yields one look at a time, and the clock stands in for Redis."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import dramatiq
import pytest
import redis
from dramatiq import Consumer, Worker
from waiting import wait_for

from pipeline.wakes import broker as broker_module
from pipeline.wakes.broker import WakeBroker, actor_name, connect, wake_list
from pipeline.wakes.outbox import Outbox

QUEUE = "synthesis"
NOWHERE = "redis://127.0.0.1:1/0"


@pytest.fixture
def broker(redis_url: str) -> Iterator[WakeBroker]:
    made = WakeBroker(connect(redis_url))
    made.declare_queue(QUEUE)
    yield made
    made.client.close()


def waiting(broker: WakeBroker) -> int:
    found = broker.client.llen(wake_list(QUEUE))
    assert isinstance(found, int)
    return found


def test_however_many_are_sent_one_wake_up_waits(broker: WakeBroker) -> None:
    for _ in range(5):
        broker.wake(QUEUE)

    assert waiting(broker) == 1
    broker.flush_all()
    assert waiting(broker) == 0


def test_the_first_look_comes_at_once_and_no_second_before_the_first_was_carried_out(
    broker: WakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_module, "LOOK_EVERY_SECONDS", 0.1)
    consumer = broker.consume(QUEUE)
    broker.wake(QUEUE)

    first = next(consumer)
    assert first is not None
    assert first.actor_name == actor_name(QUEUE)
    assert next(consumer) is None
    assert waiting(broker) == 1

    consumer.ack(first)
    assert next(consumer) is not None
    assert waiting(broker) == 0


def test_without_a_wake_up_a_look_comes_by_the_clock(broker: WakeBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_module, "LOOK_EVERY_SECONDS", 0.1)
    consumer = broker.consume(QUEUE)
    for _ in range(3):
        look = next(consumer)
        assert look is not None
        consumer.nack(look)


def test_without_redis_waking_is_harmless_and_looks_come_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_module, "LOOK_EVERY_SECONDS", 0.05)
    broker = WakeBroker(connect(NOWHERE))
    broker.declare_queue(QUEUE)
    broker.wake(QUEUE)
    consumer = broker.consume(QUEUE)
    for _ in range(2):
        look = next(consumer)
        assert look is not None
        consumer.ack(look)


def test_a_dramatiq_worker_carries_out_a_look_at_each_wake_up(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # By the clock there is only the first look. A client without time limits, or the wait would end by them.
    monkeypatch.setattr(broker_module, "LOOK_EVERY_SECONDS", 3_600)
    broker = WakeBroker(redis.Redis.from_url(redis_url))
    looked = threading.Semaphore(0)
    work = dramatiq.actor(broker=broker, actor_name=actor_name(QUEUE), queue_name=QUEUE)(lambda: looked.release())
    worker = Worker(broker, queues={QUEUE}, worker_threads=1)
    worker.start()
    try:
        assert looked.acquire(timeout=60)  # the first look
        for _ in range(5):
            work.send()
            assert looked.acquire(timeout=60)
    finally:
        stopping = threading.Thread(target=worker.stop, args=(60_000,))
        stopping.start()
        while stopping.is_alive():
            work.send()  # what waits looks up, and sees that it is to end
            stopping.join(0.05)


def test_a_wake_up_reaches_one_of_several_consumers(
    redis_url: str, broker: WakeBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_module, "LOOK_EVERY_SECONDS", 3_600)
    consumers = [WakeBroker(redis.Redis.from_url(redis_url)).consume(QUEUE) for _ in range(3)]
    for consumer in consumers:
        look = next(consumer)
        assert look is not None
        consumer.ack(look)
    ended: list[Consumer] = []

    def wait(consumer: Consumer) -> None:
        next(consumer)
        ended.append(consumer)

    threads = [threading.Thread(target=wait, args=(consumer,), daemon=True) for consumer in consumers]
    for thread in threads:
        thread.start()
    for number in (1, 2, 3):
        broker.wake(QUEUE)
        # Had one of those before reached more than one of them, nobody would be there for the last.
        wait_for(lambda number=number: not waiting(broker) and len(ended) >= number)
    for thread in threads:
        thread.join()


def test_a_redis_that_never_answers_is_given_up_soon_and_then_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_module, "AWAY_SECONDS", 3_600)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        broker = WakeBroker(connect(f"redis://127.0.0.1:{silent.getsockname()[1]}/0"))
        for _ in range(20):
            broker.wake(QUEUE)
            broker.wait_for_wake(QUEUE, 0.01)
        silent.setblocking(False)
        accepted = 0
        with suppress(BlockingIOError):
            while True:
                silent.accept()[0].close()
                accepted += 1

    assert accepted == 1
    broker.client.close()


def test_what_fails_costs_nothing_that_is_posted_after_it() -> None:
    sent: list[int] = []

    def fail() -> None:
        raise ZeroDivisionError

    outbox = Outbox("test")
    for send in (lambda: sent.append(1), fail, lambda: sent.append(2)):
        outbox.post(send)

    assert outbox.flush(within=10)
    assert sent == [1, 2]
