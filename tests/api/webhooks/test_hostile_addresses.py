"""Hostile addresses of webhooks, a table: those that lead inside are refused, and never connected to."""

import asyncio
import json
import socket
from datetime import timedelta
from uuid import uuid4

import pytest
from http_service import Service
from payers import Payer
from web_server import Names
from webhook_receiver import Receiver

from pipeline.downloads.connecting import plain_socket
from pipeline.settings import Settings
from pipeline.webhooks.deliveries import DueDelivery, Sent
from workers.webhooks.sender import WebhookSender

#: Some network that is allowed, so that any port may be asked and the address alone decides.
ELSEWHERE = "203.0.113.0/24"

#: One of each kind: the walls are those of downloads (tests/workers/media/downloads/test_fetch_forbidden.py), which has
#: all ways to write an address. {port} is one where a service listens that nobody outside may reach.
ADDRESSES = {
    "loopback": "http://127.0.0.1:{port}/hook",
    "loopback over TLS": "https://127.0.0.1:{port}/hook",
    "decimal": "http://2130706433:{port}/",
    "wide digits": "http://１２７.０.０.１:{port}/",
    "IPv6 that maps IPv4": "http://[::ffff:127.0.0.1]:{port}/",
    "metadata": "http://169.254.169.254/latest/meta-data/",
    "private": "http://10.0.0.1/",
    "user name and password": "http://user:pass@127.0.0.1:{port}/",
    "a user name of a public host": "https://user:pass@example.com/",
    "a line end": "http://127.0.0.1:{port}\r\nX-Header: 1/",
    "localhost": "http://localhost:{port}/",
    "files": "file:///etc/passwd",
    "no host": "http:///hook",
}

#: Names, and the addresses that they lead to: what is written tells nothing, and the answer of the name server decides.
NAMES = {
    "loopback.example": ["127.0.0.1"],
    "loopback.example.": ["127.0.0.1"],
    "six.example": ["::1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "private.example": ["10.0.0.7"],
    "metadata.example": ["169.254.169.254"],
    "mixed.example": ["93.184.215.14", "127.0.0.1"],
}


def send(url: str, *, allow_networks: str = ELSEWHERE) -> tuple[Sent, list[str]]:
    """Send an event to this address, unchecked; return what became of it, and the addresses that got a socket."""
    opened: list[str] = []

    def open_socket(found: tuple) -> socket.socket:
        opened.append(found[4][0])
        return plain_socket(found)

    names = Names()
    names.addresses = {name: [addresses] for name, addresses in NAMES.items()}
    settings = Settings(fetch={"allow_networks": allow_networks}, webhooks={"timeout_seconds": 20})
    sender = WebhookSender(settings, resolver=names, open_socket=open_socket)

    async def send_once() -> Sent:
        async with sender:
            return await sender.send(DueDelivery(uuid4(), "{}", 1, 0, timedelta(), url, ["whsec_AAAA"]))

    return asyncio.run(send_once()), opened


def port_of(receiver: Receiver) -> int:
    return int(receiver.url.split(":")[2].partition("/")[0])


# Both routes have one check, so the second has one address.
@pytest.mark.parametrize(
    ("method", "path", "name"),
    [*(("PUT", "/webhooks", name) for name in ADDRESSES), ("POST", "/webhooks/test", "user name and password")],
)
def test_a_hostile_address_is_not_taken(service: Service, client: Payer, method: str, path: str, name: str) -> None:
    body = json.dumps({"webhook_url": ADDRESSES[name].replace(":{port}", "")}).encode()

    answer = service.request(method, path, body, {"Content-Type": "application/json", "X-API-Key": client.api_key})

    assert (answer.status, answer.code) == (400, "webhook_url_invalid"), answer.body
    assert b"pass@" not in answer.body


@pytest.mark.parametrize("url", [*ADDRESSES.values(), *(f"http://{name}:{{port}}/hook" for name in NAMES)], ids=ascii)
def test_nothing_is_connected_to_for_an_address_that_is_there_already(receiver: Receiver, url: str) -> None:
    sent, opened = send(url.replace("{port}", str(port_of(receiver))))

    assert (sent.status, sent.is_final) == (None, True), sent
    assert opened == []
    assert receiver.events == []


def test_an_address_that_is_allowed_is_connected_to(receiver: Receiver) -> None:
    """The receiver would have been asked."""
    sent, opened = send(f"http://loopback.example:{port_of(receiver)}/hook", allow_networks="127.0.0.0/8")

    assert (sent.status, opened) == (204, ["127.0.0.1"])
    assert len(receiver.events) == 1
