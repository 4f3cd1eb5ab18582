"""Bodies that come too slowly, or stop in the midst, with the times that are waited for in earnest: half a minute."""

import http.client
import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from http_service import Service
from payers import Payer

pytestmark = pytest.mark.storm

#: Two chunks in one piece, of a body that never comes to its end.
TWO_CHUNKS = b"1\r\n \r\n1\r\n \r\n"
EVERY_SECONDS = 5.0


def head(key: str, framing: str, request_id: str) -> bytes:
    return (
        f"POST /echo HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nX-Request-Id: {request_id}\r\n"
        f"Content-Type: application/json\r\n{framing}\r\n\r\n"
    ).encode()


def answer_to(connection: socket.socket) -> tuple[int, str | None, str]:
    """Return the status of an answer, whether the connection ends, and its code."""
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    return answer.status, answer.getheader("Connection"), json.loads(answer.read())["code"]


def drip(service: Service, key: str) -> tuple[int, str | None, str]:
    """Send a little now and then, until there is an answer."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=EVERY_SECONDS) as connection:
        connection.sendall(head(key, "Transfer-Encoding: chunked", "drips"))
        for _ in range(20):
            connection.sendall(TWO_CHUNKS)
            try:
                connection.recv(1, socket.MSG_PEEK)
            except TimeoutError:
                continue
            return answer_to(connection)
    raise AssertionError("no answer")


def stand_still(service: Service, key: str) -> tuple[int, str | None, str]:
    """Send half a body and wait; then send the rest, which is dropped and resets nothing."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=120) as connection:
        connection.sendall(head(key, "Content-Length: 100", "stands-still") + b" " * 50)
        assert connection.recv(1, socket.MSG_PEEK)
        for _ in range(5):
            connection.sendall(b" " * 10)  # raises where the connection was reset
            time.sleep(0.02)
        return answer_to(connection)


def test_a_body_that_does_not_come_has_its_answer_and_ends_its_connection(service: Service, client: Payer) -> None:
    with ThreadPoolExecutor(2) as threads:
        dripping = threads.submit(drip, service, client.api_key)
        standing = threads.submit(stand_still, service, client.api_key)
        assert dripping.result() == (408, "close", "body_too_slow")
        assert standing.result() == (400, "close", "body_incomplete")

    assert service.wait_for_line(event="request answered", request_id="drips")["status"] == 408
    assert service.wait_for_line(event="request answered", request_id="stands-still")["status"] == 400
