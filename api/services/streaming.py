"""Streaming: send answers while they are made, at the client's pace."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID
from weakref import WeakValueDictionary

from pipeline import lifecycle
from pipeline.database import AsyncDatabase
from pipeline.errors import PressroomError
from pipeline.lifecycle.jobs import find_items, find_job
from pipeline.log import get_logger
from pipeline.storage.artifacts import Artifacts
from pipeline.storage.streams import Parts, find_progress

log = get_logger(__name__)

#: How often all streams are read; the longest delay after a lost notice.
LOOK_EVERY_SECONDS = 1.0


class StreamBroken(PressroomError):
    """The stream can't continue; its connection ends without a last chunk, so that the client notices."""

    code = "stream_broken"


class Feed:
    """The progress of one stream, from notices and queries."""

    def __init__(self) -> None:
        self.parts = Parts()
        self.has_ended = False
        self._changed = asyncio.Event()

    @property
    def has_begun(self) -> bool:
        """Return whether the first part exists."""
        return self.parts.count > 0

    def tell(self, parts: Parts | None = None, *, has_ended: bool = False) -> None:
        """Note the progress; notices may be late, doubled or lost."""
        if parts is not None and (parts.prefix != self.parts.prefix or parts.count > self.parts.count):
            self.parts = parts
        self.has_ended = self.has_ended or has_ended
        self._changed.set()

    async def begun(self) -> None:
        """Return once the first part exists."""
        while not self.has_begun:
            await self.wait()

    async def wait(self) -> None:
        """Return once the stream has moved on."""
        await self._changed.wait()
        self._changed.clear()


class Streams:
    """All streams that this process sends."""

    def __init__(self, database: AsyncDatabase, artifacts: Artifacts) -> None:
        self._database = database
        self._artifacts = artifacts
        # Weak: a response whose client left at once is neither read nor closed.
        self._feeds: WeakValueDictionary[UUID, Feed] = WeakValueDictionary()
        self._cancelling: set[asyncio.Task[None]] = set()

    def open(self, job_id: UUID) -> Feed:
        """Follow a job's parts; call it before submission, so that none is missed."""
        return self._feeds.setdefault(job_id, Feed())

    async def send(self, job_id: UUID, feed: Feed, *, begun: Parts, cancels: bool) -> AsyncIterator[bytes]:
        """Yield the stream's bytes. With `cancels`, a leaving client cancels the job.

        Raises StreamBroken if the job did not succeed, or restarted after `begun`."""
        sent = 0
        is_complete = False
        try:
            while not is_complete:
                if feed.has_ended:
                    feed.tell(await self._final_parts(job_id))
                    is_complete = True
                if feed.parts.prefix != begun.prefix:
                    raise StreamBroken("The stream restarted; its first part was replaced.")
                while sent < feed.parts.count:
                    _, chunks = await self._artifacts.open(feed.parts.key(sent))
                    async for chunk in chunks:
                        yield chunk
                    sent += 1
                if not is_complete and not feed.has_ended:
                    await feed.wait()
        finally:
            if cancels and not is_complete:
                self.cancel(job_id)

    def cancel(self, job_id: UUID) -> None:
        """Cancel a job whose client left, in a task of its own."""
        task = asyncio.create_task(self._cancel(job_id))
        self._cancelling.add(task)
        task.add_done_callback(self._cancelling.discard)

    async def look(self) -> None:
        """Read all streams once a second in one statement. Never returns."""
        while True:
            await asyncio.sleep(LOOK_EVERY_SECONDS)
            if not self._feeds:
                continue
            try:
                found = await self._database.run(find_progress(list(self._feeds)))
            except PressroomError as error:
                log.warning("streams not read", error=error.message)
                continue
            for job_id, progress in found.items():
                self.tell(job_id, progress.parts, has_ended=progress.has_ended)

    def tell(self, job_id: UUID, parts: Parts | None = None, *, has_ended: bool = False) -> None:
        """Note the progress of a job's stream, if this process sends it."""
        feed = self._feeds.get(job_id)
        if feed is not None:
            feed.tell(parts, has_ended=has_ended)

    async def _final_parts(self, job_id: UUID) -> Parts:
        job = await self._database.run(find_job(job_id))
        if job is None or job.state != "succeeded":
            raise StreamBroken(f"The stream's job is {job.state if job else 'gone'}.")
        items = await self._database.run(find_items(job_id))
        return Parts.of(items[0].output)

    async def _cancel(self, job_id: UUID) -> None:
        try:
            if await self._database.run(lifecycle.cancel(job_id, None)) is not None:
                log.info("stream cancelled, its client left", job_id=str(job_id))
        except PressroomError as error:
            log.warning("stream not cancelled", job_id=str(job_id), error=error.message)
