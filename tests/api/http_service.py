"""The API as its users have it: a gunicorn of its own, and real HTTP."""

import http.client
import json
import os
import re
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forks import become, ended, forked
from waiting import wait_for

from scripts.system.programs import ROOT, environment

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Answer:
    """An HTTP answer; header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of an error."""
        return str(self.json["code"])


@dataclass
class Service:
    """A running API."""

    process: Any
    port: int
    log: Path
    data: Path
    connections: list[http.client.HTTPConnection] = field(default_factory=list)

    def open_socket(self, *, timeout: float = 60) -> socket.socket:
        """Return a connection for what no HTTP client would send."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection that is closed with the service at the latest.

        One that a failed test left open would be collected in another test, whose failure that would be."""
        connection = self._connection()
        self.connections.append(connection)
        return connection

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        connection = self._connection()
        try:
            connection.request(method, path, body, dict(headers or {}))
            return read_answer(connection)
        finally:
            connection.close()

    def get(self, path: str, key: str | None = None, **headers: str) -> Answer:
        return self.request("GET", path, headers=_headers(key, headers))

    def post(self, path: str, document: Any, key: str | None = None, **headers: str) -> Answer:
        """Send a JSON document; header names are written with underscores."""
        return self.post_bytes(path, json.dumps(document).encode(), key, **headers)

    def post_bytes(self, path: str, body: bytes, key: str | None = None, **headers: str) -> Answer:
        sent = {"Content-Type": "application/json", **_headers(key, headers)}
        return self.request("POST", path, body, sent)

    def submit(self, document: Any, key: str, path: str = "/echo", **headers: str) -> str:
        """Submit a job and return its id."""
        answer = self.post(path, document, key, Prefer="respond-async", **headers)
        assert answer.status == 202, answer.body
        return str(answer.json["id"])

    def send_raw(self, sent: bytes, *, then_close: bool = False) -> bytes:
        """Send bytes as they are, and return all that comes until the server closes."""
        with self.open_socket(timeout=120) as connection:
            connection.sendall(sent)
            if then_close:
                connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(65_536), b""))

    def send_raw_answer(self, sent: str) -> Answer:
        """Send what is no HTTP, and return what comes as one."""
        return Answer(0, {}, self.send_raw(sent.encode()))

    def lines(self) -> list[dict[str, Any]]:
        """The log, without what gunicorn writes in its own way."""
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]

    def wait_for_line(self, **fields: Any) -> dict[str, Any]:
        """Return the first log line with these fields: it is written after its answer has been sent."""

        found: dict[str, Any] = wait_for(
            lambda: next((line for line in self.lines() if fields.items() <= line.items()), None),
            about=lambda: f"no line with {fields} in {self.log.read_text()[-3_000:]}",
        )
        return found

    def signal(self, sent: signal.Signals) -> None:
        """Signal gunicorn's master."""
        os.kill(self.process.pid, sent)

    def wait(self) -> int:
        """Return its exit code once it has ended."""
        status = ended(self.process, 120)
        assert status is not None
        return status

    def stop(self) -> int:
        self.signal(signal.SIGTERM)
        return self.wait()


#: Starts an API of a test's own; its arguments are settings.
Start = Callable[..., AbstractContextManager[Service]]


def read_answer(connection: http.client.HTTPConnection) -> Answer:
    response = connection.getresponse()
    headers = {name.lower(): value for name, value in response.getheaders()}
    return Answer(response.status, headers, response.read())


@contextmanager
def start_service(
    folder: Path,
    *,
    database_url: str,
    redis_url: str,
    processes: int = 1,
    host: str = "127.0.0.1",
    settings: Mapping[str, str] | None = None,
) -> Iterator[Service]:
    """Run an API until the block ends; `settings` are environment variables without PRESSROOM_."""
    folder.mkdir(parents=True, exist_ok=True)
    listener = socket.create_server((host, 0))
    extra = {
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "PRESSROOM_DATA": str(folder),
        "PRESSROOM_KINDS": "api_kinds:Echo,api_kinds:Many,api_kinds:Files",
        "PRESSROOM_LOG_FORMAT": "json",
        **{f"PRESSROOM_{name}": value for name, value in (settings or {}).items()},
    }
    found = environment(extra=extra)
    found["PYTHONPATH"] = os.pathsep.join([found.get("PYTHONPATH", ""), str(HERE)])
    log = folder / "api.log"
    listener.set_inheritable(True)
    with forked(serve, found, log, listener, processes) as process:
        service = Service(process, listener.getsockname()[1], log, folder)
        try:
            _wait_until_alive(service, processes)
            yield service
        finally:
            listener.close()
            for connection in service.connections:
                connection.close()
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # a stop takes a second of a core, and has tests of its own


def serve(environment: Mapping[str, str], log: Path, listener: socket.socket, processes: int) -> None:
    """Be gunicorn's master."""
    os.setsid()
    become(environment, log)
    from gunicorn.app.wsgiapp import WSGIApplication

    os.set_inheritable(listener.fileno(), True)
    sys.argv = [
        *("gunicorn", "api.server:app", "--worker-class=api.server.Worker", f"--bind=fd://{listener.fileno()}"),
        *(f"--workers={processes}", "--graceful-timeout=60", "--no-control-socket", f"--chdir={ROOT}"),
    ]
    WSGIApplication("%(prog)s [OPTIONS] [APP_MODULE]", prog=None).run()


def _wait_until_alive(service: Service, processes: int) -> None:
    # The listener takes connections from the start; the first answer comes when a worker is there.
    try:
        answer = service.get("/healthz")
    except (OSError, http.client.HTTPException) as error:
        raise AssertionError(service.log.read_text()) from error
    assert answer.status == 200, answer.body
    # One that is still starting when gunicorn stops hears nothing of it, and gunicorn waits a minute for its end.
    wait_for(
        lambda: service.log.read_text().count("ASGI server listening") == processes,
        seconds=120,
        about=service.log.read_text,
    )


def _headers(key: str | None, headers: Mapping[str, str]) -> dict[str, str]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return named if key is None else {"X-API-Key": key, **named}


def form(*parts: tuple[str, bytes, str | None], boundary: str = "b0undary") -> tuple[bytes, str]:
    """Return a multipart body and its content type; a part is a name, its bytes, and a file's name or None."""
    chunks = []
    for name, content, filename in parts:
        named = f'; filename="{filename}"' if filename is not None else ""
        chunks.append(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n'.encode() + content + b"\r\n"
        )
    return b"".join(chunks) + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


def looks_like_uuid(text: str) -> bool:
    return bool(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text))
