"""Kind: all that the API, the workers and the documents know of one thing that can be asked for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter
from pydantic.config import JsonDict

from pipeline.database import Database, Statement
from pipeline.lifecycle.jobs import Item, Job
from pipeline.offers.offers import Breaker, Offers
from pipeline.settings import Settings


class Request(BaseModel):
    """The fields of a kind's request. JSON is read strictly: a number in quotes is not a number.

    A field that is null is one that was not sent, but those in `cleared` take null: it takes what was there away.
    Errors don't quote what was sent: they may end up in a log."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False, hide_input_in_errors=True)

    cleared: ClassVar[frozenset[str]] = frozenset()


#: What a JSON Schema says of a text in which something has to stand; its white space lacks what Python's has besides.
NOT_BLANK: JsonDict = {"minLength": 1, "pattern": r"[^\s\u001c-\u001f\u0085]"}


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


#: Of a field that is a whole number, as the last part of its `Annotated`: JSON Schema takes 360.0 for one, and some
#: languages write it so.
WHOLE = BeforeValidator(_whole)


class Stored(BaseModel):
    """What an item's row keeps, as JSON. Newer code reads older rows: fields are only added, with defaults."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True, hide_input_in_errors=True)


#: What a field begins with in whose place a file was sent; the file's name follows.
UPLOADED = "upload:"

R = TypeVar("R", bound=Request)
I = TypeVar("I", bound=BaseModel)  # noqa: E741  as in Kind[Request, Input, Output]
O = TypeVar("O", bound=BaseModel)  # noqa: E741


def as_json(stored: BaseModel) -> dict[str, Any]:
    """Return an input or an output as it is stored: what was set, and no defaults."""
    return stored.model_dump(mode="json", by_alias=True, exclude_unset=True)


class NewItem(NamedTuple, Generic[I]):
    """An item to be made: what its worker needs to know, the most it may cost in credits, and its lane.

    Items of one lane are claimed together and keep one pace; None is the lane that has the kind's name."""

    input: I
    price: int
    lane: str | None = None


def as_rows(items: Sequence[NewItem[Any]]) -> list[tuple[dict[str, Any], int, str | None]]:
    """Return new items as a submission takes them; their inputs at once, which for 10,000 URLs is a third faster."""
    if not items:
        return []
    model: Any = type(items[0].input)
    inputs = _adapter(model).dump_python([item.input for item in items], mode="json", by_alias=True, exclude_unset=True)
    return [(stored, item.price, item.lane) for stored, item in zip(inputs, items, strict=True)]


@cache
def _adapter(model: Any) -> TypeAdapter[Any]:
    return TypeAdapter(list[model])


@dataclass(frozen=True, slots=True)
class FinishedItem(Generic[I, O]):
    """An item that has ended, for its kind's answer. `output` is None when it failed: `error` then says why.

    `input` is None unless the answer shows inputs (`Answer.shows_inputs`)."""

    input: I | None
    output: O | None
    error: Mapping[str, Any]
    credits: int
    ended_at: datetime

    @property
    def given(self) -> I:
        """Return the input, for an answer that shows it. Raises ValueError."""
        if self.input is None:
            raise ValueError("The item's input was not read.")
        return self.input

    @property
    def delivered(self) -> O:
        """Return the output of an item that did not fail. Raises ValueError."""
        if self.output is None:
            raise ValueError("The item has no output.")
        return self.output


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


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a kind's work may take, how large its request may be, and how its items take turns with others."""

    #: A run past this ends its process.
    run: timedelta = timedelta(minutes=10)
    #: So does a run that reports no progress for so long; None: it need not report any.
    stall: timedelta | None = None
    #: How long a job may take in all, and how long its result is kept; None: as the settings say.
    deadline: timedelta | None = None
    keep_for: timedelta | None = None
    #: None: as the settings say.
    body_bytes: int | None = None
    #: Items of an account in one round, before the turn of everybody else comes (docs/architecture.md, Fair rounds).
    slice_size: int = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """The form of a kind's answer, for the documents and for who waits."""

    content_type: str = "application/json"
    #: Of a JSON answer; of one that a request may ask for instead, where the answer is a file.
    model: type[BaseModel] | None = None
    #: Content types that a request may ask for instead.
    alternatives: tuple[str, ...] = ()
    #: Of what is answered at once, with 201, by a kind that nobody waits for.
    receipt: type[BaseModel] | None = None
    #: Whether it shows what the items were given: their inputs are then read as well.
    shows_inputs: bool = False
    #: Whether a job without a single success has an answer all the same, rather than its first item's error.
    without_success: bool = False


