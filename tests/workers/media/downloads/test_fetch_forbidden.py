"""Forbidden addresses are refused with a reason, and without a connection."""

import asyncio
import socket
from collections.abc import Callable, Iterator

import aiohttp
import pytest
from pydantic import ValidationError
from web_server import Answer, Names, WebServer, web_server

from pipeline.downloads.addresses import Reach
from pipeline.downloads.connecting import AddressForbidden, guard, plain_socket
from pipeline.downloads.images import ImageBlocked, ImageFailure, ImageUrlInvalid
from pipeline.errors import NotReady
from pipeline.settings.fields import FetchSettings
from workers.media.downloads.fetcher import Fetcher

#: Some network that is allowed, so that any port may be asked and the address alone decides.
ELSEWHERE = "203.0.113.0/24"
PUBLIC = "93.184.215.14"


class Sockets:
    """Makes sockets, and remembers for which addresses."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def __call__(self, found: tuple) -> socket.socket:
        self.made.append(found[4][0])
        return plain_socket(found)


@pytest.fixture(scope="module")
def inside() -> Iterator[WebServer]:
    """A service that nobody outside may reach."""
    with web_server("127.0.0.1") as server:
        yield server


@pytest.fixture(scope="module")
def outside() -> Iterator[WebServer]:
    """A server that anybody may reach: the one address that is allowed."""
    with web_server("127.0.0.2") as server:
        yield server


@pytest.fixture(scope="module")
def sockets() -> Sockets:
    return Sockets()


@pytest.fixture(scope="module")
def names() -> Names:
    return Names(
        inside_example=[["127.0.0.1"]],
        outside_example=[["127.0.0.2"]],
        ten_example=[["10.0.0.7"]],
        six_example=[["::1"]],
        mapped_example=[["::ffff:127.0.0.1"]],
        scoped_example=[["fe80::1%lo"]],
        mixed_example=[["127.0.0.2", "127.0.0.1"]],
        metadata_example=[["169.254.169.254"]],
    )


@pytest.fixture(scope="module")
def make_fetcher(sockets: Sockets) -> Iterator[Callable[..., Fetcher]]:
    """A function that makes a fetcher which may reach these networks."""
    made: list[Fetcher] = []

    def make(allow_networks: str, names: Names | None = None) -> Fetcher:
        settings = FetchSettings(allow_networks=allow_networks, connect_seconds=15)
        made.append(Fetcher(settings, resolver=names, open_socket=sockets, pause_seconds=0.01))
        return made[-1]

    yield make
    for fetcher in made:
        fetcher.close()


@pytest.fixture(scope="module")
def fetcher(make_fetcher: Callable[..., Fetcher], names: Names) -> Fetcher:
    return make_fetcher(f"127.0.0.2/32,{ELSEWHERE}", names)


@pytest.fixture(autouse=True)
def nobody_comes(inside: WebServer, outside: WebServer, sockets: Sockets) -> Iterator[None]:
    """The proof: the service inside never saw anybody, and no socket was made for its address."""
    for server in (inside, outside):
        server.forget()
    sockets.made.clear()
    yield
    assert inside.connections == 0
    assert set(sockets.made) <= {"127.0.0.2"}


#: Ways to write 127.0.0.1 and other hosts that are none of a user's business; {port} is the service's.
HOSTS = [
    "127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "127.0.0.01", "0177.0.0.1", "0x7f.1", "0x7f.0.0.1", "0X7F000001",
    "0x7f000001", "2130706433", "017700000001", "0", "0.0.0.0", "0x", "00", "127.0.0.1.1", "256.256.256.256",
    "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
    "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]", "[fe80::1]", "[fe80::1%25lo]",
    "[fe80::1%lo]", "[fc00::1]", "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]", "[100::1]", "[2001:db8::1]",
    "①②⑦.⓪.⓪.①", "１２７.０.０.１", "127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "２１３０７０６４３３", "[::1", "::1",
    "169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "10.0.0.1", "172.16.0.1", "192.168.1.1",
    "224.0.0.1", "255.255.255.255", "240.0.0.1", "192.88.99.1", "198.18.0.1", "%31%32%37.0.0.1", "127.0.0.1%00",
    "127.0.0.1%2eexample.com", "user@127.0.0.1", "user:pass@127.0.0.1", "example.com@127.0.0.1",
    "127.0.0.1\\@example.com", "example.com\\@127.0.0.1", "127.0.0.1\t", "127.0.0.1\r\nHost: x", "127.0.0.1\x00",
    "inside.example", "INSIDE.example", "ten.example", "six.example", "mapped.example", "scoped.example",
    "mixed.example", "metadata.example", "a" * 300, "a" * 300 + ".example", "é" * 300 + ".example", "xn--", "a..b", "",
    "\u200b127.0.0.1", "127.0.0.1\u200b", "\ud800", "٣", "[v1.127.0.0.1]",
]  # fmt: skip


@pytest.mark.parametrize("host", HOSTS, ids=ascii)
def test_no_way_to_write_a_host_leads_inside(fetcher: Fetcher, inside: WebServer, host: str) -> None:
    with pytest.raises(ImageFailure) as caught:
        fetcher.start(f"http://{host}:{inside.port}/secret").result(60)
    assert caught.value.code in ("image_blocked", "image_url_invalid")
    assert "pass@" not in caught.value.message
    assert caught.value.message.isascii()


@pytest.mark.parametrize(
    "url",
    [
        "//127.0.0.1/x", "file:///etc/passwd", "gopher://127.0.0.1:11211/_stats", "ftp://127.0.0.1/", "dict://127.0.0.1/",
        "data:image/png;base64,iVBORw0KGgo=", "javascript:alert(1)", "http:127.0.0.1", "http:/127.0.0.1/", "http:///x",
        "http://", "", "secret", "http//127.0.0.1", "unix:///run/x.sock", "http+unix://x/", "https:\\\\127.0.0.1\\",
        "http://example.com:99999/", "http://example.com:0/", "http://example.com:x/",
        f"http://example.com/{'a' * 2_048}",
    ],
    ids=ascii,
)  # fmt: skip
def test_what_is_no_url_of_the_web_is_invalid(fetcher: Fetcher, url: str) -> None:
    with pytest.raises(ImageUrlInvalid):
        fetcher.start(url).result(60)


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST", "localhost.", "a.localhost"])
def test_the_names_of_this_machine_are_blocked(
    make_fetcher: Callable[..., Fetcher], inside: WebServer, name: str
) -> None:
    with pytest.raises(ImageBlocked):
        make_fetcher(ELSEWHERE).start(f"http://{name}:{inside.port}/").result(60)


@pytest.mark.parametrize("port", [22, 25, 6379, 5432, 8080, 444, 65_535])
def test_only_the_ports_of_the_web_are_asked(make_fetcher: Callable[..., Fetcher], names: Names, port: int) -> None:
    names.asked.clear()
    with pytest.raises(ImageBlocked, match="80 and 443"):
        make_fetcher("", names).start(f"http://outside.example:{port}/").result(60)
    assert names.asked == []


def test_a_list_of_networks_that_is_none_says_so() -> None:
    with pytest.raises(ValidationError, match=r"'10\.0\.0' does not appear to be"):
        FetchSettings(allow_networks="10.0.0")
    with pytest.raises(NotReady, match=r"'10\.0\.0'.*CIDRs"):
        Fetcher(FetchSettings.model_construct(**FetchSettings().model_dump() | {"allow_networks": "10.0.0"}))


@pytest.mark.parametrize("address", [PUBLIC, "1.1.1.1", "99.255.255.255", "172.32.0.1", "2606:4700::1111", "2a00::1"])
def test_the_public_internet_may_be_reached(address: str) -> None:
    assert Reach().takes(address, 443)


@pytest.mark.parametrize(
    "address",
    [
        "2606:4700::1111%lo", "2606:4700::1111%25lo", "64:ff9b::101:101", "64:ff9b:1::101:101", "::ffff:1.1.1.1",
        "::1.1.1.1", "2002:101:101::", "2001::1", "2001:20::1", "2001:db8::1", "3fff::1", "5f00::1", "100::1",
        "fec0::1", "fd00::1", "ff0e::1",
    ],
)  # fmt: skip
def test_addresses_that_carry_others_or_none_at_all_are_not_public(address: str) -> None:
    assert not Reach().takes(address, 443)


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/", "http://127.1:{port}/", "//127.0.0.1:{port}/", "//inside.example:{port}/",
        "http://[::ffff:7f00:1]:{port}/", "http://mixed.example:{port}/", "file:///etc/passwd", "gopher://127.0.0.1/",
        "data:image/png;base64,aaaa", "http://u:p@127.0.0.1:{port}/", "http:\\\\127.0.0.1:{port}/",
        "/\\127.0.0.1:{port}/",
        "http://127.0.0.1\\@127.0.0.2:{port}/", "http://169.254.169.254/latest/meta-data/", "http://[::1", "https://",
        "javascript:alert(1)", "http://2130706433:{port}/", "///127.0.0.1:{port}/", "http://127.0.0.1\t:{port}/",
    ],
    ids=ascii,
)  # fmt: skip
def test_a_redirect_inside_is_not_followed(
    fetcher: Fetcher, inside: WebServer, outside: WebServer, location: str
) -> None:
    url = outside.redirect("/moved", location.format(port=inside.port))
    with pytest.raises(ImageFailure) as caught:
        fetcher.start(url).result(60)
    # Where a Location is read as a path of the same server, that server answers for itself.
    assert caught.value.code == "image_blocked" or set(outside.asked) != {"/moved"}
    assert outside.asked[0] == "/moved"


def test_redirects_in_a_circle_end(fetcher: Fetcher, outside: WebServer) -> None:
    with pytest.raises(ImageBlocked, match="more than 5 times"):
        fetcher.start(outside.redirect("/circle", "/circle")).result(60)
    assert len(outside.asked) == 6


def test_a_name_that_is_bound_anew_leads_nowhere_else(make_fetcher: Callable[..., Fetcher], outside: WebServer) -> None:
    names = Names(rebinding_example=[["127.0.0.2"], ["127.0.0.1"]])
    # A closed connection, so that the second request needs another look-up.
    outside.say("/a", Answer(b"HTTP/1.1 302 Moved\r\nLocation: /b\r\nConnection: close\r\n\r\n", then="close"))
    with pytest.raises(ImageBlocked):
        make_fetcher("127.0.0.2/32", names).start(outside.url("/a", host="rebinding.example")).result(60)
    assert outside.asked == ["/a"]
    assert names.asked == ["rebinding.example"] * 2


def test_a_session_that_believes_all_names_still_makes_no_socket(inside: WebServer, sockets: Sockets) -> None:
    """The last word is where the socket is made, whatever the walls before it have let through."""

    async def ask() -> None:
        connector = aiohttp.TCPConnector(
            resolver=Names(inside_example=[["127.0.0.1", "127.0.0.3"]]), socket_factory=guard(Reach(), sockets)
        )
        async with aiohttp.ClientSession(connector=connector) as session:
            await session.get(inside.url("/", host="inside.example"))

    with pytest.raises(aiohttp.ClientConnectorError) as caught:
        asyncio.run(ask())
    assert isinstance(caught.value.os_error, AddressForbidden)


def test_proxies_of_the_environment_are_not_used(
    make_fetcher: Callable[..., Fetcher], inside: WebServer, outside: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, inside.url(""))
    fetcher = make_fetcher("127.0.0.2/32")
    assert fetcher.start(outside.serve("/p.png", b"x")).result(60).body == b"x"


def test_the_traps_of_these_tests_do_catch(
    make_fetcher: Callable[..., Fetcher], inside: WebServer, sockets: Sockets
) -> None:
    url = inside.serve("/secret", b"treasure")
    assert make_fetcher("127.0.0.0/8").start(url).result(60).body == b"treasure"
    assert inside.connections == 1
    assert sockets.made == ["127.0.0.1"]
    inside.forget()
    sockets.made.clear()


def test_an_allowed_network_lifts_the_rule_of_ports_for_itself_alone() -> None:
    reach = Reach("10.1.0.0/16, fd00::/8")
    assert reach.takes("10.1.2.3", 9_000)
    assert reach.takes("fd00::1", 9_000)
    assert not reach.takes("10.2.0.1", 80)
    assert reach.takes(PUBLIC, 443)
    assert not reach.takes(PUBLIC, 9_000)


def test_each_hop_is_judged_and_not_only_the_first(fetcher: Fetcher, inside: WebServer, outside: WebServer) -> None:
    outside.redirect("/2", f"http://inside.example:{inside.port}/")
    outside.redirect("/1", "/2", 307)
    with pytest.raises(ImageBlocked, match="not a public"):
        fetcher.start(outside.redirect("/0", outside.url("/1", host="outside.example"), 301)).result(60)
    assert outside.asked == ["/0", "/1", "/2"]
