"""Service: the client that commands use, a progress bar for its jobs, and its errors in words."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pressroom.errors import NotPressroom, PressroomError
from scripts.options import find_service
from scripts.terminal import progress_bar, tell

if TYPE_CHECKING:
    from pressroom import Pressroom
    from pressroom.documents.jobs import Job


@contextmanager
def ask_service(url: str | None, data: Path | None) -> Iterator["Pressroom"]:
    """Connect to the named service, or to the one that runs here."""
    from pressroom import Pressroom  # imports an HTTP library, which most commands don't need

    address, key = find_service(url, data)
    with Pressroom(key, url=address) as client:
        yield client


def said(error: PressroomError) -> str:
    """Return a client's error as text for a terminal."""
    if error.status is None or isinstance(error, NotPressroom):
        return str(error)
    wait = error.retry_after
    patience = f" Try again in {wait.total_seconds():,.0f} seconds." if wait else ""
    return f"The service answered {error.status}: {error.message}{patience}"


def outcome_of_cancelling(job: "Job") -> str:
    """Return a sentence about a job after an attempt to cancel it."""
    if job.state == "cancelled":
        return "The job was cancelled; nothing was charged."
    return f"The job {job.id} {job.state}."


class JobBar:
    """A progress bar for jobs, one after another. Ctrl-C cancels the current one, whose result would be lost."""

    def __init__(self, client: "Pressroom", doing: str, *, total: float = 1) -> None:
        self._client = client
        self._bar = progress_bar(transient=True)
        self._line = self._bar.add_task(doing, total=total)
        self._before = 0.0
        self._weight = total
        self._job: Job | None = None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._bar.stop()
        if isinstance(error, KeyboardInterrupt) and self._job is not None and not self._job.has_ended:
            try:
                tell(outcome_of_cancelling(self._client.cancel(self._job.id)))
            except PressroomError as failure:
                tell(f"The job {self._job.id} was not cancelled. {said(failure)}")

    def begin(self, weight: float) -> None:
        """Begin the next job; `weight` is its part of the total."""
        self._before += self._weight if self._job is not None else 0
        self._weight, self._job = weight, None

    def show(self, job: "Job") -> None:
        self._job = job
        part = (job.progress.done + job.progress.failed) / max(1.0, job.progress.total)
        self._bar.update(self._line, completed=self._before + part * self._weight)
