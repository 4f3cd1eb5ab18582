"""Downloads from servers that serve well, badly, slowly, too much or nothing."""

import gzip
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, wait

import pytest
from waiting import wait_for
from web_server import Answer, Names, WebServer, reply, web_server

from pipeline.downloads.images import ImageBlocked, ImageTooLarge, ImageUnreachable
from pipeline.downloads.targets import shown, site_of
from pipeline.settings.fields import FetchSettings
from workers.media.downloads.fetcher import Fetched, Fetcher

PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40
#: A download's pause that outlasts its test.
ENDLESS = {"stall_seconds": 600, "limit_seconds": 600}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n"


@pytest.fixture(scope="module")
def shared_server() -> Iterator[WebServer]:
    with web_server() as server:
        yield server


@pytest.fixture
def server(shared_server: WebServer) -> WebServer:
    """The server, left by whoever an earlier test sent there."""
    wait_for(lambda: shared_server.busy == 0)
    shared_server.forget()
    return shared_server


def call_off(downloads: Sequence["Future[Fetched]"]) -> None:
    """Cancel downloads, those that wait for their turn first: none of them begins in the place of another."""
    for download in reversed(downloads):
        download.cancel()


@pytest.fixture(scope="module")
def make_fetcher() -> Iterator[Callable[..., Fetcher]]:
    """A function that makes a fetcher which may reach loopback, and has the patience that a busy machine needs."""
    made: list[Fetcher] = []

    def make(*, names: Names | None = None, **changes: float) -> Fetcher:
        given = {"allow_networks": "127.0.0.0/8", "connect_seconds": 15, "stall_seconds": 15}
        made.append(Fetcher(FetchSettings(**given | changes), resolver=names, pause_seconds=0.005))
        return made[-1]

    yield make
    for fetcher in made:
        fetcher.close()


@pytest.fixture(scope="module")
def fetcher(make_fetcher: Callable[..., Fetcher]) -> Fetcher:
    return make_fetcher(max_bytes=100_000)


@pytest.fixture(scope="module")
def hasty(make_fetcher: Callable[..., Fetcher]) -> Fetcher:
    """A fetcher for servers that say nothing, or next to nothing."""
    return make_fetcher(stall_seconds=0.2)


def failure(fetcher: Fetcher, url: str, error: type[Exception] = ImageUnreachable) -> str:
    """Return the message of a download that must fail so."""
    with pytest.raises(error) as caught:
        fetcher.start(url).result(60)
    assert type(caught.value) is error
    return str(caught.value)


def test_a_picture_comes_with_its_address_and_type(fetcher: Fetcher, server: WebServer) -> None:
    server.serve("/a%20b.png?size=1", PICTURE)
    found = fetcher.start(f"  {server.url('/a b.png?size=1#top')}\n").result(60)
    assert found.body == PICTURE
    assert found.content_type == "image/png"
    assert found.url == server.url("/a%20b.png?size=1")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_to_where_they_end(fetcher: Fetcher, server: WebServer, status: int) -> None:
    server.serve("/d/end.png", PICTURE)
    server.redirect("/d/2", "end.png", status)
    found = fetcher.start(server.redirect("/1", server.url("/d/2"), status)).result(60)
    assert (found.body, found.url) == (PICTURE, server.url("/d/end.png"))


def test_a_location_may_have_spaces_and_raw_letters(fetcher: Fetcher, server: WebServer) -> None:
    server.serve("/caf%C3%A9%20noir.png", PICTURE)
    assert fetcher.start(server.redirect("/1", "/café noir.png")).result(60).body == PICTURE
    server.serve("/%E9.png", PICTURE)
    assert fetcher.start(server.redirect("/1", b"/\xe9.png")).result(60).body == PICTURE


@pytest.mark.parametrize("status", [204, 206, 300, 304, 400, 401, 403, 404, 410, 451, 501])
def test_a_status_without_a_picture_is_told_and_not_asked_again(
    fetcher: Fetcher, server: WebServer, status: int
) -> None:
    assert f"HTTP {status}" in failure(fetcher, server.fail("/status", status))
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_status_that_passes_is_asked_again(fetcher: Fetcher, server: WebServer, status: int) -> None:
    url = server.say("/flaky", *[Answer(reply(status))] * 3, Answer(reply(200, PICTURE)))
    assert fetcher.start(url).result(60).body == PICTURE
    assert len(server.asked) == 4
    server.forget()
    assert f"HTTP {status}" in failure(fetcher, server.fail("/status", status))
    assert len(server.asked) == 4


def test_a_server_is_left_alone_for_as_long_as_it_asks(fetcher: Fetcher, server: WebServer) -> None:
    busy = Answer(reply(429, b"", {"Retry-After": "1"}))
    began = time.monotonic()
    fetcher.start(server.say("/busy", busy, Answer(reply(200, PICTURE)))).result(60)
    assert time.monotonic() - began >= 1


