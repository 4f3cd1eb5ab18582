"""Connections as gunicorn keeps and ends them, by raw sockets against a running service."""

import asyncio
import http.client
import json
import logging
import os
import signal
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.config import Config
from http_service import Service, Start, start_service
from payers import Payer
from systems import children

from api.http.address import read_networks
from api.http.connections import READ_SECONDS, ClientConnection
from pipeline.settings import Settings

#: An idle connection is kept for longer than a test's socket waits.
SETTINGS = {
    "API__HEADER_SECONDS": "1.5",
    "API__KEEP_ALIVE_SECONDS": "300",
    "API__UNREAD_SECONDS": "2",
    "API__CONNECTIONS_PER_ADDRESS": "3",  # loopback's are not counted
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, api_database_url: str, redis_server: str) -> Iterator[Service]:
    with start_service(
        tmp_path_factory.mktemp("connections"),
        database_url=api_database_url,
        redis_url=redis_server,
        host="0.0.0.0",
        settings=SETTINGS,
    ) as running:
        yield running


def kept(service: Service) -> http.client.HTTPConnection:
    """Return a connection on which one request was answered."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    connection.request("GET", "/healthz")
    connection.getresponse().read()
    return connection


def test_an_idle_connection_is_kept_for_longer_than_a_poller_waits(service: Service) -> None:
    connection = kept(service)
    time.sleep(4)  # gunicorn's own limit is 2 seconds
    connection.request("GET", "/healthz")
    assert connection.getresponse().status == 200
    connection.close()
    assert Settings().api.keep_alive_seconds > 60  # what balancers keep theirs for


def test_an_idle_connection_is_closed_without_a_word_after_its_time(start: Start) -> None:
    with start(API__KEEP_ALIVE_SECONDS="3") as service:
        began = time.monotonic()
        connection = kept(service)
        assert connection.sock.recv(1) == b""  # a clean end, after which clients connect anew
        assert time.monotonic() - began > 2.9
        connection.close()


def test_a_head_that_begins_behind_another_request_is_not_waited_for_either(service: Service) -> None:
    with service.open_socket() as slow:
        slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost")
        told = slow.makefile("rb").read()
    assert told.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 408 Request Timeout\r\n" in told


def test_an_answer_without_a_length_ends_with_its_connection_where_there_are_no_chunks(
    service: Service, client: Payer
) -> None:
    job_id = service.submit({"text": "Hello."}, client.api_key)
    assert service.post(f"/jobs/{job_id}/cancel", {}, client.api_key).status == 200
    with service.open_socket() as old:
        head = f"GET /jobs/{job_id}/events HTTP/1.0\r\nConnection: keep-alive\r\nX-API-Key: {client.api_key}\r\n\r\n"
        old.sendall(head.encode())
        told = old.makefile("rb").read()
    assert b"\r\nConnection: close\r\n" in told
    assert b"cancelled" in told


def test_a_head_that_never_ends_is_not_waited_for(service: Service) -> None:
    for begun, told in ((b"", b""), (b"GET /healthz HTTP/1.1\r\nHost: x\r\n", b"HTTP/1.1 408 Request Timeout\r\n")):
        with service.open_socket() as slow:
            slow.sendall(begun)
            assert slow.makefile("rb").read().startswith(told)


def test_a_later_head_that_never_ends_is_not_waited_for_either(service: Service) -> None:
    connection = kept(service)
    assert connection.sock
    connection.sock.sendall(b"GET /healthz HTTP/1.1\r\n")
    time.sleep(1)
    connection.sock.sendall(b"Host: x\r\n")  # each line begins no new wait

    assert connection.sock.makefile("rb").read().startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    connection.close()


def test_a_head_that_came_while_its_process_was_busy_is_answered(service: Service) -> None:
    with service.open_socket() as client:
        time.sleep(0.5)  # it is accepted
        workers = children(service.process.pid)
        for pid in workers:
            os.kill(pid, signal.SIGSTOP)
        try:
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            time.sleep(2)  # longer than a head may take
        finally:
            for pid in workers:
                os.kill(pid, signal.SIGCONT)
        assert client.makefile("rb").read().startswith(b"HTTP/1.1 200")


#: How many answers are more than the system keeps for a client.
MANY = 64


@contextmanager
def many_answers(service: Service) -> Iterator[socket.socket]:
    """Ask for many large answers on one connection."""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
        client.settimeout(60)
        client.connect(("127.0.0.1", service.port))
        asked = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n"
        client.sendall((asked + b"\r\n") * (MANY - 1) + asked + b"Connection: close\r\n\r\n")
        yield client


def test_a_client_that_reads_nothing_does_not_keep_its_answer_for_ever(service: Service) -> None:
    with many_answers(service) as client:
        service.wait_for_line(event="connection ended, its client reads nothing")
        with pytest.raises(ConnectionResetError):
            client.makefile("rb").read()


def test_a_client_that_reads_slowly_gets_all_of_its_answer(service: Service) -> None:
    with many_answers(service) as client:
        answers = b""
        for _ in range(6):  # three times as long as one may read nothing
            time.sleep(1)
            answers += client.recv(100_000, socket.MSG_WAITALL)
        answers += client.makefile("rb").read()
        assert answers.count(b"HTTP/1.1 200 OK") == MANY


def stand_in(**fields: Any) -> SimpleNamespace:
    """Return what a connection needs of its worker, but for the loop."""
    return SimpleNamespace(
        cfg=Config(), log=logging.getLogger(), nr_conns=0, connections=set(), subscribers=Counter(),
        header_seconds=60.0, **{"asgi": None, "connections_per_address": 0, "trusted_proxies": (), **fields},
    )  # fmt: skip


def test_a_stop_waits_for_no_idle_connection(start: Start) -> None:
    with start(**SETTINGS, API__DRAIN_SECONDS="300") as service:
        connections = [kept(service) for _ in range(4)]
        service.signal(signal.SIGTERM)
        for connection in connections:
            assert connection.sock.recv(1) == b""
            connection.close()
        assert service.wait() == 0


def test_a_first_request_that_is_on_its_way_when_the_process_is_told_to_stop_is_answered(start: Start) -> None:
    with start(**SETTINGS) as service:
        with service.open_socket() as new:
            time.sleep(0.3)  # it is accepted
            service.signal(signal.SIGTERM)
            time.sleep(8 * READ_SECONDS)
            new.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            assert new.makefile("rb").read().startswith(b"HTTP/1.1 200 ")

        assert service.wait() == 0


UNREADABLE = {
    "line": (b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n" % (b"a" * 9_000), 414, "request_line_too_long"),
    "header": (b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: %s\r\n\r\n" % (b"a" * 70_000), 431, "headers_too_large"),
    "headers": (b"GET / HTTP/1.1\r\nHost: x\r\n%s\r\n" % (b"X-Many: 1\r\n" * 200), 431, "headers_too_large"),
    "no_http": (b"\x16\x03\x01 hello\r\n\r\n", 400, "request_unreadable"),
    "version": (b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", 400, "request_unreadable"),
    "lengths": (
        b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        400,
        "request_unreadable",
    ),
    "negative": (b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -2\r\n\r\n{}", 400, "request_unreadable"),
    "both": (
        b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        400,
        "request_unreadable",
    ),
    "coding": (
        b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: br, chunked\r\n\r\n",
        501,
        "transfer_coding_unknown",
    ),
    "name": (b"GET / HTTP/1.1\r\nHost: x\r\nX Y: 1\r\n\r\n", 400, "request_unreadable"),
}


def answer_to(service: Service, sent: bytes) -> tuple[http.client.HTTPResponse, dict[str, Any]]:
    with service.open_socket() as connection:
        connection.sendall(sent)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return answer, json.loads(answer.read())


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_is_no_request_is_refused_in_our_words(service: Service, case: str) -> None:
    sent, status, code = UNREADABLE[case]

    answer, document = answer_to(service, sent)

    assert (answer.status, document["code"]) == (status, code)
    assert (answer.getheader("Content-Type"), answer.getheader("Connection")) == ("application/json", "close")
    assert answer.getheader("X-Request-Id") == document["request_id"]
    service.wait_for_line(request_id=document["request_id"])


@pytest.mark.parametrize(
    "chunk", ["xyz\r\n", "-5\r\nhello\r\n", "0x5\r\nhello\r\n", "5\r\nhello!\r\n", " 5\r\nhello\r\n"]
)
def test_a_chunk_that_is_none_is_refused(service: Service, client: Payer, chunk: str) -> None:
    sent = f"POST /echo HTTP/1.1\r\nHost: x\r\nX-API-Key: {client.api_key}\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}"

    answer, document = answer_to(service, sent.encode())

    assert (answer.status, document["code"], document["details"]) == (400, "request_unreadable", [])
    assert (answer.getheader("Content-Type"), answer.getheader("Connection")) == ("application/json", "close")
    service.wait_for_line(request_id=document["request_id"])


def test_who_asks_for_a_websocket_is_answered_by_http(service: Service) -> None:
    upgrade = b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    key = b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    for path, status in ((b"/healthz", 200), (b"/nowhere", 404)):
        answer, _ = answer_to(service, b"GET %s HTTP/1.1\r\nHost: x\r\n%s%s\r\n" % (path, upgrade, key))
        assert answer.status == status
        service.wait_for_line(request_id=answer.getheader("X-Request-Id"))


def test_a_path_may_come_with_scheme_and_host(service: Service) -> None:
    answer, document = answer_to(service, b"GET http://example.org/healthz HTTP/1.1\r\nHost: example.org\r\n\r\n")

    assert answer.status == 200, document


def test_an_address_has_so_many_connections_at_once() -> None:
    app = SimpleNamespace(refuse=lambda error, is_noted: ({}, str(error.code).encode()))
    worker = stand_in(asgi=app, connections_per_address=2, trusted_proxies=read_networks("192.0.2.7"))

    async def connect(*addresses: str) -> list[bytes]:
        worker.loop = asyncio.get_running_loop()
        connections, told = [], []
        for address in addresses:
            sent: list[bytes] = []
            transport = SimpleNamespace(
                get_extra_info={"peername": (address, 1)}.get,
                set_write_buffer_limits=lambda **limits: None,
                get_write_buffer_size=lambda: 0,
                write=sent.append,
                can_write_eof=lambda: False,
                close=lambda: None,
                is_closing=lambda: False,
            )
            connections.append(ClientConnection(worker))
            connections[-1].connection_made(transport)
            told.append(b"".join(sent).rpartition(b"\r\n\r\n")[2])
        for connection in connections:
            connection.connection_lost(None)
        await asyncio.sleep(0)
        return told

    refused = b"too_many_connections"
    assert asyncio.run(connect("198.51.100.1", "198.51.100.1", "198.51.100.1", "198.51.100.2")) == [
        b"",
        b"",
        refused,
        b"",
    ]
    assert asyncio.run(connect("2001:db8::1", "2001:db8::2", "2001:db8::3")) == [b"", b"", refused]
    assert asyncio.run(connect(*["192.0.2.7"] * 3, *["127.0.0.1"] * 3)) == [b""] * 6
    assert not worker.subscribers
