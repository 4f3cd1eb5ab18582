"""Wake broker: a Dramatiq broker whose messages only say "look in this queue".

The rows are the truth (docs/architecture.md). A message that is lost, doubled or flushed costs a second at most: a
consumer that gets none for a second, or can't reach Redis, yields a message of its own."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import redis
from dramatiq import Broker, Consumer, Message, MessageProxy, Middleware
from dramatiq.errors import QueueNotFound
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NotConnected
from redis.exceptions import RedisError
from redis.retry import Retry

from pipeline.log import get_logger

log = get_logger(__name__)

#: How long a consumer waits for a wake-up before it checks the queue by itself, in seconds.
LOOK_EVERY_SECONDS = 1.0
#: A Redis that says nothing for so long, beyond what it was asked to wait, counts as away.
SILENT_SECONDS = 0.5
#: How long a Redis that is away is left alone: nobody waits for it meanwhile, and the log has one line.
AWAY_SECONDS = 3.0


def actor_name(queue: str) -> str:
    """Return the name of the one actor of a queue."""
    return f"work_{queue}"


def wake_list(queue: str) -> str:
    """Return the Redis list that carries a queue's wake-up."""
    return f"pressroom:wake:{queue}"


def _look(queue: str) -> Message[None]:
    return Message(queue_name=queue, actor_name=actor_name(queue), args=(), kwargs={}, options={})


def add_wake(pipe: Any, queue: str, mark: bytes = b"") -> None:
    """Add a wake-up to a Redis pipeline, sync or async: one at most stays in the list, however many are sent.

    What it says is read by nobody, but who sent it can tell it by its mark."""
    pipe.lpush(wake_list(queue), mark or _look(queue).encode())
    pipe.ltrim(wake_list(queue), 0, 0)


def connect(url: str) -> "redis.Redis":
    """Return a client for blocking callers that soon gives up on a silent server."""
    return redis.Redis.from_url(
        url,
        socket_timeout=LOOK_EVERY_SECONDS + SILENT_SECONDS,
        socket_connect_timeout=SILENT_SECONDS * 2,
        # Once more, on a new connection, as the old one may be from before a restart. By default it is three times
        # more, with pauses: a silent server would be waited for half a minute.
        retry=Retry(NoBackoff(), 1, supported_errors=(NotConnected,)),
    )


class WakeBroker(Broker):
    """One Redis list a queue, holding at most one wake-up. Nothing is retried, delayed or stored."""

    def __init__(self, client: "redis.Redis", middleware: Sequence[Middleware] = ()) -> None:
        super().__init__(middleware=list(middleware))
        self.client = client
        self._away_until = 0.0

    def declare_queue(self, queue_name: str) -> None:
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
        self.send(lambda pipe: add_wake(pipe, queue))

    def send(self, fill: Callable[[Any], None]) -> bool:
        """Send what `fill` adds to a pipeline; return whether it was sent. Others find the work by the clock."""

        def execute(client: "redis.Redis") -> None:
            pipe = client.pipeline(transaction=False)
            fill(pipe)
            pipe.execute()

        return self.try_to(execute)

    def try_to(self, ask: Callable[["redis.Redis"], object]) -> bool:
        """Ask Redis, unless it is away; returns whether it has answered."""
        if self._is_away():
            return False
        try:
            ask(self.client)
        except RedisError as error:
            self._leave_alone(error)
            return False
        return True

    def wait_for_wake(self, queue: str, seconds: float, *, but: bytes = b"") -> None:
        """Return when a queue's wake-up comes, or after so long; without Redis the clock alone counts.

        One with the mark `but`, which this process has sent to others and got itself, is not a wake-up."""
        until = time.monotonic() + seconds
        try:
            while not self._is_away() and (left := until - time.monotonic()) > 0:
                found = self.client.blpop([wake_list(queue)], timeout=left)
                if not found or found[1] != but:
                    return
        except RedisError as error:
            self._leave_alone(error)
        time.sleep(max(0.0, until - time.monotonic()))

    def _is_away(self) -> bool:
        return time.monotonic() < self._away_until

    def _leave_alone(self, error: RedisError) -> None:
        self._away_until = time.monotonic() + AWAY_SECONDS
        log.warning(
            "Redis is away, everything goes on by the clock", error=str(error), asked_again_after_seconds=AWAY_SECONDS
        )

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 30_000) -> Consumer:
        return WakeConsumer(self, queue_name)

    def flush(self, queue_name: str) -> None:
        self.client.delete(wake_list(queue_name))

    def flush_all(self) -> None:
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
        self._closed = True
        self._idle.set()
