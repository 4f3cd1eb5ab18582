"""Service: sends the requests of flows, again while it restarts or asks for a pause, and follows jobs to their end."""

import json
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count
from os import PathLike
from pathlib import Path
from random import SystemRandom
from typing import Any, TypeVar
from urllib.parse import urlsplit
from uuid import uuid4

import httpx2

from pressroom.documents.jobs import Job
from pressroom.errors import ConnectionLost, NotPressroom, PressroomError, Refused, refusal
from pressroom.exchange import Ask, Emit, Flow, Read, Send, Sleep, StreamFlow
from pressroom.files import Upload, repeatable, whole_file

T = TypeVar("T")

#: Statuses after which the same request may succeed; those that mean nothing was done, but for this code.
TEMPORARY = frozenset({429, 502, 503, 504})
UNDONE = frozenset({429, 503})
PERHAPS_DONE = "database_interrupted"
#: How long to try a service that has never answered: its address is probably wrong.
FIRST_PATIENCE = timedelta(seconds=10)
#: Longest pause before a request is sent again, unless the service names one.
LONGEST_PAUSE_SECONDS = 5.0
#: How long a request waits for its job before the client follows its events: proxies close silent connections.
WAIT_SECONDS = 20
#: Pause before following a job's events again after they broke off.
RECONNECT_SECONDS = 0.5

#: Called with a job whenever it has progressed.
Progress = Callable[[Job], object]
Fields = Mapping[str, Any]
Files = Mapping[str, Upload | None]
Target = str | PathLike[str] | None

#: Advice when another server answers, or none.
OTHER_ADDRESS = "Name the service by url=… or PRESSROOM_URL."

