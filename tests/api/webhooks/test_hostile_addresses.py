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

#: Refused by what is written alone. {port} is one where a service listens that nobody outside may reach.
ADDRESSES = {
    "loopback": "http://127.0.0.1:{port}/hook",
    "loopback over TLS": "https://127.0.0.1:{port}/hook",
    "another loopback address": "http://127.9.8.7:{port}/",
    "a trailing dot": "http://127.0.0.1.:{port}/",
    "two numbers": "http://127.1:{port}/",
    "decimal": "http://2130706433:{port}/",
    "octal": "http://0177.0.0.1:{port}/",
    "octal, one number": "http://017700000001:{port}/",
    "hex": "http://0x7f.0.0.1:{port}/",
    "hex, one number": "http://0x7f000001:{port}/",
    "no address": "http://0.0.0.0:{port}/",
    "nought": "http://0:{port}/",
    "digits in circles": "http://①②⑦.⓪.⓪.①:{port}/",
    "wide digits": "http://１２７.０.０.１:{port}/",
    "wide full stops": "http://127。0。0。1:{port}/",
    "per cent codes": "http://%31%32%37.0.0.1:{port}/",
    "IPv6 loopback": "http://[::1]:{port}/",
    "IPv6, no address": "http://[::]:{port}/",
    "IPv6 that maps IPv4": "http://[::ffff:127.0.0.1]:{port}/",
    "IPv6 that maps IPv4, in hex": "http://[::ffff:7f00:1]:{port}/",
    "IPv6 that carries IPv4": "http://[::127.0.0.1]:{port}/",
    "NAT64": "http://[64:ff9b::7f00:1]:{port}/",
    "6to4": "http://[2002:7f00:1::]:{port}/",
    "IPv6, link-local with a zone": "http://[fe80::1%25lo]:{port}/",
    "IPv6, unique local": "http://[fd00::1]:{port}/",
    "metadata": "http://169.254.169.254/latest/meta-data/",
    "metadata, decimal": "http://2852039166/latest/meta-data/",
    "metadata, IPv6": "http://[fd00:ec2::254]/latest/meta-data/",
    "metadata, mapped": "http://[::ffff:169.254.169.254]/latest/meta-data/",
    "metadata of Azure": "http://168.63.129.16/",
    "metadata of Alibaba": "http://100.100.100.200/",
    "private, 10": "http://10.0.0.1/",
    "private, 172.16": "http://172.16.0.1/",
    "private, 192.168": "http://192.168.1.1/",
    "carrier's network": "http://100.64.0.1/",
    "broadcast": "http://255.255.255.255/",
    "multicast": "http://224.0.0.1/",
    "a user name": "http://user@127.0.0.1:{port}/",
    "a user name that looks like a host": "http://example.com@127.0.0.1:{port}/",
    "user name and password": "http://user:pass@127.0.0.1:{port}/",
    "a user name of a public host": "https://user:pass@example.com/",
    "a backslash before the user name's end": "http://127.0.0.1:{port}\\@example.com/",
    "a backslash behind the host": "http://example.com\\@127.0.0.1:{port}/",
    "a line end": "http://127.0.0.1:{port}\r\nX-Header: 1/",
    "localhost": "http://localhost:{port}/",
    "localhost, capitals and a dot": "http://LOCALHOST.:{port}/",
    "under localhost": "http://a.localhost:{port}/",
    "files": "file:///etc/passwd",
    "FTP": "ftp://127.0.0.1/",
    "gopher": "gopher://127.0.0.1:6379/_FLUSHALL",
    "dict": "dict://127.0.0.1:11211/",
    "data": "data:text/plain,x",
    "scripts": "javascript:alert(1)",
    "a unix socket": "http+unix://%2Frun%2Fx.sock/",
    "no scheme": "//127.0.0.1:{port}/",
    "one slash": "http:/127.0.0.1:{port}/",
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
