"""An API whose process dies where a request says, by a plan in `X-Crash-At`; gunicorn then starts another one.

Calls are counted from that request on; a request with `X-Crash-Tell` ends the count, and has it written down.
"""

import asyncio
import http.client
import json
import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

import crash_points
from crash_points import Plan, Told
from forks import become, ended, forked
from http_service import Answer, read_answer

AT, TELL = b"x-crash-at", b"x-crash-tell"
PATIENCE_SECONDS = 120


@dataclass
class CrashingApi:
    """A running API."""

    port: int
    report: Path

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request once. Raises OSError, HTTPException."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            connection.request(method, path, body, dict(headers or {}))
            return read_answer(connection)
        finally:
            connection.close()

    def try_to_ask(self, *request: Any, plan: Plan | None = None) -> Answer | None:
        """Send a request once; None: no answer came, as its process died."""
        method, path, body, headers = (*request, None, None)[:4]
        named = dict(headers or {})
        if plan is not None:
            named["X-Crash-At"] = json.dumps(asdict(plan))
        try:
            return self.ask(method, path, body, named)
        except (OSError, HTTPException):
            return None

    def ask_until_answered(self, *request: Any) -> Answer:
        """Send a request again and again until it is answered."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = self.try_to_ask(*request)
            if answer is not None and answer.status < 500:
                return answer
            assert time.monotonic() < until, (answer, self.report.with_suffix(".log").read_text()[-5_000:])
            time.sleep(0.02)

    def told(self) -> Told:
        """End the count; return what was called, and where the process died if it did."""
        if not self.report.exists():
            # A process may die after its answer: another one then answers this, and has counted nothing.
            self.ask_until_answered("GET", "/healthz", None, {"X-Crash-Tell": "1"})
        found = Told(**json.loads(self.report.read_text()))
        self.report.unlink()
        return found


@contextmanager
def crashing_api(folder: Path, environment: Mapping[str, str]) -> Iterator[CrashingApi]:
    """Run an API until the block ends; it is alive when the block is entered."""
    folder.mkdir(parents=True, exist_ok=True)
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    api = CrashingApi(listener.getsockname()[1], folder / "api.json")
    listener.set_inheritable(True)
    with forked(api_process, dict(environment), api.report, listener) as process:
        listener.close()
        assert api.ask_until_answered("GET", "/healthz").status == 200
        assert ended(process) is None
        yield api


def api_process(environment: Mapping[str, str], report: Path, listener: socket.socket) -> None:
    """Be gunicorn's master; its process is the one under test."""
    become(environment, report.with_suffix(".log"))
    from gunicorn.app.wsgiapp import WSGIApplication

    from api.server import Worker

    begin = Worker.init_process

    def begin_watched(worker: Any) -> None:
        _watch_requests(crash_points.install(report))
        begin(worker)

    Worker.init_process = begin_watched
    os.set_inheritable(listener.fileno(), True)
    sys.argv = [
        "gunicorn",
        "api.server:app",
        "--worker-class=api.server.Worker",
        f"--bind=fd://{listener.fileno()}",
        "--workers=1",
        "--no-control-socket",
        "--asgi-loop=asyncio",  # uvloop's sockets are not Python's: their calls could not be counted
    ]
    WSGIApplication("%(prog)s [OPTIONS] [APP_MODULE]", prog=None).run()


def _watch_requests(points: crash_points.CrashPoints) -> None:
    from api.http.middleware import RequestMiddleware

    serve = RequestMiddleware.__call__

    async def watched(self: Any, scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", ()))
        if AT in headers:
            points.arm(Plan(**json.loads(headers[AT])))
        if TELL in headers:
            await asyncio.sleep(0.2)  # what goes on after an answer
            points.tell()
        await serve(self, scope, receive, send)

    RequestMiddleware.__call__ = watched