_random = SystemRandom()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: its content, or the file it was written to."""

    status: int
    headers: httpx2.Headers
    content: bytes
    file: Target = None

    @property
    def json(self) -> Any:
        """The content as JSON. Raises NotPressroom."""
        try:
            return json.loads(self.content)
        except ValueError as error:
            raise no_pressroom(self.status) from error

    @property
    def text(self) -> str:
        return self.content.decode() if self.file is None else Path(self.file).read_text("utf-8")


def no_pressroom(status: int) -> NotPressroom:
    """Return the error for an answer that Pressroom would not give."""
    return NotPressroom(f"The server at that address is not Pressroom. {OTHER_ADDRESS}", status=status)


def given(fields: Fields) -> dict[str, Any]:
    """Return the fields that have a value; the service has its own defaults."""
    return {name: value for name, value in fields.items() if value is not None}


def posting(
    path: str, fields: Fields, files: Files | None = None, *, key: str | None = None, prefer: str | None = None
) -> Ask:
    """Return a POST that makes one job, however often it is sent."""
    headers = {"Idempotency-Key": key or uuid4().hex} | ({"Prefer": prefer} if prefer else {})
    sent = {name: file for name, file in (files or {}).items() if file is not None}
    return Ask("POST", path, headers=headers, fields=given(fields), files=sent)


class Service:
    """One service. Requests that are safe to repeat are repeated for `patience`."""

    def __init__(self, patience: timedelta, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._patience = patience
        self._clock = clock
        self._has_answered = False

    def get(self, path: str, **params: Any) -> Flow[Answer]:
        return self.ask(Ask("GET", path, params=given(params)))

    def ask(self, ask: Ask, *, to: Target = None) -> Flow[Answer]:
        """Return the answer to a request; the content of a 200 is written to the file `to`. Raises PressroomError."""
        with ExitStack() as opened:
            files = {name: opened.enter_context(repeatable(file)) for name, file in ask.files.items()}
            sent = replace(ask, files=files)
            return (yield from self._repeat(sent, lambda: _read(sent, to)))

    def follow(self, link: str, *, to: Target = None) -> Flow[Answer]:
        """Fetch a link from an answer by its path: its host may be one for other clients."""
        return self.ask(Ask("GET", urlsplit(link)._replace(scheme="", netloc="").geturl()), to=to)

    def open(self, ask: Ask, *, as_events: bool = False) -> Flow[Answer]:
        """Start to read an answer; Read gives its pieces or events. Raises PressroomError."""
        return (yield from self._repeat(ask, lambda: _answered(Send(ask, "events" if as_events else "pieces"))))

    def work(
        self,
        path: str,
        fields: Fields,
        files: Files | None = None,
        *,
        to: Target = None,
        progress: Progress | None = None,
        key: str | None = None,
    ) -> Flow[Answer]:
        """Submit a job, wait for it, and return its result. It stays one job however often the request is sent."""
        prefer = "respond-async" if progress else f"wait={WAIT_SECONDS}"
        answer = yield from self.ask(posting(path, fields, files, prefer=prefer, key=key), to=to)
        if answer.status != 202:
            return answer
        job = Job.read(answer.json)
        if progress is not None:
            progress(job)
        yield from self.wait(job.id, progress)
        return (yield from self.result(job.id, to=to))

    def result(self, job_id: str, *, to: Target = None) -> Flow[Answer]:
        """Return the result of an ended job."""
        return self.ask(Ask("GET", f"/jobs/{job_id}/result"), to=to)

    def wait(self, job_id: str, progress: Progress | None = None) -> Flow[Job]:
        """Return a job when it has ended, in any state."""
        follower = _Follower(self, job_id)
        while True:
            job = yield from follower.next()
            if progress is not None:
                progress(job)
            if job.has_ended:
                return job

    def events(self, job_id: str) -> StreamFlow[Job]:
        """Emit a job whenever it has progressed, the last time when it has ended."""
        follower = _Follower(self, job_id)
        while True:
            job = yield from follower.next()
            yield Emit(job)
            if job.has_ended:
                return

    def _repeat(self, ask: Ask, attempt: Callable[[], Flow[T]]) -> Flow[T]:
        began = self._clock()
        for number in count():
            try:
                answer = yield from attempt()
            except (httpx2.TransportError, Refused) as error:
                failure, repeats = self._judged(ask, error)
                if not repeats or self._clock() + (pause := _pause(failure, number)) > began + self._time_for(failure):
                    # The message of a lost connection says all; the chain of libraries would be sixty lines.
                    raise failure from (None if isinstance(failure, ConnectionLost) else error)
                yield Sleep(pause)
            else:
                self._has_answered = True
                return answer
        raise AssertionError  # count() has no end

    def _judged(self, ask: Ask, error: Exception) -> tuple[PressroomError, bool]:
        """Return the error to raise, and whether the request may be sent again."""
        if isinstance(error, Refused):
            self._has_answered = True
            is_undone = error.status in UNDONE and error.code != PERHAPS_DONE
            return error, is_undone or (ask.repeatable and error.status in TEMPORARY)
        never_sent = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
        return (
            ConnectionLost(f"The service can't be reached: {error or type(error).__name__}. {self._remedy()}"),
            ask.repeatable or never_sent,
        )

    def _remedy(self) -> str:
        return "Try again." if self._has_answered else f"Start it with `pressroom up`. {OTHER_ADDRESS}"

    def _time_for(self, failure: PressroomError) -> float:
        patience = self._patience
        if isinstance(failure, ConnectionLost) and not self._has_answered:
            patience = min(patience, FIRST_PATIENCE)
        return patience.total_seconds()


class _Follower:
    """Follows a job by its events, and asks for the job where a proxy holds them back or they break off."""

    def __init__(self, service: Service, job_id: str) -> None:
        self._service = service
        self._job_id = job_id
        self._is_open = False

    def next(self) -> Flow[Job]:
        """Return the job when it has progressed."""
        if not self._is_open:
            yield from self._service.open(Ask("GET", f"/jobs/{self._job_id}/events"), as_events=True)
            self._is_open = True
        try:
            event = yield Read()
        except httpx2.TransportError:
            event = None
        if event is not None:
            return Job.read(event.json())
        self._is_open = False
        yield Sleep(RECONNECT_SECONDS)
        answer = yield from self._service.get(f"/jobs/{self._job_id}")
        return Job.read(answer.json)


def _read(ask: Ask, to: Target) -> Flow[Answer]:
    answer = yield from _answered(Send(ask, "whole" if to is None else "pieces"))
    if to is None or answer.status != 200:
        return answer
    with whole_file(to) as output:
        while (piece := (yield Read())) is not None:
            output.write(piece)
    return replace(answer, file=to)


def _answered(send: Send) -> Flow[Answer]:
    """Send a request once. Raises Refused, NotPressroom, httpx2.TransportError."""
    response: httpx2.Response = yield send
    if response.status_code >= 400:
        raise _refusal(response)
    if response.status_code >= 300:
        raise no_pressroom(response.status_code)
    if ignored := response.headers.get("X-Ignored-Fields"):
        warnings.warn(f"These fields have no effect on {send.ask.path}: {ignored}.", stacklevel=2)
    content = response.content if response.is_stream_consumed else b""
    return Answer(response.status_code, response.headers, content)


def _refusal(response: httpx2.Response) -> Refused:
    try:
        document = response.json()
    except ValueError:
        document = None
    if not isinstance(document, dict):
        document = {"message": f"The service answered {response.status_code}: {response.text[:200]}"}
    return refusal(response.status_code, document, response.headers.get("Retry-After", ""))


def _pause(failure: PressroomError, number: int) -> float:
    """Return the seconds to wait before a request is repeated, at least as many as the service asks for."""
    asked = failure.retry_after.total_seconds() if failure.retry_after else 0.0
    return asked + _random.uniform(0, min(LONGEST_PAUSE_SECONDS, 0.2 * 2 ** min(number, 10)))
