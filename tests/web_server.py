"""A web server on loopback: it serves files, makes the faults that a test asks for, and records its requests."""

import asyncio
import gzip
import ssl
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from aiohttp.abc import AbstractResolver
from loopback import abort_connections, stop_listening

#: A certificate of pictures.example that nobody has signed, until 2126, and its key.
CERTIFICATE = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXU/EH7gGUZyFLQBP
FNVlFE5X6GrUDLaKDhQOJXC8D9ihRANCAASGrpa2Bv4Gf9caq8RDffKmR820W01R
eJxDkBFmYGeixOXs3aushYzrOCgGOgKzi4+hX9lRX9prbpqpymcrxomF
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBqjCCAVCgAwIBAgIUU0tieW5RKpY8MouULGaoaSF3PYAwCgYIKoZIzj0EAwIw
GzEZMBcGA1UEAwwQcGljdHVyZXMuZXhhbXBsZTAgFw0yNjExMjAxMzU2MjhaGA8y
MTI2MTAyNzEzNTYyOFowGzEZMBcGA1UEAwwQcGljdHVyZXMuZXhhbXBsZTBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABIaulrYG/gZ/1xqrxEN98qZHzbRbTVF4nEOQ
EWZgZ6LE5ezdq6yFjOs4KAY6ArOLj6Ff2VFf2mtumqnKZyvGiYWjcDBuMB0GA1Ud
DgQWBBSpO1+GZ41JFD7Ihy4nj5h0Qh+k8DAfBgNVHSMEGDAWgBSpO1+GZ41JFD7I
hy4nj5h0Qh+k8DAPBgNVHRMBAf8EBTADAQH/MBsGA1UdEQQUMBKCEHBpY3R1cmVz
LmV4YW1wbGUwCgYIKoZIzj0EAwIDSAAwRQIgH2uWULyYDQScq1nSwWKvsCCAjUpP
T6ANwxRlHpEKz9wCIQCKJdJK8NX9w0N/WQGT8hLcxnpY2AbaItu9IRLWZ9PI8A==
-----END CERTIFICATE-----
"""

TLS_HANDSHAKE = b"\x16"


@dataclass
class Answer:
    """The answer to one request: `raw` at once, then `piece` every so often until the client leaves.

    `then`: keep the connection for the next request, close it, reset it, or hold it open in silence.
    """

    raw: bytes
    then: str = "keep"
    piece: bytes = b""
    every: float = 0.0
    #: Seconds before anything is sent.
    delay: float = 0.0


@dataclass
class WebServer:
    """A running server. `asked` are the paths of all requests, `heads` what came with them."""

    host: str = "127.0.0.1"
    port: int = 0
    scheme: str = "http"
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    connections: int = 0
    open: int = 0
    #: Requests that were being answered at once, at most.
    busy: int = 0
    most_busy: int = 0
    #: None is answered before so many have been answered at once.
    together: int = 0
    #: Paths, without queries, that are not answered yet.
    held: set[str] = field(default_factory=set)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def url(self, path: str, *, host: str | None = None) -> str:
        """Return the URL of a path, by another name of the host if one is given."""
        return f"{self.scheme}://{host or self.host}:{self.port}{path}"

    def serve(
        self, path: str, body: bytes, content_type: str = "image/png", *, delay: float = 0.0, **headers: str
    ) -> str:
        """Serve a file; return its URL."""
        return self.say(path, Answer(reply(200, body, {"Content-Type": content_type, **headers}), delay=delay))

    def redirect(self, path: str, location: str | bytes, status: int = 302) -> str:
        """Redirect a path; return its URL."""
        raw = location.encode() if isinstance(location, str) else location
        head = f"HTTP/1.1 {status} Moved\r\nContent-Length: 0\r\nLocation: ".encode() + raw + b"\r\n\r\n"
        return self.say(path, Answer(head))

    def fail(self, path: str, status: int, **headers: str) -> str:
        """Answer a path with a status; return its URL."""
        return self.say(path, Answer(reply(status, b"" if status in (204, 304) else b"no", headers)))

    def bomb(self, path: str, size: int) -> str:
        """Serve so many zeros, packed with gzip; return its URL."""
        return self.serve(path, gzip.compress(bytes(size)), **{"Content-Encoding": "gzip"})

    def say(self, path: str, *answers: Answer) -> str:
        """Answer a path with these in turn, and from then on with the last; return its URL."""
        self.answers[path] = list(answers)
        return self.url(path)

    def forget(self) -> None:
        """Forget who came."""
        self.asked.clear()
        self.heads.clear()
        self.connections = self.most_busy = self.together = 0

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        try:
            while True:
                first = await reader.readexactly(1)
                if first == TLS_HANDSHAKE:
                    writer.write(reply(400, b"This is plain HTTP."))
                    break
                head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                path = head.split(" ")[1]
                self.asked.append(path)
                self.heads.append(head)
                self.busy += 1
                self.most_busy = max(self.busy, self.most_busy)
                try:
                    if not await self._answer(path, reader, writer):
                        break
                finally:
                    self.busy -= 1
        except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            pass  # the client has left
        except asyncio.CancelledError:
            pass  # the server ends
        finally:
            self.open -= 1
            writer.transport.abort() if writer.transport.is_closing() else writer.close()

    async def _answer(self, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        queue = self.answers.get(path) or self.answers.get(path.partition("?")[0]) or [Answer(reply(404, b"none"))]
        answer = queue.pop(0) if len(queue) > 1 else queue[0]
        while self.most_busy < self.together or path.partition("?")[0] in self.held:
            await asyncio.sleep(0.005)
        await asyncio.sleep(answer.delay)
        writer.write(answer.raw)
        await writer.drain()
        while answer.piece and not writer.transport.is_closing():
            writer.write(answer.piece)
            await writer.drain()
            await asyncio.sleep(answer.every)
        if answer.then == "reset":
            writer.transport.abort()
        if answer.then == "hold":
            await reader.read()  # until the client leaves
        return answer.then == "keep"


def reply(status: int, body: bytes = b"", headers: Mapping[str, str] | None = None) -> bytes:
    """Return an HTTP answer's bytes."""
    lines = [f"HTTP/1.1 {status} Status", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


class Names(AbstractResolver):
    """A name server: each look-up of a name takes its next answer, and the last one again and again."""

    def __init__(self, **addresses: list[list[str]]) -> None:
        self.addresses = {name.replace("_", "."): answers for name, answers in addresses.items()}
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[dict]:
        self.asked.append(host)
        answers = self.addresses.get(host)
        if answers is None:
            raise OSError("no such name")
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [
            {"hostname": host, "host": address, "port": port, "family": family, "proto": 0, "flags": 0}
            for address in found
        ]

    async def close(self) -> None:
        pass


@contextmanager
def web_server(host: str = "127.0.0.1", *, tls: bool = False) -> Iterator[WebServer]:
    """Run a server on a port of its own until the block is left."""
    server, loop = WebServer(host, scheme="https" if tls else "http"), asyncio.new_event_loop()
    ready = threading.Event()

    async def serve() -> None:
        listening = await asyncio.start_server(server._meet, host, 0, backlog=512, ssl=_context() if tls else None)
        server.port = listening.sockets[0].getsockname()[1]
        ready.set()
        await server.ended.wait()
        await stop_listening(listening)
        meetings = asyncio.all_tasks() - {asyncio.current_task()}
        for meeting in meetings:
            meeting.cancel()
        await asyncio.gather(*meetings, return_exceptions=True)
        await abort_connections()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(server.ended.set)
        thread.join()
        loop.close()


def _context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(CERTIFICATE)
        file.flush()
        context.load_cert_chain(file.name)
    return context