def test_a_pause_longer_than_the_download_has_ends_it_at_once(
    make_fetcher: Callable[..., Fetcher], server: WebServer
) -> None:
    # It would wait for longer than anybody waits for its result.
    fetcher = make_fetcher(limit_seconds=600)
    assert "HTTP 503" in failure(fetcher, server.fail("/away", 503, Retry_After="3600"))
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "head", [b"Transfer-Encoding: chunked\r\n\r\n", b"Connection: close\r\n\r\n"], ids=["chunked", "until it closes"]
)
def test_a_file_without_an_end_is_refused_at_the_limit(fetcher: Fetcher, server: WebServer, head: bytes) -> None:
    url = server.say("/endless", Answer(HEAD + head, piece=b"1000\r\n" + bytes(4_096) + b"\r\n"))
    assert "100,000 bytes" in failure(fetcher, url, ImageTooLarge)
    assert len(server.asked) == 1


def test_a_bomb_is_counted_unpacked_and_left_before_it_is_whole(fetcher: Fetcher, server: WebServer) -> None:
    packed = gzip.compress(bytes(90_000_000))
    head = HEAD + f"Content-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n".encode()
    # The second half never comes: whoever waits for it learns nothing else than that.
    url = server.say("/bomb", Answer(head + packed[: len(packed) // 2], then="hold"))
    assert "more than the 100,000 bytes" in failure(fetcher, url, ImageTooLarge)
    assert len(server.asked) == 1


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_what_is_not_packed_as_it_says_is_not_believed(fetcher: Fetcher, server: WebServer, encoding: str) -> None:
    failure(fetcher, server.serve("/packed", PICTURE, **{"Content-Encoding": encoding}))


def test_a_drip_is_ended_before_its_time_is_up(make_fetcher: Callable[..., Fetcher], server: WebServer) -> None:
    # A drop each 0.05 s is never silent for three seconds, and has no 1,000 bytes by then.
    url = server.say("/drip", Answer(HEAD + b"Content-Length: 1000\r\n\r\n", piece=b"x", every=0.05))
    assert "too slowly" in failure(make_fetcher(stall_seconds=3), url)
    assert len(server.asked) == 1


@pytest.mark.parametrize("raw", [b"", b"HTTP/1.1 200 OK\r\nX: "], ids=["nothing", "half a header"])
def test_a_server_that_says_nothing_is_asked_again_and_left(hasty: Fetcher, server: WebServer, raw: bytes) -> None:
    assert "did not answer in time" in failure(hasty, server.say("/silent", Answer(raw, then="hold")))
    wait_for(lambda: len(server.asked) >= 4)  # a busy server may hear of the last when that has been given up
    assert len(server.asked) == 4


def test_headers_that_drip_end_with_the_time_of_all(make_fetcher: Callable[..., Fetcher], server: WebServer) -> None:
    url = server.say("/drip", Answer(b"HTTP/1.1 200 OK\r\n", piece=b"X: y\r\n", every=0.05))
    assert "longer than the 0.6 s" in failure(make_fetcher(limit_seconds=0.6), url)


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH_9.7\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", b"\x16\x03\x01\x02\x00",
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % number for number in range(500)) + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n", b"HTTP/1.1 2000 OK\r\n\r\n",
        HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n123456",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        HEAD + b"Content-Length: 100\r\n\r\nhalf", HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhal", b"\n" * 10_000,
    ],
    ids=lambda raw: ascii(raw[:40]) + str(len(raw)),
)  # fmt: skip
def test_what_is_no_proper_answer_is_unreachable(fetcher: Fetcher, server: WebServer, raw: bytes) -> None:
    assert "127.0.0.1" in failure(fetcher, server.say("/odd", Answer(raw, then="close")))


def test_a_connection_that_is_reset_is_made_again(fetcher: Fetcher, server: WebServer) -> None:
    url = server.say("/reset", Answer(b"", then="reset"), Answer(reply(200, PICTURE)))
    assert fetcher.start(url).result(60).body == PICTURE


def test_nobody_there_and_no_such_name_are_told_apart(make_fetcher: Callable[..., Fetcher], server: WebServer) -> None:
    with socket.socket() as deaf:  # nobody else gets its port meanwhile
        deaf.bind(("127.0.0.1", 0))
        assert "refused" in failure(make_fetcher(), f"http://127.0.0.1:{deaf.getsockname()[1]}/x")
    assert "no such name" in failure(make_fetcher(names=Names()), "http://nobody.example/")


def test_a_certificate_that_nobody_signed_is_not_accepted(make_fetcher: Callable[..., Fetcher]) -> None:
    names = Names(pictures_example=[["127.0.0.1"]])
    with web_server(tls=True) as server:
        message = failure(make_fetcher(names=names), server.url("/x", host="pictures.example"))
        assert "TLS certificate that is not accepted: self-signed certificate" in message
        assert server.asked == []


def test_messages_show_no_secrets_and_nothing_that_is_not_printable(fetcher: Fetcher, server: WebServer) -> None:
    message = failure(fetcher, server.url("/é/" + "a" * 500 + ".png?token=secret"))
    assert "secret" not in message
    assert message.isascii()
    assert len(message) < 250
    assert shown("http://user:secret@h/p?token=secret") == "http://...@h/p?..."
    assert "secret" not in failure(fetcher, server.redirect("/r", "http://u:secret@h/?secret"), ImageBlocked)
    assert "secret" not in failure(fetcher, "http://h:1/x\n?secret".replace("\n", ""), ImageUnreachable)


