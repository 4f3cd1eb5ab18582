"""Index submission: takes up to 10,000 URLs at a time, and submits those of each site in one call."""

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from yarl import URL

from capabilities.index_check.engines.submission import SubmissionVerdict, SubmittedSite, Submitter
from capabilities.index_check.kinds.index_check import UrlInput
from capabilities.index_check.requests.request import MAX_URLS
from capabilities.index_check.results.raw_result import RawResult
from capabilities.index_check.settings import SubmissionSettings
from pipeline.errors import NotReady, PressroomError
from pipeline.log import get_logger
from pipeline.offers.offers import Offer
from pipeline.timestamps import timestamp
from workers.engines.family import Family
from workers.engines.resources import Resources
from workers.handler import Done, Failed, Handler, Outcome, Release, Retry, Task
from workers.pool.outcomes import unforeseen

log = get_logger(__name__)

FAMILY = "submission"
#: A run begins no site after so long; it reports the sites that are done, and gives the others back.
RUN_SECONDS = 60.0
LIMITS = frozenset(("throttled", "quota"))
UNREADABLE = SubmissionVerdict("url_invalid", "it can't be encoded as RFC 3986 requires")
NOBODY = SubmissionVerdict("key_missing", "no engine is set up for its site")


class UrlNotSubmitted(PressroomError):
    """No engine has taken a URL. Its record shows the fields in `shown`."""

    def __init__(self, verdict: SubmissionVerdict, **shown: Any) -> None:
        reason = "rate_limited" if verdict.code in LIMITS else "error"
        message = f"The URL was not submitted: {verdict.cause.rstrip('.')}. Nothing was charged for it."
        super().__init__(message, code=verdict.code, reason=reason, search_status=verdict.code, **shown)


@dataclass
class SiteBatch:
    """A site's URLs that go to the same engine, or to any, with their tasks and verdicts."""

    host: str
    engine: str | None
    tasks: dict[str, list[Task[UrlInput]]] = field(default_factory=dict)
    #: Engine and verdict of a URL: the first that took it, or may take it later, or else the first.
    verdicts: dict[str, tuple[str, SubmissionVerdict]] = field(default_factory=dict)

    @property
    def site(self) -> SubmittedSite:
        return SubmittedSite(self.host, is_secure=any(url.startswith("https:") for url in self.tasks))

    def each(self) -> Iterator[tuple[str, Task[UrlInput]]]:
        for url, tasks in self.tasks.items():
            for task in tasks:
                yield url, task

    def left(self) -> list[str]:
        taken = {url for url, (_, verdict) in self.verdicts.items() if verdict.is_taken}
        return [
            url
            for url, tasks in self.tasks.items()
            if url not in taken and not all(task.is_stopped() for task in tasks)
        ]

    def note(self, engine: str, urls: Sequence[str], verdicts: Sequence[SubmissionVerdict]) -> None:
        for url, verdict in zip(urls, verdicts, strict=True):
            kept = self.verdicts.get(url)
            if kept is None or verdict.is_taken or (kept[1].wait is None and verdict.wait is not None):
                self.verdicts[url] = (engine, verdict)


class IndexSubmitHandler(Handler[UrlInput, RawResult]):
    """Groups a claim's URLs, of any jobs, by site. Repeating a call after a crash does no harm."""

    batch = MAX_URLS
    #: It waits on the network, as checks do; all of them run beside it.
    runs_apart = True
    comes_back_together = True

    def __init__(self, resources: Resources, *, family: Family | None = None) -> None:
        super().__init__(resources)
        self._settings = resources.settings.of(SubmissionSettings)
        self._family = family or resources.family(FAMILY)

    def setup(self) -> None:
        """Set the engines up. Without any, which is the default, no URL is claimed."""
        try:
            self._family.setup()
        except NotReady:
            self.slots = 0

    def close(self) -> None:
        for engine in self._family.engines:
            engine.close()

    def offers(self) -> Sequence[Offer]:
        return self._family.offers()

    def run(self, tasks: Sequence[Task[UrlInput]]) -> Sequence[Outcome[RawResult]]:
        outcomes: dict[int, Outcome[RawResult]] = {}
        until = time.monotonic() + RUN_SECONDS
        batches = self._batches(tasks, outcomes)
        with ThreadPoolExecutor(self._settings.calls, "submission") as threads:
            submitted = [threads.submit(self._submit, batch, until=until) for batch in batches]
        for batch, future in zip(batches, submitted, strict=True):
            if isinstance(error := future.exception(), Exception):  # one site's fault costs the others nothing
                log.error("site not submitted", host=batch.host, urls=len(batch.tasks), exc_info=error)
                outcomes |= {id(task): unforeseen(error, attempts=task.attempts) for _, task in batch.each()}
            else:
                outcomes |= future.result()
        return [outcomes[id(task)] for task in tasks]

    def _batches(self, tasks: Iterable[Task[UrlInput]], outcomes: dict[int, Outcome[RawResult]]) -> Sequence[SiteBatch]:
        """Return the tasks by site and engine; note the outcome of a URL that has no site."""
        batches: dict[tuple[str, str | None], SiteBatch] = {}
        for task in tasks:
            engine = task.input.engine
            if task.input.fault is not None:
                outcomes[id(task)] = Failed(UrlNotSubmitted(SubmissionVerdict("url_invalid", task.input.fault)))
                continue
            try:
                url = URL(task.input.url).with_fragment(None)
                host = url.host_port_subcomponent or ""
            except ValueError:
                outcomes[id(task)] = Failed(UrlNotSubmitted(UNREADABLE))
                continue
            batch = batches.setdefault((host, engine), SiteBatch(host, engine))
            batch.tasks.setdefault(str(url), []).append(task)
        return list(batches.values())

    def _submit(self, batch: SiteBatch, *, until: float) -> dict[int, Outcome[RawResult]]:
        """Submit a site's URLs to one engine after another until all are taken; return each task's outcome."""
        if time.monotonic() >= until:
            return {id(task): Release() for _, task in batch.each()}
        ready: Sequence[Submitter] = self._family.engines
        for engine in ready:
            if batch.engine not in (None, engine.name) or not engine.covers(batch.site):
                continue
            if not (urls := batch.left()):
                break
            verdicts = engine.submit(batch.site, urls)
            batch.note(engine.name, urls, verdicts)
            taken = sum(verdict.is_taken for verdict in verdicts)
            log.info("urls submitted", engine=engine.name, host=batch.host, urls=len(urls), taken=taken)
        return {id(task): self._outcome(batch, url, task) for url, task in batch.each()}

    def _outcome(self, batch: SiteBatch, url: str, task: Task[UrlInput]) -> Outcome[RawResult]:
        if url not in batch.verdicts and task.is_stopped():
            return Release()
        engine, verdict = batch.verdicts.get(url, ("", NOBODY))
        shown = {"provider": engine, "checked_at": timestamp(datetime.now(UTC))} if engine else {}
        if verdict.is_taken:
            return Done(RawResult(reason="submitted", code=verdict.code, search_status=verdict.code, **shown), engine)
        error = UrlNotSubmitted(verdict, **shown)
        if verdict.wait is None or task.attempts + 1 >= self._settings.tries:
            return Failed(error)
        # As long as the engine asks for, or longer with each attempt.
        own = timedelta(seconds=self._settings.wait_seconds * 2.0**task.attempts)
        return Retry(min(max(verdict.wait, own), timedelta(hours=self._settings.max_wait_hours)), error)
