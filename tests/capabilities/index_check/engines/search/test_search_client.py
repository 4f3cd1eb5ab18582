"""The search client: what goes out on the wire, and how a lost connection is told."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from capabilities.index_check.engines.search.base.client import SearchClient
from capabilities.index_check.engines.search.base.provider import SearchRequest
from capabilities.index_check.settings import SearchSettings

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@contextmanager
def listening(heard: list[bytes]) -> Iterator[str]:
    """Answer one request on a port of its own, and keep all that it was."""

    def answer() -> None:
        connection, _ = listener.accept()
        with connection:
            request = connection.recv(2**16)
            head, _, body = request.partition(b"\r\n\r\n")
            length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line)
            while len(body) < length:
                body += connection.recv(2**16)
            heard.extend((head, body))
            connection.sendall(ANSWER)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/html/"
        thread.join(5)


def test_a_form_goes_out_as_a_browser_sends_it() -> None:
    heard: list[bytes] = []
    client = SearchClient(SearchSettings())
    try:
        with listening(heard) as address:
            form = {"q": '"https://e.example/a b?c=ü&d=%20"', "b": ""}
            reply = client.ask(SearchRequest(address, "POST", form=form, headers={"X-Own": "kept"}))
    finally:
        client.close()

    head, body = heard
    assert reply.body == b"ok"
    assert body == b"q=%22https%3A%2F%2Fe.example%2Fa+b%3Fc%3D%C3%BC%26d%3D%2520%22&b="
    assert head.lower().count(b"content-type:") == 1
    assert b"Content-Type: application/x-www-form-urlencoded" in head
    assert b"X-Own: kept" in head
