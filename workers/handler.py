"""Handler: carries out the items of some kinds; its tasks and its outcomes."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Any, Generic, Protocol, TypeVar
from uuid import UUID

from pydantic import BaseModel

from pipeline.database import Database
from pipeline.errors import PressroomError
from pipeline.offers.offers import Offer
from pipeline.settings import Settings
from pipeline.storage.streams import Parts
from workers.engines.resources import Resources
from workers.engines.tokens import Tokens
from workers.media.marks.marking import Made

I = TypeVar("I", bound=BaseModel)  # noqa: E741
O = TypeVar("O", bound=BaseModel)  # noqa: E741
I_co = TypeVar("I_co", bound=BaseModel, covariant=True)
O_co = TypeVar("O_co", bound=BaseModel, covariant=True)


@dataclass(frozen=True, slots=True)
class Done(Generic[O_co]):
    """Delivered. `credits` None means the full price; `engine` names the program, if there is a choice.

    `models` are the names of those that it ran, for the receipt."""

    output: O_co
    engine: str | None = None
    credits: int | None = None
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """Failed for good; `credits` pay for the part that was delivered, if any."""

    error: PressroomError
    credits: int = 0


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again later; counts as an attempt."""

    after: timedelta
    error: PressroomError


@dataclass(frozen=True, slots=True)
class Release:
    """Give the item back untouched, as at shutdown; counts no attempt. `lane` moves it to another lane of its kind."""

    after: timedelta = timedelta()
    lane: str | None = None


#: The ways in which a handler is done with an item.
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
    tokens: Tokens

    @property
    def input(self) -> I_co:
        """The input that the kind stored."""

    def is_stopped(self) -> bool:
        """Return whether the item was cancelled, expired or lost, so that more work is in vain."""

    def progress(
        self, done: float, total: float, *, credits: int | None = None, checkpoint: Mapping[str, Any] | None = None
    ) -> None:
        """Note the item's progress, in the kind's unit; the next heartbeat writes it."""

    def raise_hold(self, credits: int) -> None:
        """Hold `credits` in total before going on. Raises InsufficientCredits."""

    def save(self, checkpoint: Mapping[str, Any]) -> None:
        """Write the checkpoint now, for an attempt elsewhere."""

    def store(
        self, data: bytes | IO[bytes], *, suffix: str = "", keep_for: timedelta | None = None, made: Made | None = None
    ) -> str:
        """Store bytes or an open file as an artifact, marked if a machine `made` it; returns its key.

        It is kept as long as the job's result, or for `keep_for` if that is longer. Raises NotMarked."""

    def add_part(self, data: bytes, *, done: float, total: float, credits: int, engine: str, **about: str) -> Parts:
        """Store the next part of a stream and announce it, with its voice and a warning; return the parts so far."""

    def stored(self, key: str) -> bytes:
        """Return an artifact that an earlier attempt stored. Raises Gone, ServiceUnavailable."""

    def upload(self, field: str) -> AbstractContextManager[IO[bytes]]:
        """Open an uploaded file for a `with` block. Raises Gone, ServiceUnavailable."""

    def resumable_upload(self) -> AbstractContextManager[IO[bytes]]:
        """Open the resumable upload that the job uses. Raises Gone, ServiceUnavailable."""

    def keep_upload(self, field: str, file: IO[bytes]) -> None:
        """Store a file as if it had been uploaded, so that another attempt finds it. Raises ServiceUnavailable."""


class Handler(Generic[I, O]):
    """Carries out the items of the kinds that name it. A simple one overrides `carry_out` alone."""

    #: Most items in one run: a model's batch size, else 1.
    batch: int = 1
    #: Runs at once in a process. More than 1 suits work that waits on the network; 0 claims nothing for now.
    slots: int = 1
    #: True if its slots are its own, apart from those that a process's other handlers share.
    runs_apart: bool = False
    #: True if items lost with their process come back in one run. Only for items that make one request to another
    #: service together, and that can't be the reason why the process ended.
    comes_back_together: bool = False

    def __init__(self, resources: Resources) -> None:
        """Make the handler of a process, not set up yet."""
        self.resources = resources

    @property
    def settings(self) -> Settings:
        """The operator's settings."""
        return self.resources.settings

    def use(self, database: Database) -> None:
        """Take the database, for a handler with a table of its own; called once, first."""

    def setup(self) -> None:
        """Load what the work needs, once a process. Raises NotReady."""

    def offers(self) -> Sequence[Offer]:
        """Return what its engines can do now."""
        return ()

    def watch(self, on_change: Callable[[], None]) -> None:
        """Call `on_change`, from any thread, whenever the offers change."""

    def admit(self, lanes: Sequence[str], room: int) -> Mapping[str, int]:
        """Return how many runs of each lane to claim now, at most `room`; none of a lane that is missing.

        A pace or a breaker admits fewer, and the items stay ready. By default a claim takes one run of a lane and
        leaves the rest to other processes; work that waits on the network admits as many as it has room for."""
        return dict.fromkeys(lanes, 1)

    def claimed(self, lane: str | None, runs: int) -> None:
        """Note which of the admitted lanes was claimed, and how many runs; None if nothing was."""

    def pause(self) -> timedelta | None:
        """Return the time until a claim is admitted again, or None if nothing waits for one."""
        return None

    def run(self, tasks: Sequence[Task[I]]) -> Sequence[Outcome[O]]:
        """Return one outcome a task, in order. An exception counts for all of them."""
        return [self.carry_out(task) for task in tasks]

    def carry_out(self, task: Task[I]) -> Outcome[O]:
        """Return the outcome of one task."""
        raise NotImplementedError
