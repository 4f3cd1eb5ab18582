"""The demo's picture: a banner that comes with the project, served on this machine while the demo runs."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from pipeline.kinds.alt_text.fields import EXAMPLE_URL

PATH = "/banner.png"
#: Loopback addresses to try in turn. On the first, hardly anything else listens; macOS has only the second.
HOSTS = ("127.83.71.61", "127.0.0.1")


@dataclass(frozen=True, slots=True)
class Served:
    """The address that the picture is served at."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """Its URL."""
        return f"http://{self.host}:{self.port}{PATH}"

    @property
    def network(self) -> str:
        """The one address that a system must be allowed to reach for it."""
        return f"{self.host}/32"

    def in_place(self, example: Any) -> Any:
        """Return a kind's example with this picture's URL in place of the one in the documents."""
        if isinstance(example, dict):
            return {name: self.in_place(value) for name, value in example.items()}
        if isinstance(example, list):
            return [self.in_place(value) for value in example]
        return self.url if example == EXAMPLE_URL else example


@contextmanager
def served_picture() -> Iterator[Served]:
    """Serve the picture until the block ends."""
    server = _server(files("scripts.demo").joinpath("picture.png").read_bytes())
    threading.Thread(target=server.serve_forever, name="demo picture", daemon=True).start()
    host, port = server.server_address[:2]
    try:
        yield Served(str(host), port)
    finally:
        server.shutdown()
        server.server_close()


def _server(picture: bytes) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = self.path == PATH
            self.send_response(HTTPStatus.OK if found else HTTPStatus.NOT_FOUND)
            self.send_header("Content-Type", "image/png")
            self.send_header("Content-Length", str(len(picture) if found else 0))
            self.end_headers()
            if found:
                self.wfile.write(picture)

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing: the terminal is for the table."""

    try:
        return ThreadingHTTPServer((HOSTS[0], 0), Handler)
    except OSError:
        return ThreadingHTTPServer((HOSTS[1], 0), Handler)
