"""Client of an endpoint: requests in the form of OpenAI's API, some at once, each with its limits."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from concurrent.futures import wait as wait_for
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

import aiohttp

from pipeline.downloads.connecting import read_most
from pipeline.log import get_logger
from pipeline.settings.endpoints import EndpointSettings
from workers.engines import Stopped, never
from workers.engines.endpoints.errors import AnswerInvalid, EndpointAway, EndpointBusy, EndpointFailed, refusal
from workers.engines.tokens import current

log = get_logger(__name__)

#: Seconds between two calls of `stop`.
STOP_CHECK_SECONDS = 0.1
#: Largest answers: JSON, which may hold a picture in base64; and sound, an hour of WAV at 24 kHz.
MOST_JSON, MOST_SOUND = 32 * 2**20, 180 * 2**20
#: A refusal is read up to this size.
MOST_REFUSAL = 64 * 2**10
#: Longest wait, in all, for a server that loads its model (503).
LOADING = timedelta(minutes=3)
#: Tries when a connection fails; servers close idle ones.
TRIES = 2


@dataclass(frozen=True, slots=True)
class Upload:
    """A file of a form."""

    data: bytes
    name: str
    content_type: str


#: The fields of a form, one after another; a name may stand there twice.
Form = Sequence[tuple[str, str | Upload]]


@dataclass(frozen=True, slots=True)
class Call:
    """A request: JSON, a form, or neither for GET; `most` bytes of answer are read.

    A probe does not wait for a model that loads, nor longer than for a connection."""

    path: str
    json: Mapping[str, Any] | None = None
    form: Form | None = None
    most: int = MOST_JSON
    is_probe: bool = False


class EndpointClient:
    """Sends requests of many threads by one event loop, `slots` at once. A pause that the server asks for holds all."""

    def __init__(self, name: str, settings: EndpointSettings) -> None:
        self.name = name
        self.settings = settings
        # Without the line break with which files of secrets end: no header may have one.
        self._key = settings.key.get_secret_value().strip() if settings.key else None
        self._busy_until = 0.0
        #: When a request last had an answer, and when one had none as others had none either, in monotonic seconds.
        self._answered = self._hung = 0.0
        self._opening = threading.Lock()
        self._is_closed = False

    def send(self, calls: Iterable[Call], *, stop: Callable[[], bool] = never) -> list[bytes | EndpointFailed]:
        """Return the body of each answer, or why there is none. Raises Stopped when `stop` returns True.

        Each request leaves when `calls` yields it, while the next one is being made. Raises EndpointBusy once the
        client is closed: the items wait a moment, and are then done with the new settings."""
        running: list[Future[bytes]] = []
        try:
            for call in calls:
                running.append(self._start(call))
            while wait_for(running, timeout=STOP_CHECK_SECONDS).not_done:
                if stop():
                    raise Stopped
            return [self._result(one) for one in running]
        finally:
            for one in running:
                one.cancel()

    def _start(self, call: Call) -> "Future[bytes]":
        with self._opening:
            if self._is_closed:
                raise self._left()
            return asyncio.run_coroutine_threadsafe(self._send(call), self._loop)

    def _result(self, done: "Future[bytes]") -> bytes | EndpointFailed:
        try:
            return done.result()
        except CancelledError:
            return self._left()
        except EndpointFailed as error:
            return error

    def _left(self) -> EndpointBusy:
        return EndpointBusy(self.name, "was changed by an operator", retry_after=timedelta(seconds=1))

    def post(self, path: str, body: Mapping[str, Any], *, stop: Callable[[], bool] = never) -> dict[str, Any]:
        """Return the JSON object that answers a JSON body. Raises EndpointFailed, Stopped."""
        return self.read(self.send([Call(path, json=body)], stop=stop)[0])

    def get(self, path: str) -> Any:
        """Return the JSON that stands at a path, for a probe. Raises EndpointFailed."""
        return self.read_any(self.send([Call(path, is_probe=True)])[0])

    def read(self, answer: bytes | EndpointFailed) -> dict[str, Any]:
        """Return an answer's JSON object, and count its tokens. Raises EndpointFailed, AnswerInvalid."""
        found = self.read_any(answer)
        if not isinstance(found, dict):
            raise AnswerInvalid(self.name, "answered something else than a JSON object")
        current().add(self.name, found)
        return found

    def read_any(self, answer: bytes | EndpointFailed) -> Any:
        """Return an answer's JSON. Raises EndpointFailed, AnswerInvalid."""
        if isinstance(answer, EndpointFailed):
            raise answer
        try:
            return json.loads(answer)
        except (ValueError, RecursionError) as error:
            raise AnswerInvalid(self.name, "answered something else than JSON") from error

    async def _send(self, call: Call) -> bytes:
        """Send a request, and again while the server loads its model or a kept connection was closed."""
        limit = self.settings.connect_seconds if call.is_probe else self.settings.limit_seconds
        hangs = EndpointAway(self.name, f"did not answer within {limit:g} s")
        began, tries = time.monotonic(), 0
        patience = began + (0 if call.is_probe else LOADING.total_seconds())
        async with self._places:
            if self._hung > began:  # each round of a batch would wait as long again
                raise hangs
            while True:
                self._require_rest()
                try:
                    return await asyncio.wait_for(self._once(call), limit)
                except _Loading as loading:
                    if time.monotonic() + loading.seconds > patience:
                        if call.is_probe:
                            raise loading.error from None
                        # A balancer without a server says 503 for ever; items that wait for it would never end.
                        seconds = LOADING.total_seconds()
                        raise EndpointAway(self.name, f"is not ready within {seconds:g} s (HTTP 503)") from None
                    await asyncio.sleep(loading.seconds)
                except aiohttp.ClientError as error:  # before TimeoutError: a time-out of connecting is both
                    tries += 1
                    if tries == TRIES or isinstance(error, aiohttp.ClientConnectorError | aiohttp.ServerTimeoutError):
                        raise EndpointAway(self.name, f"can't be reached ({type(error).__name__})") from error
                except TimeoutError:
                    now = time.monotonic()
                    if self._answered < now - limit / 2:  # else it has trouble with this request alone
                        self._hung = now
                    raise hangs from None
                except ValueError as error:  # a host that is no name, or a key that no header may have
                    raise EndpointAway(self.name, f"can't be asked: its url or key is invalid ({error})") from error

    async def _once(self, call: Call) -> bytes:
        method = "GET" if call.json is None and call.form is None else "POST"
        async with self._session.request(
            method,
            f"{self.settings.url.rstrip('/')}{call.path}",
            json=call.json,
            data=None if call.form is None else _form(call.form),
            allow_redirects=False,
        ) as answer:
            body = await read_most(answer, call.most if answer.status == 200 else MOST_REFUSAL)
            self._answered = time.monotonic()
            if answer.status == 200:
                if len(body) > call.most:
                    raise AnswerInvalid(self.name, f"answered with more than {call.most:,} bytes")
                return body
            error = refusal(self.name, answer.status, answer.headers, body, key=self._key)
            if isinstance(error, EndpointBusy) and error.retry_after is not None:
                seconds = error.retry_after.total_seconds()
                if answer.status == 503:
                    raise _Loading(error, max(0.5, seconds))
                self._busy_until = max(self._busy_until, time.monotonic() + seconds)
            raise error

    def _require_rest(self) -> None:
        """Raise EndpointBusy while a pause lasts that the server asked for."""
        if (left := self._busy_until - time.monotonic()) > 0:
            raise EndpointBusy(self.name, "asked for a pause", retry_after=timedelta(seconds=max(1.0, left)))

    def close(self) -> None:
        """End the requests on their way, the connections and the event loop; later requests are refused."""
        with self._opening:
            is_open = "_loop" in self.__dict__ and not self._is_closed
            self._is_closed = True
            if not is_open:
                return
            asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    @cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:
        loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=loop.run_forever, name=f"endpoint {self.name}", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), loop).result()
        return loop

    async def _open(self) -> None:
        # Made in the loop that uses them. trust_env stays False: a proxy of the environment would see the key.
        self._places = asyncio.Semaphore(self.settings.slots)
        self._session = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self.settings.connect_seconds),
            connector=aiohttp.TCPConnector(limit=self.settings.slots),
        )

    async def _end(self) -> None:
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._session.close()


class _Loading(Exception):
    """The server loads its model, and may serve in some seconds."""

    def __init__(self, error: EndpointFailed, seconds: float) -> None:
        super().__init__(error.message)
        self.error = error
        self.seconds = seconds


def _form(fields: Form) -> aiohttp.FormData:
    form = aiohttp.FormData()
    for name, value in fields:
        if isinstance(value, Upload):
            form.add_field(name, value.data, filename=value.name, content_type=value.content_type)
        else:
            form.add_field(name, value)
    return form
