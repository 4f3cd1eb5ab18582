"""Diagnosing: looks at pages that are in no results, in a thread of its own. It never fails a check."""

import asyncio
import threading
from dataclasses import replace
from uuid import UUID

from capabilities.index_check.handlers.diagnosis.causes import diagnosis_of
from capabilities.index_check.handlers.diagnosis.page import PageFacts, look_at
from capabilities.index_check.handlers.diagnosis.sites import DiagnosedSite, Sites
from capabilities.index_check.kinds.index_check import UrlInput
from capabilities.index_check.results.raw_result import Diagnosis, RawResult
from capabilities.index_check.settings import SearchSettings
from pipeline.downloads.targets import shown
from pipeline.downloads.web import Web
from pipeline.kind import as_json
from pipeline.log import get_logger
from pipeline.settings import Settings
from workers.handler import Done, Failed, Outcome, Task

log = get_logger(__name__)

#: A slot is held at most so much longer than a diagnosis may take.
GRACE_SECONDS = 5.0


class Diagnosing:
    """Adds diagnoses to outcomes. Its thread and event loop start with the first one. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._fetch = settings.fetch
        self._settings = settings.of(SearchSettings).diagnosis
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def explain(self, task: Task[UrlInput], outcome: Outcome[RawResult]) -> Outcome[RawResult]:
        """Return an outcome, with a diagnosis if its request wants one and the page is not indexed."""
        if not task.input.diagnose or task.input.fault is not None or not _wants_one(outcome) or task.is_stopped():
            return outcome
        diagnosis = self._diagnosis(task)
        if diagnosis is not None and isinstance(outcome, Done):
            return replace(outcome, output=outcome.output.model_copy(update={"diagnosis": diagnosis}))
        if diagnosis is not None and isinstance(outcome, Failed):
            outcome.error.details["diagnosis"] = as_json(diagnosis)
        return outcome

    def close(self) -> None:
        with self._guard:
            loop, self._loop = self._loop, None
        if loop is not None:
            asyncio.run_coroutine_threadsafe(self._end(), loop).result()
            loop.call_soon_threadsafe(loop.stop)

    def _diagnosis(self, task: Task[UrlInput]) -> Diagnosis | None:
        """Return a diagnosis, or None if it failed: a page's effect on our parsers must not cost a paid answer."""
        work = asyncio.run_coroutine_threadsafe(self.diagnose(task.job_id, task.input.url), self._opened())
        try:
            error = work.exception(2 * self._settings.seconds + GRACE_SECONDS)
        except TimeoutError as late:
            work.cancel()
            error = late
        if error is None:
            return work.result()
        if isinstance(error, TimeoutError):
            log.info("no turn for a diagnosis", index=task.index)
        else:
            log.error("page not diagnosed", index=task.index, exc_info=error)
        return None

    def _opened(self) -> asyncio.AbstractEventLoop:
        with self._guard:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=_run_forever, args=(self._loop,), name="diagnosis", daemon=True).start()
                asyncio.run_coroutine_threadsafe(self._begin(), self._loop).result()
            return self._loop

    async def _begin(self) -> None:
        web = Web(self._fetch, user_agent=self._settings.user_agent, per_host=self._settings.per_host)
        self._web = await web.__aenter__()
        self._sites = Sites(self._web, self._settings)

    async def _end(self) -> None:
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._web.__aexit__()

    async def diagnose(self, job_id: UUID, url: str) -> Diagnosis:
        """Return why a page may be in no results. Raises TimeoutError if its host was busy with our other requests."""
        page, site = await asyncio.gather(self._page(url), self._site(job_id, url))
        return diagnosis_of(page, site)

    async def _page(self, url: str) -> PageFacts:
        loop, began = asyncio.get_running_loop(), False

        def begin() -> None:
            nonlocal began
            if not began:
                began = True
                limit.reschedule(loop.time() + self._settings.seconds)

        try:
            async with asyncio.timeout(self._settings.seconds) as limit:
                return await look_at(self._web, url, self._settings, begin)
        except TimeoutError:
            if not began:
                raise  # we were slow, not the page
            seconds = f"{self._settings.seconds:g}"
            return PageFacts(url, trouble="timeout", message=f"{shown(url)} took longer than {seconds} s.")

    async def _site(self, job_id: UUID, url: str) -> DiagnosedSite | None:
        try:
            async with asyncio.timeout(2 * self._settings.seconds):
                return await self._sites.of(job_id, url)
        except (TimeoutError, ValueError):
            return None


def _wants_one(outcome: Outcome[RawResult]) -> bool:
    if isinstance(outcome, Done):
        return outcome.output.reason != "indexed"
    return isinstance(outcome, Failed)


def _run_forever(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()
