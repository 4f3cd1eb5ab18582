"""Soak users: what they do beside asking for work: look, list, stream, cancel, retry, delete, give up."""

import random
import socket
import threading
import time
from collections.abc import Callable
from http.client import HTTPException
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from systems import Running

PAUSE_SECONDS = 0.5
NOWHERE = "/nowhere"
PAGES = ("/", "/docs", "/openapi.json", "/dashboard/sign-in", "/healthz", "/metrics", NOWHERE)
LISTS = ("/jobs?limit=50", "/jobs?state=failed", "/usage", "/keys", "/tts/voices", "/webhooks/deliveries")


class Users:
    """One thread that does one odd thing after the other until the block ends."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._stopped = threading.Event()
        self._choose = random.Random(7)
        self._thread = threading.Thread(target=self._go_on, name="users")
        self.done = 0
        self.error: BaseException | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._thread.join()

    def _go_on(self) -> None:
        acts: tuple[Callable[[], None], ...] = (
            self._look,
            self._list,
            self._cancel,
            self._retry_and_delete,
            self._stream,
            self._send_nonsense,
            self._give_up,
        )
        try:
            while not self._stopped.wait(PAUSE_SECONDS):
                self._choose.choice(acts)()
                self.done += 1
        except BaseException as error:  # noqa: BLE001  the run raises it
            self.error = error

    def _look(self) -> None:
        path = self._choose.choice(PAGES)
        status = self._running.ask(path).status
        assert status == (404 if path == NOWHERE else 200), (path, status)

    def _list(self) -> None:
        path = self._choose.choice(LISTS)
        status = self._running.ask(path).status
        assert status == 200, (path, status)

    def _cancel(self) -> None:
        job_id = self._running.submit({"items": [{"do": "sleep", "seconds": 60}]})
        self._running.ask(f"/jobs/{job_id}/cancel", {}, method="POST")

    def _retry_and_delete(self) -> None:
        job_id = self._running.submit({"items": [{"do": "fail"}]})
        self._running.wait_for_state(job_id)
        self._running.ask(f"/jobs/{job_id}/retry", {}, method="POST")
        self._running.ask(f"/jobs/{job_id}", method="DELETE")

    def _stream(self) -> None:
        assert self._running.ask("/tts/stream", {"text": "One. Two. Three."}).status < 500

    def _send_nonsense(self) -> None:
        body = {"items": [{"do": "x" * 1_000} for _ in range(900)], "count": [[["deep"]]]}
        assert self._running.ask("/made-up", body).status < 500

    def _give_up(self) -> None:
        """Leave amid an upload, and amid an answer."""
        address = urlsplit(self._running.address)
        head = (
            f"POST /tts/stt HTTP/1.1\r\nHost: x\r\nX-API-Key: {self._running.key}\r\nContent-Length: 9000000\r\n"
            "Content-Type: multipart/form-data; boundary=edge\r\n\r\n--edge\r\n"
            'Content-Disposition: form-data; name="audio"; filename="a.wav"\r\n\r\n'
        )
        upload = head.encode() + b"x" * 500_000
        for sent in (upload, b"GET /"):
            try:
                with socket.create_connection((str(address.hostname), address.port or 80), timeout=10) as connection:
                    connection.sendall(sent)
                    time.sleep(0.05)
            except (OSError, HTTPException):
                pass  # it was refused meanwhile, as it should be
