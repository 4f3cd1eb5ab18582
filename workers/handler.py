"""Handler: what carries out the items of some kinds, what it is given, and what it returns."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Any, Generic, Protocol, TypeVar, runtime_checkable
from uuid import UUID

from pydantic import BaseModel

from pipeline.database import Database
from pipeline.errors import PressroomError
from pipeline.offers.offers import Offer
from pipeline.settings import Settings
from pipeline.storage.streams import Parts
from workers.engines.resources import Resources

I = TypeVar("I", bound=BaseModel)  # noqa: E741
O = TypeVar("O", bound=BaseModel)  # noqa: E741
I_co = TypeVar("I_co", bound=BaseModel, covariant=True)
O_co = TypeVar("O_co", bound=BaseModel, covariant=True)


@dataclass(frozen=True, slots=True)
class Done(Generic[O_co]):
    """Delivered; `credits` None is the full price. `engine` is the program that did it, where there is a choice."""

    output: O_co
    engine: str | None = None
    credits: int | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """Not delivered for good; `credits` pay for what was, if anything."""

    error: PressroomError
    credits: int = 0


@dataclass(frozen=True, slots=True)
class Retry:
    """Not now: again later, which counts as an attempt."""

    after: timedelta
    error: PressroomError


@dataclass(frozen=True, slots=True)
class Release:
    """Given back untouched (shutdown, an open circuit breaker): again later, which counts for nothing.

    With a `lane` of its kind it goes on in that one."""

    after: timedelta = timedelta()
    lane: str | None = None


#: What can become of an item in its handler.
Outcome = Done[O] | Failed | Retry | Release


class Task(Protocol[I_co]):
    """One item in its handler's hands."""

    job_id: UUID
    account_id: UUID
    lane: str
    index: int
    price: int
    attempts: int
    checkpoint: Mapping[str, Any] | None

    @property
    def input(self) -> I_co:
        """What the kind stored for the item's worker."""

    def is_stopped(self) -> bool:
        """Return whether the item was cancelled, expired or lost: whatever is done now is in vain."""

    def progress(
        self, done: float, total: float, *, credits: int | None = None, checkpoint: Mapping[str, Any] | None = None
    ) -> None:
        """Note how far the item is, in the kind's unit; written with the next heartbeat."""

    def raise_hold(self, credits: int) -> None:
        """Set aside `credits` in all before going on. Raises InsufficientCredits."""

    def save(self, checkpoint: Mapping[str, Any]) -> None:
        """Write where a next attempt goes on, now: it will go on elsewhere."""

    def store(self, data: bytes | IO[bytes], *, suffix: str = "", keep_for: timedelta | None = None) -> str:
        """Keep bytes, or an open file's, as an artifact of this item; returns its key.

        It is kept for at least as long as the job's result, or for `keep_for`, whichever is longer."""

    def add_part(self, data: bytes, *, done: float, total: float, credits: int, engine: str, voice: str = "") -> Parts:
        """Keep the next part of a stream, and tell whoever sends it; returns how far the stream is."""

    def stored(self, key: str) -> bytes:
        """Return what an earlier attempt has stored. Raises Gone, ServiceUnavailable."""

    def upload(self, field: str) -> AbstractContextManager[IO[bytes]]:
        """Open a file that the request brought, while the `with` block lasts. Raises Gone, ServiceUnavailable."""


class Handler(Generic[I, O]):
    """Carries out the items of the kinds that name it. A simple one has `carry_out` and nothing else."""

    #: Most items it takes in one run; a model's batch size, else 1.
    batch: int = 1
    #: Runs that may go on at once in a process; more than 1 only for what waits on the network, 0: none for now.
    slots: int = 1
    #: Whether items that were lost with their process come back together: for those that are one request to somebody
    #: else, of which 10,000 would be made otherwise. Only where no item can be what ended the process.
    comes_back_together: bool = False

    def __init__(self, resources: Resources) -> None:
        """Make the handler of a process, not set up yet."""
        self.resources = resources

    @property
    def settings(self) -> Settings:
        """What the operator has set."""
        return self.resources.settings

    def setup(self) -> None:
        """Load what is needed, once a process. Raises NotReady."""

    def offers(self) -> Sequence[Offer]:
        """Return what its engines can do now."""
        return ()

    def run(self, tasks: Sequence[Task[I]]) -> Sequence[Outcome[O]]:
        """Return one outcome a task, in order. An exception counts for all of them."""
        return [self.carry_out(task) for task in tasks]

    def carry_out(self, task: Task[I]) -> Outcome[O]:
        """Return what became of one task."""
        raise NotImplementedError


@runtime_checkable
class Watchable(Protocol):
    """A handler whose offers change while it runs: an engine behind a network comes and goes."""

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change`, from any thread, whenever the offers have changed."""


@runtime_checkable
class Apart(Protocol):
    """A handler whose runs take no other handler's slots, and whose slots no other's runs take."""

    runs_apart: bool


@runtime_checkable
class UsesDatabase(Protocol):
    """A handler that reads or writes a table of its own."""

    def use(self, database: Database) -> None:
        """Take the database; called once, before anything else."""


@runtime_checkable
class Gated(UsesDatabase, Protocol):
    """A handler that may not always claim: a pace or a breaker stands before its items, which stay as they are."""

    def admit(self, lanes: Sequence[str], room: int) -> Mapping[str, int]:
        """Return how many runs of each lane may be claimed now, at most `room`; of lanes that are missing, none."""

    def claimed(self, lane: str | None, runs: int) -> None:
        """Learn how many runs of which admitted lane were claimed; None: nothing was."""

    def pause(self) -> timedelta | None:
        """Return how long it will be until what is there may be claimed; None: nothing is, or nobody knows."""