class Kind(Generic[R, I, O]):
    """One thing that can be asked for: its request, what its items store, and what they deliver.

    A subclass in a capability declares all of it. A simple one states what is required here, and nothing else."""

    # Required, with `items` and `response`.
    name: ClassVar[str]
    queue: ClassVar[str]
    #: Paths it is asked at.
    routes: ClassVar[tuple[str, ...]]
    #: Dotted path, `module:class`, of its handler; only workers import it.
    handler: ClassVar[str]
    summary: ClassVar[str]
    #: A request that shows what it does: in the documents, and in the demo.
    example: ClassVar[Mapping[str, Any]]

    # Optional.
    #: What its progress counts.
    unit: ClassVar[str] = "items"
    #: Files among the request's form fields.
    files: ClassVar[tuple[str, ...]] = ()
    #: Files that may be sent in place of a field, each with that field, which then says `upload:NAME`. The
    #: request is then a form, else JSON.
    uploads: ClassVar[Mapping[str, str]] = MappingProxyType({})
    #: Request fields that are long: its items hold them, and the job's row then does not keep them once more.
    bulky: ClassVar[frozenset[str]] = frozenset()
    #: More forms of its result, each a path with `{job_id}`, by what people call them.
    downloads: ClassVar[Mapping[str, str]] = MappingProxyType({})
    #: Field of an item's input that tells people which item it is: its text, its URL.
    subject: ClassVar[str | None] = None
    #: Whether its answer is sent while it is made, as parts; the output of its only item is then `streams.Parts`.
    streams: ClassVar[bool] = False
    #: The lanes of its items; by default the one that has its name.
    lanes: ClassVar[tuple[str, ...]] = ()
    answer: ClassVar[Answer] = Answer()
    limits: Limits = Limits()

    @property
    def field_rules(self) -> Mapping[str, Mapping[str, Any]]:
        """What the OpenAPI document says of fields beside their types: what `check` holds them to."""
        return {}

    @property
    def takes_files(self) -> bool:
        """Whether a request may bring files."""
        return bool(self.files or self.uploads)

    request: type[R]
    input: type[I]
    output: type[O]

    def __init_subclass__(cls) -> None:
        """Keep the three models that a subclass names in its brackets."""
        super().__init_subclass__()
        for base in getattr(cls, "__orig_bases__", ()):
            for name, model in zip(("request", "input", "output"), get_args(base), strict=False):
                setattr(cls, name, model)

    def configured(self, settings: Settings) -> "Kind[R, I, O]":
        """Return the kind with the limits that the operator wants."""
        return self

    def housekeeping(self, settings: Settings) -> Mapping[str, Statement[int]]:
        """Return what the sweep runs now and then: statements by name that delete some rows, and return how many."""
        return {}

    def chores(self, settings: Settings) -> Mapping[str, Callable[[Database], int]]:
        """Return what the sweep does beside its own steps, each in a thread of its own, and each time anew.

        A chore does what is due, and returns how much that was; if it was anything, the kind's pool is woken."""
        return {}

    def breakers(self) -> Statement[list[Breaker]] | None:
        """Return what reads how the services are that its items are asked of; None: there are none."""
        return None

    def check(self, request: R, offers: Offers) -> None:
        """Refuse what the fields' types can't, such as a voice that no engine has. Raises InvalidRequest."""

    def counts_as(self, request: R) -> int:
        """Return how many requests it counts as, towards rate limits."""
        return 1

    def counts_again(self, items: int) -> int:
        """Return how many requests so many items count as that are tried again."""
        return 1

    def can_repeat(self, given: Mapping[str, Any]) -> bool:
        """Return whether an item with this stored input, which failed, may come out otherwise a second time.

        An uploaded file was deleted when its job ended."""
        files = (value for value in given.values() if isinstance(value, str))
        return not self.files and not any(self.uploads and value.startswith(UPLOADED) for value in files)

    def receipt(self, job: Job) -> Response | None:
        """Return what a request is answered at once; None: it waits for its job, or as its headers say."""
        return None

    def items(self, request: R) -> list[NewItem[I]]:
        """Return the items that the request is made of, with their prices."""
        raise NotImplementedError

    def response(self, job: Job, items: Sequence[FinishedItem[I, O]]) -> Response:
        """Return the answer to a request whose job delivered something. Pure."""
        raise NotImplementedError

    def respond(self, job: Job, rows: Sequence[Item]) -> Response:
        """Return the answer that the rows of a job's items make."""
        return self.response(job, [self._finished(row) for row in rows])

    def _finished(self, row: Item) -> FinishedItem[I, O]:
        return FinishedItem(
            input=self.input.model_validate(row.input) if self.answer.shows_inputs else None,
            output=None if row.output is None else self.output.model_validate(row.output),
            error=row.error or {},
            credits=row.captured,
            ended_at=row.updated_at,
        )


AnyKind = Kind[Any, Any, Any]


Source = Literal["web", "api", "extension", "wordpress", "shopify", "batch"]
