"""What a kind is: everything that the API, the workers and the documents know of one thing that can be asked for."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import IO, Any, ClassVar, Generic, Protocol, TypeVar, runtime_checkable
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from pipeline.database import Database
from pipeline.errors import PressroomError
from pipeline.jobs import Item, Job
from pipeline.offers import Offer, Offers
from pipeline.settings import Settings
from pipeline.streams import Parts


class Request(BaseModel):
    """The fields of a kind's request. JSON is read strictly: a number in quotes is not a number."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False)


R = TypeVar("R", bound=Request)


@dataclass(frozen=True, slots=True)
class Part:
    """An item to be made: what its worker needs to know, and the most it may cost, in credits."""

    input: Mapping[str, Any]
    price: int


@dataclass(frozen=True, slots=True)
class FileLink:
    """Stands in a response's media for the URL of an artifact, which needs no key until it expires."""

    artifact: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Response:
    """What a route answers: JSON `media`, with FileLinks in it, or the bytes under `artifacts`, one after the other."""

    media: Any = None
    artifacts: Sequence[str] = ()
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200


# What can become of an item in its handler.


@dataclass(frozen=True, slots=True)
class Done:
    """Delivered; `credits` None is the full price. `engine` is the one that did it."""

    output: Mapping[str, Any]
    engine: str
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
    """Given back untouched (shutdown, a closed breaker): again later, which counts for nothing."""

    after: timedelta = timedelta()


Outcome = Done | Failed | Retry | Release


class Task(Protocol):
    """One item in its handler's hands."""

    job_id: UUID
    index: int
    input: Mapping[str, Any]
    price: int
    attempts: int
    checkpoint: Mapping[str, Any] | None

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

    def add_part(self, data: bytes, *, done: float, total: float, credits: int, engine: str) -> Parts:
        """Keep the next part of a stream, and tell whoever sends it; returns how far the stream is."""

    def stored(self, key: str) -> bytes:
        """Return what an earlier attempt has stored. Raises Gone, ServiceUnavailable."""

    def upload(self, field: str) -> AbstractContextManager[IO[bytes]]:
        """Open a file that the request brought, while the `with` block lasts. Raises Gone, ServiceUnavailable."""


class Handler(Protocol):
    """Carries out items of the kinds that name it, with the engines of its family."""

    #: Most items it takes in one run; a model's batch size, else 1.
    batch: int
    #: Runs that may go on at once in a process; more than 1 only for what waits on the network.
    slots: int

    def setup(self) -> None:
        """Load what is needed, once a process. Raises NotReady."""

    def offers(self) -> Sequence[Offer]:
        """Return what its engines can do now."""

    def run(self, tasks: Sequence[Task]) -> Sequence[Outcome]:
        """Return one outcome a task, in order. An exception counts for all of them."""


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
class Gated(Handler, Protocol):
    """A handler that may not always claim: a pace or a breaker stands before its items, which stay as they are."""

    def use(self, database: Database) -> None:
        """Take the database that its gate is in; called once, before anything else."""

    def admit(self, kinds: Sequence[str], room: int) -> Mapping[str, int]:
        """Return how many runs of each kind may be claimed now, at most `room`; of kinds that are missing, none."""

    def claimed(self, kind: str | None, runs: int) -> None:
        """Learn how many runs of which admitted kind were claimed; None: nothing was."""

    def pause(self) -> timedelta | None:
        """Return how long it will be until what is there may be claimed; None: nothing is, or nobody knows."""


class Kind(Generic[R]):
    """One thing that can be asked for. A subclass in pipeline/kinds declares all of it, and nothing else does."""

    name: ClassVar[str]
    queue: ClassVar[str]
    #: Paths it is asked at.
    routes: ClassVar[tuple[str, ...]]
    #: Dotted path, `module:class`, of its handler; only workers import it.
    handler: ClassVar[str]
    #: What its progress counts.
    unit: ClassVar[str]
    summary: ClassVar[str]
    #: A request that shows what it does: in the documents, and in the demo.
    example: ClassVar[Mapping[str, Any]]
    #: Content types it takes; files among the form's fields.
    files: ClassVar[tuple[str, ...]] = ()
    #: Whether its answer is sent while it is made, as parts; its only item's output is then that of `Parts`.
    streams: ClassVar[bool] = False
    #: Whether a job without a single success has an answer all the same, rather than its first item's error.
    answers_failed: ClassVar[bool] = False
    #: Request fields that its items hold, so the job need not.
    bulky: ClassVar[frozenset[str]] = frozenset()
    #: Items of an account in one round, before everybody else's turn comes (docs/architecture.md, Fair rounds).
    slice_size: ClassVar[int] = 1
    #: A run past this ends its process.
    run_limit: ClassVar[timedelta] = timedelta(minutes=10)
    #: So does one that tells of no progress for so long; None: it need not tell.
    stall_limit: ClassVar[timedelta | None] = None
    #: None: the settings' own.
    deadline: ClassVar[timedelta | None] = None
    keep_for: ClassVar[timedelta | None] = None
    max_body_bytes: ClassVar[int | None] = None
    #: How the answer is documented: content type, and the schema of a JSON one.
    answer_type: ClassVar[str] = "application/json"
    answer: ClassVar[type[BaseModel] | None] = None
    #: Content types of texts that a request may ask for instead.
    other_answer_types: ClassVar[tuple[str, ...]] = ()
    #: The schema of what `receipt` answers, with 201.
    created: ClassVar[type[BaseModel] | None] = None

    request: type[R]

    def configured(self, settings: Settings) -> "Kind[R]":
        """Return the kind with the limits that the operator wants."""
        return self

    def check(self, request: R, offers: Offers) -> None:
        """Refuse what the fields' types can't, such as a voice that no engine has. Raises InvalidRequest."""

    def requests(self, request: R) -> int:
        """Return how many requests it counts as, towards rate limits."""
        return 1

    def claimed_as(self, request: R) -> str:
        """Return the kind that its items are claimed as: another of the same handler, whose runs or pace they share."""
        return self.name

    def receipt(self, job: Job) -> Response | None:
        """Return what a request is answered at once; None: it waits for its job, or as its headers say."""
        return None

    def parts(self, request: R) -> list[Part]:
        """Return the items that the request is made of, with their prices."""
        raise NotImplementedError

    def response(self, job: Job, items: Sequence[Item]) -> Response:
        """Return the answer to a request whose job delivered something. Pure."""
        raise NotImplementedError
