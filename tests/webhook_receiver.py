"""A webhook of somebody's: it takes events on loopback, and answers as a test says."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Event:
    """One request; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Receiver:
    """A running receiver. The next answers are those of `answers`, each a status and headers; after them 204."""

    url: str
    answers: list[tuple[int, Mapping[str, str]]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    #: Requests are answered once this is set.
    may_answer: threading.Event = field(default_factory=threading.Event)


@contextmanager
def webhook_receiver() -> Iterator[Receiver]:
    """Run a receiver until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.events.append(Event(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            receiver.may_answer.wait(60)
            status, headers = receiver.answers.pop(0) if receiver.answers else (204, {})
            self.send_response(status)
            for name, value in {**headers, "Content-Length": "0", "Connection": "close"}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """A sender that has waited long enough has gone."""

    with Server(("127.0.0.1", 0), Handler) as server:
        receiver = Receiver(f"http://127.0.0.1:{server.server_port}/hook")
        receiver.may_answer.set()
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        try:
            yield receiver
        finally:
            receiver.may_answer.set()
            server.shutdown()
            serving.join()
