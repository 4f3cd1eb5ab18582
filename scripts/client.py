"""Client: the HTTP API as the commands use it: submit, follow, fetch."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import aiohttp
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_before_delay, wait_random_exponential

from pipeline.errors import InvalidRequest, NotReady, PressroomError
from pipeline.retry_after import read_retry_after
from scripts.options import settings_for
from scripts.system.control import find_system

#: How long an answer may take to begin; a job may take longer, because it is polled.
TIMEOUT = aiohttp.ClientTimeout(total=None, connect=10, sock_read=60)
#: How long a service that restarts, or asks for patience, is asked again.
PATIENCE = timedelta(minutes=2)
#: How long a cancellation is tried for: somebody who wants to leave is waiting.
CANCEL_PATIENCE = timedelta(seconds=5)
POLL_SECONDS = 0.3
JITTER = wait_random_exponential(multiplier=0.2, max=5)
#: What passes by itself.
PASSING = frozenset((429, 502, 503, 504))
LOST = (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, TimeoutError)

Progress = Callable[[float, float], None]


class Refused(PressroomError):
    """The service answered with an error, of this HTTP status."""

    code = "refused"

    def __init__(self, message: str, *, answered: int | None = None) -> None:
        super().__init__(message)
        self.answered = answered

    @property
    def is_of_account(self) -> bool:
        """Whether the next request would be answered alike: the key, the balance."""
        return self.answered in {401, 402, 403}


class Busy(Exception):
    """The service asked to be left alone, for a while that it names or not."""

    def __init__(self, message: str, wait: timedelta) -> None:
        super().__init__(message)
        self.wait = wait


def service_url(url: str | None, data: Path | None) -> str:
    """Return where the service is: as told, or the data folder's running system. Raises NotReady, InvalidRequest."""
    if url:
        return _checked(url).rstrip("/")
    system = find_system(settings_for(data).data)
    if system is None:
        raise NotReady("No Pressroom runs here. Start one with `pressroom up`, or say where it is with --url.")
    return system.address


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        # A port that is no number is found when it is asked for.
        is_address = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise InvalidRequest(f"{url!r} is not the address of a service: it looks like http://127.0.0.1:8000.")
    return url


def service_key(data: Path | None) -> str:
    """Return the key to use: PRESSROOM_API_KEY, or that of the first account of the running system."""
    key = os.environ.get("PRESSROOM_API_KEY")
    file = settings_for(data).data / "first-key"
    if key is None and file.exists():
        key = file.read_text().strip()
    if not key:
        raise NotReady("Which API key? Set PRESSROOM_API_KEY; `pressroom accounts create` makes one.")
    return key


