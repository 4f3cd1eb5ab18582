"""Server: a model in a child process, asked by HTTP on loopback; it is started again after it has died."""

import http.client
import json
import math
import secrets
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pipeline.errors import NotReady
from pipeline.log import get_logger
from workers.engines import EngineUnavailable, Stopped, never
from workers.engines.thread_pool import ThreadPool
from workers.engines.tokens import current

log = get_logger(__name__)

CHILD = Path(__file__).with_name("child.py")
#: Longest wait for a model to load: 2 to 14 s were measured, from a slow disk it takes longer.
LOAD_LIMIT = timedelta(minutes=5)
#: Longest wait for an answer, with the requests before it: a picture took 60 s on two busy cores, a post 140 s.
ANSWER_LIMIT = timedelta(minutes=10)
#: Seconds between two calls of `stop` while an answer is made.
STOP_CHECK_SECONDS = 0.2
#: A model that could not be started is not tried again before this, in seconds.
PAUSE_SECONDS = 60.0


class ModelDied(EngineUnavailable):
    """The model's process ended, hung, or could not be started again."""

    code = "engine_failed"


class ModelRefused(EngineUnavailable):
    """The model takes no such request, for instance because it is too long."""

    code = "engine_failed"


class RequestTooLong(ModelRefused):
    """The request and its answer take more tokens than a slot has."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Files of a model, and how it is run. `context` is the number of tokens that all slots share."""

    model: str
    projector: str | None = None
    image_tokens: int = 256
    slots: int = 1
    context: int = 4_096
    threads: int = 2


@dataclass(frozen=True, slots=True)
class Answer:
    """The model's answer. `tokens`: where each token ends in the text's UTF-8 bytes, and its log-probability."""

    text: str
    is_ended: bool
    tokens: tuple[tuple[int, float], ...] = ()


class LlamaServer:
    """One model. Safe for many threads: so many requests as it has slots are answered at once, the others wait."""

    def __init__(
        self, options: ServerOptions, *, load_limit: timedelta = LOAD_LIMIT, answer_limit: timedelta = ANSWER_LIMIT
    ) -> None:
        self.options = options
        self._load_limit = load_limit
        self._answer_limit = answer_limit
        self._key = secrets.token_urlsafe(24)
        self._lock = threading.Lock()
        self._threads = ThreadPool("llama")
        self._child: subprocess.Popen[str] | None = None
        self._address = ("", 0)
        self._paused_until = -math.inf

    @property
    def pid(self) -> int | None:
        """Return the pid of the child; None: there is none."""
        return None if self._child is None or self._child.poll() is not None else self._child.pid

    @property
    def endpoint(self) -> tuple[str, str]:
        """Return the address of its API in OpenAI's form, and the key."""
        host, port = self._address
        return f"http://{host}:{port}/v1", self._key

    def start(self) -> None:
        """Load the model, unless it is loaded. Raises NotReady."""
        with self._lock:
            if self.pid is None:
                self.stop()
                self._start()

    def stop(self) -> None:
        """End the child."""
        if self._child is not None:
            _end(self._child)
        self._child = None

    def ask(
        self, messages: Sequence[Mapping[str, Any]], *, grammar: str, most: int, stop: Callable[[], bool] = never
    ) -> Answer:
        """Return the model's answer of at most so many tokens. Raises Stopped, ModelDied, ModelRefused."""
        if time.monotonic() < self._paused_until:
            raise ModelDied("The model could not be started; it is tried again within a minute.")
        try:
            self.start()
        except NotReady as error:
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            raise ModelDied(error.message) from error
        body = {
            "messages": list(messages),
            "grammar": grammar,
            "max_tokens": most,
            "temperature": 0,  # the same picture has the same text
            "logprobs": True,
            "top_logprobs": 1,
        }
        child = self._child
        connection = http.client.HTTPConnection(*self._address)
        try:
            connection.connect()
            answer = self._threads.submit(lambda: _exchange(connection, self._key, body))
            status, document = self._await(answer, connection, stop)
            current().add("llama", document)
            return _read(status, document)
        except (OSError, http.client.HTTPException) as error:
            # Most often the child has died.
            if child is not None:
                with suppress(subprocess.TimeoutExpired):
                    child.wait(1)
            raise ModelDied(f"The model's process ended while it worked ({type(error).__name__}).") from error
        finally:
            connection.close()

    def _await(
        self, answer: "Future[Any]", connection: http.client.HTTPConnection, stop: Callable[[], bool]
    ) -> tuple[int, Any]:
        """Wait for an answer; whoever wants it no longer shuts the connection, which ends the work within a token."""
        ends = time.monotonic() + self._answer_limit.total_seconds()
        while True:
            try:
                found: tuple[int, Any] = answer.result(STOP_CHECK_SECONDS)
                return found
            except FutureTimeout:
                is_late = time.monotonic() > ends
                if not (is_late or stop()):
                    continue
                with suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)
                if not is_late:
                    raise Stopped from None
                # A request that hangs in native code would never end.
                with self._lock:
                    self.stop()
                seconds = self._answer_limit.total_seconds()
                raise ModelDied(f"The model gave no answer in {seconds:g} s; it was ended.") from None

    def _start(self) -> None:
        began = time.monotonic()
        command = [sys.executable, "-P", str(CHILD)]
        pipe = subprocess.PIPE
        try:
            child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        except OSError as error:  # mostly too little memory
            raise NotReady(f"The process of the model {self._name()} can't be started: {error.strerror}.") from error
        weakref.finalize(self, _end, child)
        given = json.dumps({**asdict(self.options), "key": self._key})
        told = self._threads.submit(lambda: _introduce(child, given))
        try:
            found = json.loads(told.result(self._load_limit.total_seconds()) or '{"fault": "its process ended"}')
        except (FutureTimeout, OSError, ValueError) as error:
            _end(child)
            raise NotReady(f"The model {self._name()} was not loaded: {type(error).__name__}.") from error
        if "fault" in found:
            _end(child)
            raise NotReady(
                f"llama.cpp can't load {self._name()}: {found['fault']}. Its files may be damaged, its projector of "
                "another model, or memory too small."
            )
        address = urlsplit(found["address"])
        self._address = (address.hostname or "127.0.0.1", address.port or 0)
        self._child = child
        log.info("model loaded", model=self._name(), seconds=round(time.monotonic() - began, 1), pid=child.pid)

    def _name(self) -> str:
        return Path(self.options.model).parent.name


def _introduce(child: "subprocess.Popen[str]", options: str) -> str:
    """Give a child its options; return its first line."""
    assert child.stdin is not None  # noqa: S101
    assert child.stdout is not None  # noqa: S101
    child.stdin.write(options + "\n")
    child.stdin.flush()
    return child.stdout.readline()


def _end(child: "subprocess.Popen[str]") -> None:
    child.kill()
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


def _exchange(connection: http.client.HTTPConnection, key: str, body: Mapping[str, Any]) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def _read(status: int, document: Any) -> Answer:
    if status != http.HTTPStatus.OK:
        error = document.get("error", document)
        refused = RequestTooLong if error.get("type") == "exceed_context_size_error" else ModelRefused
        raise refused(f"The model refused: {error.get('message', error)}")
    choice = document["choices"][0]
    end, tokens = 0, []
    for token in (choice.get("logprobs") or {}).get("content") or ():
        end += len(token["bytes"])
        tokens.append((end, token["logprob"]))
    return Answer(choice["message"]["content"] or "", choice["finish_reason"] == "stop", tuple(tokens))
