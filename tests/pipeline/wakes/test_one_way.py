"""One way: what is sent arrives, nobody waits for a reply, and what can't be sent is said to be so."""

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from pipeline.wakes.broker import connect
from pipeline.wakes.fire_and_forget import FireAndForget
from pipeline.wakes.notices import CHANNEL


@pytest.fixture
def client(redis_url: str) -> Iterator["redis.Redis"]:
    made = connect(redis_url)
    yield made
    made.close()


def publish(pipe: Any) -> None:
    pipe.publish(CHANNEL, b"first")
    pipe.publish(CHANNEL, b"second")


def test_what_is_sent_arrives_in_order_and_nothing_comes_back(client: "redis.Redis") -> None:
    listener = client.pubsub(ignore_subscribe_messages=True)
    listener.subscribe(CHANNEL)
    listener.get_message(timeout=30)
    one_way = FireAndForget()
    one_way.open(client)

    assert one_way.send(publish)

    received = [listener.get_message(ignore_subscribe_messages=True, timeout=30) for _ in range(2)]
    assert [message and message["data"] for message in received] == [b"first", b"second"]
    assert not one_way._connection.can_read(timeout=0)
    listener.close()


def test_nothing_is_sent_before_it_is_open_nor_once_the_server_has_closed_it(client: "redis.Redis") -> None:
    one_way = FireAndForget()
    assert not one_way.send(publish)

    one_way.open(client)
    assert client.client_kill_filter(_type="normal", skipme=True) >= 1
    with pytest.raises(redis.ConnectionError):
        one_way._connection.can_read(timeout=30)  # the end has arrived
    assert not one_way.send(publish)

    one_way.open(client)
    assert one_way.send(publish)


def test_a_server_that_does_not_know_how_to_be_silent_is_not_asked_again() -> None:
    asked = []

    def refuse(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            while received := connection.recv(65_536):
                asked.append(received)
                connection.sendall(b"-ERR unknown command\r\n" * received.count(b"*"))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=refuse, args=[listener], daemon=True).start()
        refused = redis.Redis(port=listener.getsockname()[1], protocol=2)
        one_way = FireAndForget()
        one_way.open(refused)
        one_way.open(refused)  # there is nobody who would accept a second connection

    assert asked
    assert not one_way.send(publish)
    refused.close()


def test_a_server_that_takes_nothing_is_given_up_and_never_waited_for(client: "redis.Redis") -> None:
    one_way = FireAndForget()
    one_way.open(client)
    mine, silent = socket.socketpair()  # whose other end reads nothing
    mine.settimeout(0.05)
    one_way._connection._sock.close()
    one_way._connection._sock = mine
    one_way._connection._parser._sock = mine

    sent = 0
    while one_way.send(lambda pipe: pipe.publish(CHANNEL, b"x" * 10_000)):
        sent += 1
        assert sent < 10_000

    assert sent > 0
    silent.close()
