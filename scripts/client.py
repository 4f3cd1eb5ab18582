"""Client: the HTTP API as the commands use it: submit, wait, fetch."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import aiohttp

from pipeline.errors import NotReady
from scripts.answers import Refused, ask_until_answered, no_pressroom, read_answer

#: How long an answer may take to begin; a job may take longer, because it is polled.
TIMEOUT = aiohttp.ClientTimeout(total=None, connect=10, sock_read=60)
#: How long a request is repeated while the service restarts or asks for a pause.
PATIENCE = timedelta(minutes=2)
#: The same for a cancellation, for which a person waits after Ctrl-C.
CANCEL_PATIENCE = timedelta(seconds=5)
POLL_SECONDS = 0.3

#: Called with what is done and with what there is in all.
Progress = Callable[[float, float], None]


class Client:
    """One service and one key. A request is repeated for `patience` while the service restarts or asks for a pause."""

    def __init__(self, session: aiohttp.ClientSession, *, patience: timedelta) -> None:
        self._session = session
        self._patience = patience

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, key: str, *, patience: timedelta = PATIENCE) -> AsyncIterator["Client"]:
        """Connect to a service."""
        async with aiohttp.ClientSession(url, headers={"X-API-Key": key}, timeout=TIMEOUT) as session:
            yield cls(session, patience=patience)

    async def submit(
        self, route: str, fields: Mapping[str, Any], files: Mapping[str, Path] | None = None, *, key: str | None = None
    ) -> str:
        """Submit a job and return its id; however often it has to be sent, it is one job."""
        headers = {"Prefer": "respond-async", "Idempotency-Key": key or uuid4().hex}
        return await ask_until_answered(self._patience, self._submit, route, fields, files or {}, headers)

    async def get(self, path: str) -> Any:
        """Return the JSON at a path."""
        return await ask_until_answered(self._patience, self._send, "GET", path)

    async def balance(self) -> int:
        """Return the credits that the account has left. Raises Refused, for a service of another kind as well."""
        usage = await self.get("/usage")
        left = usage.get("credits_remaining") if isinstance(usage, dict) else None
        if not isinstance(left, int):
            raise no_pressroom()
        return left

    async def wait(
        self,
        job_id: str,
        progress: Progress,
        *,
        pause: float = POLL_SECONDS,
        still: Callable[[], Awaitable[None]] | None = None,
    ) -> dict[str, Any]:
        """Return a job when it has ended, in any state; it is asked for again after `pause` seconds.

        `still` is called after each look at one that has not ended."""
        while True:
            job: dict[str, Any] = await self.get(f"/jobs/{job_id}")
            counts = job["progress"]
            progress(counts["done"] + counts["failed"], counts["total"])
            if job["finished_at"]:
                return job
            if still is not None:
                await still()
            await asyncio.sleep(pause)

    async def save(self, job_id: str, file: Path, progress: Progress) -> int:
        """Wait for a job, and write its result into a file, whole or not at all; returns its size in bytes.

        Raises Refused when the job delivered nothing."""
        _require_delivery(await self.wait(job_id, progress))
        return await self.fetch(job_id, file)

    async def save_linked(self, job_id: str, files: Mapping[str, Path], progress: Progress) -> int:
        """Wait for a job, and write what its result links to under these names into files; returns their size.

        Raises Refused when the job delivered nothing."""
        _require_delivery(await self.wait(job_id, progress))
        result = await self.get(f"/jobs/{job_id}/result")
        # By their paths: the service may call itself by an address that only others reach.
        links = {name: urlsplit(result[name])._replace(scheme="", netloc="").geturl() for name in files}
        return sum([await self._save(links[name], file, job_id) for name, file in files.items()])

    async def cancel(self, job_id: str) -> str:
        """Cancel a job, unless it has ended; returns its state. Raises Refused, NotReady."""
        patience = min(self._patience, CANCEL_PATIENCE)
        return str((await ask_until_answered(patience, self._send, "POST", f"/jobs/{job_id}/cancel"))["state"])

    async def fetch(self, job_id: str, file: Path) -> int:
        """Write the result of an ended job into a file, whole or not at all; returns its size in bytes."""
        return await self._save(f"/jobs/{job_id}/result", file, job_id)

    async def _save(self, path: str, file: Path, job_id: str) -> int:
        try:
            return await ask_until_answered(self._patience, self._fetch, path, file)
        except NotReady as error:
            raise NotReady(
                f"The result could not be fetched: {error.message} Fetch /jobs/{job_id}/result later; it is paid for."
            ) from error

    async def _send(self, method: str, path: str) -> Any:
        async with self._session.request(method, path) as response:
            return await read_answer(response)

    async def _submit(
        self, route: str, fields: Mapping[str, Any], files: Mapping[str, Path], headers: Mapping[str, str]
    ) -> str:
        with ExitStack() as opened:
            body: dict[str, Any] = {"data": _form(fields, files, opened)} if files else {"json": dict(fields)}
            async with self._session.post(route, headers=headers, **body) as response:
                job_id = response.headers.get("X-Job-Id")
                # One that was sent before, and has ended, is answered with its result, whatever was preferred.
                if response.status < 400 and job_id:
                    return job_id
                await read_answer(response)
                raise no_pressroom()

    async def _fetch(self, path: str, file: Path) -> int:
        unfinished = file.with_name(f"{file.name}.part")
        async with self._session.get(path) as response:
            if response.status >= 400:
                await read_answer(response)
            with unfinished.open("wb") as output:
                async for chunk in response.content.iter_chunked(2**16):
                    output.write(chunk)
                size = output.tell()
        unfinished.replace(file)
        return size


def _require_delivery(job: Mapping[str, Any]) -> None:
    if job["state"] not in {"succeeded", "partial"}:
        error = job["error"] or {}
        raise Refused(f"The job {job['state']}: {error.get('message', 'no reason was given')}")


def _form(fields: Mapping[str, Any], files: Mapping[str, Path], opened: ExitStack) -> aiohttp.FormData:
    """Return a form whose files are read while they are sent, because they may be larger than the memory."""
    form = aiohttp.FormData()
    for name, value in fields.items():
        form.add_field(name, str(value).lower() if isinstance(value, bool) else str(value))
    for name, path in files.items():
        file = opened.enter_context(path.open("rb"))
        form.add_field(name, file, filename=name, content_type="application/octet-stream")
    return form