def test_downloads_run_at_once_but_not_too_many(make_fetcher: Callable[..., Fetcher], server: WebServer) -> None:
    fetcher = make_fetcher(downloads=6, downloads_per_host=4)
    url = server.serve("/slow.png", PICTURE, delay=0.15)
    server.together = 4
    began = time.monotonic()
    assert wait([fetcher.start(f"{url}?{number}") for number in range(20)], timeout=60).not_done == set()
    assert server.most_busy == 4
    assert time.monotonic() - began >= 5 * 0.15
    names = Names(a_example=[["127.0.0.1"]], b_example=[["127.0.0.1"]])
    fetcher = make_fetcher(names=names, downloads=6, downloads_per_host=4)
    urls = [server.url("/slow.png", host=host) for host in ("a.example", "b.example") * 8]
    server.together = 6
    assert wait([fetcher.start(url) for url in urls], timeout=60).not_done == set()
    assert server.most_busy == 6


def test_many_names_of_one_owner_take_no_places_from_others(
    make_fetcher: Callable[..., Fetcher], server: WebServer
) -> None:
    slow = {f"n{number}_slow_example": [["127.0.0.1"]] for number in range(10)}
    names = Names(fast_example=[["127.0.0.1"]], **slow)
    fetcher = make_fetcher(names=names, downloads=4, downloads_per_host=2, **ENDLESS)
    server.say("/hang", Answer(b"", then="hold"))
    hanging = [fetcher.start(server.url("/hang", host=f"n{number}.slow.example")) for number in range(10)]
    server.serve("/fast.png", PICTURE)
    assert fetcher.start(server.url("/fast.png", host="fast.example")).result(60).body == PICTURE
    call_off(hanging)


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("a.b.example.com", "example.com"),
        ("example.com.", "example.com"),
        ("cdn.shop.co.uk", "shop.co.uk"),
        ("WWW.Loja.com.BR", "loja.com.br"),
        ("co.uk", "co.uk"),
        ("cdn.a.school.nz", "a.school.nz"),
        ("img.shop.xn--55qx5d.cn", "shop.xn--55qx5d.cn"),
        ("anna.github.io", "anna.github.io"),
        ("github.io", "github.io"),
        ("a..b", "a..b"),
        ("a.b.example.de", "example.de"),
        ("intranet", "intranet"),
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8::1", "2001:db8::1"),
    ],
)
def test_hosts_of_one_owner_are_told_by_the_public_suffix_list(host: str, site: str) -> None:
    assert site_of(host) == site


def test_waiting_for_a_turn_is_not_counted_as_downloading(
    make_fetcher: Callable[..., Fetcher], server: WebServer
) -> None:
    fetcher = make_fetcher(downloads_per_host=1, limit_seconds=4)
    url = server.serve("/slow.png", PICTURE, delay=1.1)
    assert [future.result(60).body for future in [fetcher.start(url) for _ in range(4)]] == [PICTURE] * 4


def test_a_cancelled_download_leaves_its_server(make_fetcher: Callable[..., Fetcher], server: WebServer) -> None:
    fetcher = make_fetcher(downloads_per_host=1)
    future = fetcher.start(server.say("/hang", Answer(b"", then="hold")))
    waiting = fetcher.start(server.serve("/next.png", PICTURE))
    while not server.asked:
        time.sleep(0.01)
    open_before = server.open
    future.cancel()
    with pytest.raises(CancelledError):
        future.result(60)
    assert waiting.result(60).body == PICTURE
    wait_for(lambda: server.open <= open_before)


def test_a_process_that_ends_leaves_no_connection_behind(server: WebServer) -> None:
    url = server.serve("/p.png", PICTURE)
    program = f"""
import atexit
atexit.register(lambda: print(fetcher._web._session.closed))  # asked last
from pipeline.settings.fields import FetchSettings
from workers.media.downloads.fetcher import open_fetcher
fetcher = open_fetcher(FetchSettings(allow_networks="127.0.0.0/8"))
fetcher.start({url!r}).result(60)
"""
    ended = subprocess.run([sys.executable, "-W", "always", "-c", program], capture_output=True, text=True, timeout=90)
    assert (ended.stdout.strip(), ended.stderr) == ("True", "")


def test_a_request_says_who_asks_and_nothing_else(fetcher: Fetcher, server: WebServer) -> None:
    server.serve("/cookie.png", PICTURE, Set_Cookie="a=b")
    server.redirect("/from", "/cookie.png")
    for path in ("/cookie.png", "/from"):
        fetcher.start(server.url(path)).result(60)
    for head in server.heads:
        assert "User-Agent: Pressroom/" in head
        assert not {"cookie", "referer", "authorization"} & {
            line.partition(":")[0].lower() for line in head.split("\r\n")
        }
