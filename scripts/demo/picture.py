"""The demo's picture: a banner that comes with the project, served on this machine while the demo runs."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from pipeline.kinds.alt_text.fields import EXAMPLE_URL

FOLDER = Path(__file__).with_name("pictures")
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
        return f"http://{self.host}:{self.port}/banner.png"

    @property
    def network(self) -> str:
        """The one address that a system must be allowed to reach for it."""
        return f"{self.host}/32"

    def in_place(self, example: Any) -> Any:
        """Return a kind's example with this picture's URL in place of the one in the documents."""
        return json.loads(json.dumps(example).replace(EXAMPLE_URL, self.url))


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the terminal is for the table."""


@contextmanager
def served_picture() -> Iterator[Served]:
    """Serve the picture until the block ends."""
    handler = partial(_Handler, directory=str(FOLDER))
    try:
        server = ThreadingHTTPServer((HOSTS[0], 0), handler)
    except OSError:
        server = ThreadingHTTPServer((HOSTS[1], 0), handler)
    threading.Thread(target=server.serve_forever, name="demo picture", daemon=True).start()
    host, port = server.server_address[:2]
    try:
        yield Served(str(host), port)
    finally:
        server.shutdown()
        server.server_close()
