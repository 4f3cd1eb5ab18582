"""Wake broker: a Dramatiq broker whose messages only say "look in this queue".

The rows are the truth (docs/architecture.md). A message that is lost, doubled or flushed costs a second at most:
a consumer that gets none for a second, or can't reach Redis, yields a message of its own.
"""

import threading
import time
from collections.abc import Awaitable, Iterable, Sequence
from typing import Any, TypeVar

import redis
import redis.asyncio
from dramatiq import Broker, Consumer, Message, MessageProxy, Middleware
from dramatiq.errors import QueueNotFound
from redis.exceptions import RedisError

from pipeline.log import get_logger

log = get_logger(__name__)
Reply = TypeVar("Reply")

#: How long a consumer waits for a wake-up before it checks the queue by itself, in seconds.
LOOK_EVERY_SECONDS = 1.0


def actor_name(queue: str) -> str:
    """Return the name of the one actor of a queue."""
    return f"work_{queue}"


def wake_list(queue: str) -> str:
    """Return the Redis list that carries a queue's wake-up."""
    return f"pressroom:wake:{queue}"


def _look(queue: str) -> Message[None]:
    return Message(queue_name=queue, actor_name=actor_name(queue), args=(), kwargs={}, options={})


def add_wake(pipe: Any, queue: str) -> None:
    """Add a wake-up to a pipeline, sync or async: one at most stays in the list, however many are sent."""
    pipe.lpush(wake_list(queue), _look(queue).encode())
    pipe.ltrim(wake_list(queue), 0, 0)


def connect(url: str) -> "redis.Redis":
    """Return a client for blocking callers that gives up on a silent server after 5 seconds."""
    return redis.Redis.from_url(url, socket_timeout=5, socket_connect_timeout=2)


class WakeBroker(Broker):
    """One Redis list a queue, holding at most one wake-up. Nothing is retried, delayed or stored."""

    def __init__(self, client: "redis.Redis", middleware: Sequence[Middleware] = ()) -> None:
        super().__init__(middleware=list(middleware))
        self.client = client

    def declare_queue(self, queue_name: str) -> None:
        """Declare a queue, once."""
        if queue_name not in self.queues:
            self.emit_before("declare_queue", queue_name)
            self.queues[queue_name] = None
            self.emit_after("declare_queue", queue_name)

    def enqueue(self, message: Message[Any], *, delay: int | None = None) -> Message[Any]:
        """Send a wake-up. Nothing is delayed here: an item that is not due waits in its row."""
        if message.queue_name not in self.queues:
            raise QueueNotFound(message.queue_name)  # type: ignore[no-untyped-call]  # dramatiq annotates half
        self.wake(message.queue_name)
        return message

    def wake(self, queue: str) -> None:
        """Wake one process of a queue's pool; without Redis it finds the work by itself within a second."""
        pipe = self.client.pipeline(transaction=False)
        add_wake(pipe, queue)
        try:
            pipe.execute()
        except RedisError as error:
            log.warning("wake-up not sent", queue=queue, error=str(error))

    def wait_for_wake(self, queue: str, seconds: float) -> None:
        """Return when a queue's wake-up comes, or after so long; without Redis the clock alone counts."""
        try:
            self.client.blpop([wake_list(queue)], timeout=seconds)
        except RedisError as error:
            log.warning("wake-up list out of reach, looking by the clock", queue=queue, error=str(error))
            time.sleep(seconds)

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 30_000) -> Consumer:
        """Return an iterator over a queue's wake-ups."""
        return WakeConsumer(self, queue_name)

    def flush(self, queue_name: str) -> None:
        """Delete a queue's wake-up."""
        self.client.delete(wake_list(queue_name))

    def flush_all(self) -> None:
        """Delete all wake-ups."""
        for queue in self.get_declared_queues():
            self.flush(queue)

    def join(self, queue_name: str, *, timeout: int | None = None) -> None:
        """Refuse to wait: only the rows say what work is open."""
        raise NotImplementedError("A wake-up says nothing about work done; read the jobs instead.")


class WakeConsumer(Consumer):
    """Yields one message at a time, the next only after the last was processed, so that none pile up."""

    def __init__(self, broker: WakeBroker, queue: str) -> None:
        self._broker = broker
        self._queue = queue
        self._closed = False
        self._first = True
        self._idle = threading.Event()
        self._idle.set()

    def __next__(self) -> MessageProxy | None:
        """Return the next message, or None while the last one is still being processed."""
        if not self._idle.wait(LOOK_EVERY_SECONDS) or self._closed:
            return None
        if self._first:
            # The first message comes at once: its actor sets the engines up and takes the work that waits already.
            self._first = False
        else:
            self._broker.wait_for_wake(self._queue, LOOK_EVERY_SECONDS)
        self._idle.clear()
        return MessageProxy(_look(self._queue))

    def ack(self, message: MessageProxy) -> None:
        """Allow the next message."""
        self._idle.set()

    def nack(self, message: MessageProxy) -> None:
        """Allow the next message: after a failure all work is still in the rows."""
        self._idle.set()

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        """Return nothing to the queue: the rows are still there."""
        self._idle.set()

    def close(self) -> None:
        """Yield no more messages."""
        self._closed = True
        self._idle.set()


def wake_async(client: "redis.asyncio.Redis", queue: str) -> Awaitable[Any]:
    """Wake one process of a queue's pool from the event loop; the caller handles RedisError."""
    pipe = client.pipeline(transaction=False)
    add_wake(pipe, queue)
    return pipe.execute()
