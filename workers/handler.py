"""Handler: carries out the items of some kinds; its outcomes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar

from pydantic import BaseModel

from pipeline.database import Database
from pipeline.errors import PressroomError
from pipeline.offers.offers import Offer
from pipeline.settings import Settings
from workers.engines.resources import Resources
from workers.task import Task as Task

I = TypeVar("I", bound=BaseModel)  # noqa: E741
O = TypeVar("O", bound=BaseModel)  # noqa: E741
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
        """Load the needs of the work, once a process. Raises NotReady."""

    def offers(self) -> Sequence[Offer]:
        """Return its engines' current offers."""
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