class Client:
    """One service and one key."""

    def __init__(self, session: aiohttp.ClientSession, *, patience: timedelta) -> None:
        self._session = session
        self._patience = patience

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, key: str, *, patience: timedelta = PATIENCE) -> AsyncIterator["Client"]:
        """Connect to a service; `patience` is how long one that restarts, or asks for it, is asked again."""
        async with aiohttp.ClientSession(url, headers={"X-API-Key": key}, timeout=TIMEOUT) as session:
            yield cls(session, patience=patience)

    async def submit(
        self, route: str, fields: Mapping[str, Any], files: Mapping[str, Path] | None = None, *, key: str | None = None
    ) -> str:
        """Submit a job and return its id; however often it has to be sent, it is one job."""
        headers = {"Prefer": "respond-async", "Idempotency-Key": key or uuid4().hex}

        async def send() -> str:
            with ExitStack() as opened:
                body: dict[str, Any] = {"json": dict(fields)}
                if files:
                    body = {"data": _form(fields, files, opened)}
                async with self._session.post(route, headers=headers, **body) as response:
                    job_id = response.headers.get("X-Job-Id")
                    # One that was sent before, and has ended, is answered with its result, whatever was preferred.
                    if response.status < 400 and job_id:
                        return job_id
                    await _read(response)
                    raise _stranger()

        job_id: str = await _patiently(send, self._patience)
        return job_id

    async def get(self, path: str) -> Any:
        """Return the JSON at a path."""

        async def look() -> Any:
            async with self._session.get(path) as response:
                return await _read(response)

        return await _patiently(look, self._patience)

    async def balance(self) -> int:
        """Return the credits that the account has left. Raises Refused, for a service of another kind as well."""
        usage = await self.get("/usage")
        left = usage.get("credits_remaining") if isinstance(usage, dict) else None
        if not isinstance(left, int):
            raise _stranger()
        return left

    async def follow(self, job_id: str, progress: Progress) -> None:
        """Return when a job has delivered. Raises Refused when it did not."""
        while True:
            job = await self.get(f"/jobs/{job_id}")
            progress(job["progress"]["done"], job["progress"]["total"])
            if job["state"] in {"succeeded", "partial"}:
                return
            if job["finished_at"]:
                error = job["error"] or {}
                raise Refused(f"The job {job['state']}: {error.get('message', 'no reason was given')}")
            await asyncio.sleep(POLL_SECONDS)

    async def cancel(self, job_id: str) -> str:
        """Cancel a job, unless it has ended; returns its state. Raises Refused, NotReady."""

        async def ask() -> Any:
            async with self._session.post(f"/jobs/{job_id}/cancel") as response:
                return await _read(response)

        return str((await _patiently(ask, min(self._patience, CANCEL_PATIENCE)))["state"])

    async def fetch(self, job_id: str, file: Path) -> int:
        """Write a job's result into a file, whole or not at all; returns its size in bytes."""

        async def fetch() -> int:
            return await self._fetch(job_id, file)

        try:
            size: int = await _patiently(fetch, self._patience)
        except NotReady as error:
            raise NotReady(
                f"The result could not be fetched: {error.message} Fetch /jobs/{job_id}/result later; it is paid for."
            ) from error
        return size

    async def _fetch(self, job_id: str, file: Path) -> int:
        unfinished = file.with_name(f"{file.name}.part")
        async with self._session.get(f"/jobs/{job_id}/result") as response:
            if response.status >= 400:
                await _read(response)
            with unfinished.open("wb") as output:
                async for chunk in response.content.iter_chunked(2**16):
                    output.write(chunk)
                size = output.tell()
        unfinished.replace(file)
        return size


def _form(fields: Mapping[str, Any], files: Mapping[str, Path], opened: ExitStack) -> aiohttp.FormData:
    """Return a form whose files are read while they are sent: somebody may try a film of gigabytes."""
    form = aiohttp.FormData()
    for name, value in fields.items():
        form.add_field(name, str(value).lower() if isinstance(value, bool) else str(value))
    for name, path in files.items():
        file = opened.enter_context(path.open("rb"))
        form.add_field(name, file, filename=name, content_type="application/octet-stream")
    return form


async def _read(response: aiohttp.ClientResponse) -> Any:
    """Return the answer's JSON. Raises Busy, Refused."""
    text = await response.text()
    if response.status < 400:
        try:
            return json.loads(text)
        except ValueError as error:
            raise _stranger() from error
    try:
        message = json.loads(text)["message"]
    except (ValueError, KeyError, TypeError):
        message = text[:200]
    if response.status in PASSING:
        wait = read_retry_after(response.headers.get("Retry-After", "")) or timedelta()
        asked = f" It asks for {wait.total_seconds():,.0f} seconds of patience: try again then." if wait else ""
        raise Busy(f"The service answered {response.status}: {message}{asked}", wait)
    raise Refused(f"The service answered {response.status}: {message}", answered=response.status)


def _stranger() -> Refused:
    return Refused("What answers at that address is no Pressroom. Say where it is with --url.")


async def _patiently(ask: Callable[[], Awaitable[Any]], patience: timedelta) -> Any:
    """Ask until there is an answer, never before the time that the service names. Raises NotReady."""
    retrying = AsyncRetrying(
        retry=retry_if_exception_type((Busy, *LOST)),
        # One that names a longer time is not waited for at all: whoever waits should know.
        stop=stop_before_delay(patience),
        wait=_wait,
        reraise=True,
    )
    try:
        return await retrying(ask)
    except Busy as error:
        raise NotReady(str(error)) from error
    except (TimeoutError, aiohttp.ClientError) as error:
        raise NotReady(f"The service can't be reached: {error or type(error).__name__}.") from error


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome is not None else None
    asked = error.wait.total_seconds() if isinstance(error, Busy) else 0.0
    return asked + JITTER(state)
