"""The demo's pictures: served from this machine while the demo runs."""

import json
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from tempfile import TemporaryDirectory
from typing import Any

from pipeline.capabilities import parts

#: Loopback addresses to try: hardly anything listens on the first; macOS has only the second.
HOSTS = ("127.83.71.61", "127.0.0.1")


@dataclass(frozen=True, slots=True)
class Served:
    """The pictures' server; `names` has the file of each URL in the documents."""

    host: str
    port: int
    names: Mapping[str, str]

    def url_of(self, name: str) -> str:
        return f"http://{self.host}:{self.port}/{name}"

    @property
    def network(self) -> str:
        """The one address that a system must be allowed to reach."""
        return f"{self.host}/32"

    def in_place(self, example: Any) -> Any:
        """Return an example with our URLs in place of the documents'."""
        text = json.dumps(example)
        for url, name in self.names.items():
            text = text.replace(url, self.url_of(name))
        return json.loads(text)


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the terminal is for the table."""


@contextmanager
def served_pictures() -> Iterator[Served]:
    """Serve the pictures of all capabilities' demos until the block ends."""
    files = {url: path for part in parts("demo") for url, path in getattr(part, "SERVED", {}).items()}
    with TemporaryDirectory() as folder:
        for path in files.values():
            shutil.copy(path, folder)
        handler = partial(_Handler, directory=folder)
        try:
            server = ThreadingHTTPServer((HOSTS[0], 0), handler)
        except OSError:
            server = ThreadingHTTPServer((HOSTS[1], 0), handler)
        threading.Thread(target=server.serve_forever, name="demo picture", daemon=True).start()
        host, port = server.server_address[:2]
        try:
            yield Served(str(host), port, {url: path.name for url, path in files.items()})
        finally:
            server.shutdown()
            server.server_close()
