"""Client: the HTTP API as the commands use it: submit, follow, fetch."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import aiohttp
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

from pipeline.errors import InvalidRequest, NotReady, PressroomError
from scripts.control import find_system
from scripts.options import settings_for

#: How long an answer may take to begin; a job may take longer, because it is polled.
TIMEOUT = aiohttp.ClientTimeout(total=None, connect=10, sock_read=60)
#: How long a service that restarts, or asks for patience, is asked again.
PATIENCE = timedelta(minutes=2)
POLL_SECONDS = 0.3

Progress = Callable[[float, float], None]


class Refused(PressroomError):
    """The service answered with an error."""

    code = "refused"


class Busy(Exception):
    """The service asked to be left alone for a while, or can't be reached."""


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
            body: dict[str, Any] = {"json": dict(fields)}
            if files:
                body = {"data": _form(fields, files)}
            async with self._session.post(route, headers=headers, **body) as response:
                document = await _read(response)
                try:
                    return str(document.get("id") or document["job_id"])
                except (AttributeError, KeyError) as error:
                    raise _stranger() from error

        job_id: str = await _patiently(send, self._patience)
        return job_id

    async def get(self, path: str) -> Any:
        """Return the JSON at a path."""

        async def look() -> Any:
            async with self._session.get(path) as response:
                return await _read(response)

        return await _patiently(look, self._patience)

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

    async def fetch(self, job_id: str, file: Path) -> int:
        """Write a job's result into a file, whole or not at all; returns its size in bytes."""
        try:
            return await self._fetch(job_id, file)
        except (TimeoutError, Busy, aiohttp.ClientError) as error:
            raise NotReady(
                f"The result could not be fetched: {error or type(error).__name__}. "
                f"Fetch /jobs/{job_id}/result later; it is paid for."
            ) from error

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


def _form(fields: Mapping[str, Any], files: Mapping[str, Path]) -> aiohttp.FormData:
    form = aiohttp.FormData()
    for name, value in fields.items():
        form.add_field(name, str(value).lower() if isinstance(value, bool) else str(value))
    for name, path in files.items():
        form.add_field(name, path.read_bytes(), filename=name, content_type="application/octet-stream")
    return form


async def _read(response: aiohttp.ClientResponse) -> Any:
    """Return the answer's JSON. Raises Busy, Refused."""
    if response.status in {429, 502, 503, 504}:
        wanted = response.headers.get("Retry-After", "")
        await asyncio.sleep(min(60, int(wanted)) if wanted.isdecimal() else 1)
        raise Busy(f"the service answered {response.status}")
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
    raise Refused(f"The service answered {response.status}: {message}")


def _stranger() -> Refused:
    return Refused("What answers at that address is no Pressroom. Say where it is with --url.")


async def _patiently(ask: Callable[[], Any], patience: timedelta) -> Any:
    retrying = AsyncRetrying(
        retry=retry_if_exception_type((Busy, aiohttp.ClientConnectionError, asyncio.TimeoutError)),
        stop=stop_after_delay(patience),
        wait=wait_random_exponential(multiplier=0.2, max=5),
        reraise=True,
    )
    try:
        return await retrying(ask)
    except (TimeoutError, Busy, aiohttp.ClientError) as error:
        raise NotReady(f"The service can't be reached: {error or type(error).__name__}.") from error
