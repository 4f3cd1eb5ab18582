"""Diagnosing: looks at pages that are in no results, in a thread of its own. It never fails a check."""

import asyncio
import threading
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from capabilities.index_check.handlers.diagnosis.page import ALL, PageFacts, look_at
from capabilities.index_check.handlers.diagnosis.sites import DiagnosedSite, Sites
from capabilities.index_check.kinds.index_check import UrlInput
from capabilities.index_check.results.raw_result import Diagnosis, RawResult, Redirected, RobotsFile
from capabilities.index_check.settings import SearchSettings
from pipeline.downloads.targets import shown
from pipeline.downloads.urls import match_key
from pipeline.downloads.web import Web
from pipeline.kind import as_json
from pipeline.log import get_logger
from pipeline.settings import Settings
from pipeline.timestamps import timestamp
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


_FILE = Path(__file__).with_name("sentences.toml")
#: The sentence of each cause, the most certain first.
SENTENCES: Mapping[str, str] = tomllib.loads(_FILE.read_text("utf-8"))["sentences"]
NOTHING = "nothing"
#: Causes by the code of a failed download, and by a page's status.
TROUBLES = {
    "redirects": "redirect_loop",
    "blocked": "blocked",
    "invalid": "blocked",
    "unreachable": "unreachable",
    "timeout": "unreachable",
}
STATUSES = {404: "not_found", 410: "not_found", 401: "refused", 403: "refused", 429: "refused", 451: "refused"}


def diagnosis_of(page: PageFacts, site: DiagnosedSite | None) -> Diagnosis:
    robots = site.robots(page.url) if site else None
    in_sitemap, sitemap_url = site.sitemap_of(page.url) if site else (None, None)
    found = set(_causes(page, site, robots)) | ({"not_in_sitemap"} if in_sitemap is False else set())
    causes = [cause for cause in SENTENCES if cause in found]
    shown: dict[str, Any] = {
        "http_status": page.status,
        "final_url": page.final_url,
        "canonical_url": page.canonical,
        "robots": robots,
        "in_sitemap": in_sitemap,
        "sitemap_url": sitemap_url,
    }
    return Diagnosis(
        sentence=_sentence(causes[0] if causes else NOTHING, page, robots),
        causes=causes,
        checked_at=timestamp(datetime.now(UTC)),
        redirects=[Redirected(url=one.url, status=one.status) for one in page.redirects],
        noindex=page.noindex,
        **shown,
    )


def _causes(page: PageFacts, site: DiagnosedSite | None, robots: RobotsFile | None) -> Iterator[str]:
    if page.trouble:
        yield TROUBLES[page.trouble]
    if page.status is not None and page.status != 200:
        yield "server_error" if page.status >= 500 else STATUSES.get(page.status, "http_error")
    if site is not None and site.forbids_all:
        yield "robots_unreachable"
    if robots is not None and robots.blocked_agents:
        yield "robots_blocked"
    if page.noindex:
        yield "noindex"
    if page.status != 200:
        return
    if _is_elsewhere(page.refresh, page.url) or _is_elsewhere(page.final_url, page.url):
        yield "redirected"
    if _is_elsewhere(page.canonical, page.final_url or page.url):
        yield "canonical_elsewhere"
    if not page.is_html:
        yield "not_html"
    elif not page.has_text:
        yield "no_text"


def _is_elsewhere(url: str | None, page: str) -> bool:
    return url is not None and match_key(url) != match_key(page)


def _sentence(cause: str, page: PageFacts, robots: RobotsFile | None) -> str:
    directive = next(iter(page.noindex), None)
    is_refreshed = _is_elsewhere(page.refresh, page.url)
    blocked = robots.blocked_agents if robots else []
    return SENTENCES[cause].format(
        message=page.message,
        status=page.status,
        final_url=page.refresh if is_refreshed else page.final_url,
        canonical_url=page.canonical,
        robots_url=robots.url if robots else "",
        robots_status=robots.http_status if robots else "",
        agents="all crawlers" if "*" in blocked else " and ".join(blocked),
        directive=directive.content if directive else "",
        agent="all crawlers" if directive and directive.agent == ALL else directive.agent if directive else "",
        source={"meta": "in its HTML", "header": "in the header X-Robots-Tag"}[directive.source] if directive else "",
    )
