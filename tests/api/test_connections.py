"""Connections as gunicorn keeps and ends them, by raw sockets against a running service."""

import http.client
import os
import signal
import socket
import time
from collections.abc import Iterator

import pytest
from servers import wait_for_end
from systems import Running, only, system

from pipeline.settings import Settings
from scripts.system import control

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    extra = {"PRESSROOM_API__HEADER_SECONDS": "1.5"}
    with system(tmp_path_factory.mktemp("connections") / "data", *only("synthesis"), extra=extra) as running:
        yield running


def kept(service: Running) -> http.client.HTTPConnection:
    """Return a connection on which one request was answered."""
    connection = http.client.HTTPConnection(service.address.removeprefix("http://"), timeout=60)
    connection.request("GET", "/healthz")
    connection.getresponse().read()
    return connection


def test_an_idle_connection_is_kept_for_longer_than_a_poller_waits(service: Running) -> None:
    connection = kept(service)
    time.sleep(4)  # gunicorn's own limit is 2 seconds
    connection.request("GET", "/healthz")
    assert connection.getresponse().status == 200
    connection.close()
    assert Settings().api.keep_alive_seconds > 60  # what balancers keep theirs for


def test_a_head_that_never_ends_is_not_waited_for(service: Running) -> None:
    host, port = service.address.removeprefix("http://").split(":")
    for begun in (b"", b"GET /healthz HTTP/1.1\r\nHost: x\r\n"):
        with socket.create_connection((host, int(port)), timeout=60) as slow:
            slow.sendall(begun)
            assert slow.recv(1) == b""


def test_a_stop_waits_for_no_idle_connection(service: Running) -> None:
    connections = [kept(service) for _ in range(4)]
    (api,) = (pool.pids[0] for pool in control.pools(service.data) if pool.name == "api")

    os.kill(api, signal.SIGTERM)
    for connection in connections:
        assert connection.sock.recv(1) == b""
        connection.close()

    wait_for_end(api)
    assert "Handling signal: term" in service.written()
    assert "Waiting for" not in service.written()  # which gunicorn says while connections are open
