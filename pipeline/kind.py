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

    null means "not sent", except in the `cleared` fields, where it deletes the stored value. Errors don't quote the
    request, because they may end up in a log."""

    model_config = ConfigDict(extra="ignore", allow_inf_nan=False, hide_input_in_errors=True)

    cleared: ClassVar[frozenset[str]] = frozenset()


#: JSON Schema of a text that is not blank, by Python's idea of white space.
NOT_BLANK: JsonDict = {"minLength": 1, "pattern": r"[^\s\u001c-\u001f\u0085]"}


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


#: Accepts 360.0 for an integer field, as JSON Schema does; the last part of the field's `Annotated`.
WHOLE = BeforeValidator(_whole)


class Stored(BaseModel):
    """JSON that an item's row keeps. Newer code reads older rows: fields are only added, with defaults."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True, hide_input_in_errors=True)


#: Prefix of a field whose value is an uploaded file; the file's name follows.
UPLOADED = "upload:"

#: Origin of an answer: a model or synthesiser; rules that draw or mix; or the input, which it quotes.
Origin = Literal["synthetic", "composed", "extracted"]


@dataclass(frozen=True, slots=True)
class ManyFiles:
    """A file that a form may repeat: each becomes an entry of the request's list, which the form's texts describe.

    An entry's `field` says `upload:FILE.PLACE`, and its `name` is that of the file."""

    file: str
    list: str
    field: str
    entry: type[BaseModel]


R = TypeVar("R", bound=Request)
I = TypeVar("I", bound=BaseModel)  # noqa: E741  as in Kind[Request, Input, Output]
O = TypeVar("O", bound=BaseModel)  # noqa: E741


def as_json(stored: BaseModel) -> dict[str, Any]:
    """Return an input or an output as it is stored, without defaults."""
    return stored.model_dump(mode="json", by_alias=True, exclude_unset=True)


class NewItem(NamedTuple, Generic[I]):
    """A new item: its input, its highest price in credits, and its lane (None: the lane named after the kind).

    Items of one lane are claimed together and share one pace."""

    input: I
    price: int
    lane: str | None = None


def as_rows(items: Sequence[NewItem[Any]]) -> list[tuple[dict[str, Any], int, str | None]]:
    """Return new items in the form of a submission. All inputs are dumped at once: a third faster for 10,000 URLs."""
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
    """A finished item, for its kind's answer. A failed one has an `error` and no `output`.

    `input` is None unless `Answer.shows_inputs`."""

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
    """A placeholder in a response's media for the signed URL of an artifact."""

    artifact: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Response:
    """A route's answer: JSON `media`, which may contain FileLinks, or the bytes of `artifacts` one after another."""

    media: Any = None
    artifacts: Sequence[str] = ()
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    status: int = 200


def fitting_headers(headers: Mapping[str, str | None]) -> dict[str, str]:
    """Return headers without those that are empty, or whose text no header can hold."""
    return {name: text for name, text in headers.items() if text and text.isascii() and text.isprintable()}


@dataclass(frozen=True, slots=True)
class Limits:
    """Time and size limits of a kind's work, and its share of a fair round. None: as the settings say."""

    #: A longer run ends its process.
    run: timedelta = timedelta(minutes=10)
    #: So does a run that for so long neither reports progress nor asks whether to stop; None: it need not.
    stall: timedelta | None = None
    deadline: timedelta | None = None
    keep_for: timedelta | None = None
    body_bytes: int | None = None
    #: Items of an account in one round (docs/architecture.md, Fair rounds).
    slice_size: int = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """The form of a kind's answer."""

    content_type: str = "application/json"
    #: Model of a JSON answer, or of the JSON that a request may ask for in place of a file.
    model: type[BaseModel] | None = None
    #: Content types that a request may ask for instead.
    alternatives: tuple[str, ...] = ()
    #: Model of the immediate 201 answer of a kind that nobody waits for.
    receipt: type[BaseModel] | None = None
    #: True if it shows the items' inputs, which are then read as well.
    shows_inputs: bool = False
    #: True if a job without any success has an answer, rather than its first item's error.
    without_success: bool = False


class Kind(Generic[R, I, O]):
    """One thing that can be asked for: its request, and the inputs and outputs of its items.

    A capability declares it as a subclass; a simple one needs the required attributes alone."""

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
    #: The unit of its progress.
    unit: ClassVar[str] = "items"
    #: Files among the request's form fields.
    files: ClassVar[tuple[str, ...]] = ()
    #: Files by the field that each may be sent in place of, which then says `upload:NAME`. Such a request is a form.
    uploads: ClassVar[Mapping[str, str]] = MappingProxyType({})
    #: Advice for a file that is too large for a form, as a sentence.
    larger_files: ClassVar[str | None] = None
    #: The field that names a resumable upload (docs/uploads.md), which its job then uses.
    resumable: ClassVar[str | None] = None
    #: A file that is sent once for each entry of a list. Such a request is a form, too.
    many_files: ClassVar[ManyFiles | None] = None
    #: Long request fields: items hold them, and the job's row does not keep a second copy.
    bulky: ClassVar[frozenset[str]] = frozenset()
    #: Other forms of its result: paths with `{job_id}` by their names.
    downloads: ClassVar[Mapping[str, str]] = MappingProxyType({})
    #: Input field that identifies an item to people, where it has no `name`: its text, its URL.
    subject: ClassVar[str | None] = None
    #: Where an item's output has the artifact to show or play for it in a list.
    shown_by: ClassVar[tuple[str, ...]] = ()
    #: True if its answer is streamed in parts; its only item's output is then `streams.Parts`.
    streams: ClassVar[bool] = False
    #: Origin of what it makes, by the engine that made it, "" for any other engine. Empty: it makes nothing.
    origins: ClassVar[Mapping[str, Origin]] = MappingProxyType({})
    #: The lanes of its items; by default the one that has its name.
    lanes: ClassVar[tuple[str, ...]] = ()
    answer: ClassVar[Answer] = Answer()
    limits: Limits = Limits()

    @property
    def field_rules(self) -> Mapping[str, Mapping[str, Any]]:
        """Rules that `check` enforces beside the fields' types, for the OpenAPI document."""
        return {}

    @property
    def takes_files(self) -> bool:
        return bool(self.files or self.uploads or self.many_files)

    @property
    def has_uploads(self) -> bool:
        """True if files of its jobs may lie in the store, to be deleted at their end."""
        return self.takes_files or self.resumable is not None

    @classmethod
    def origin(cls, engine: str | None) -> Origin | None:
        """Return the strongest origin of engines such as llama+drawn; None if nothing was made."""
        if not cls.origins or not engine:
            return None
        found = {cls.origins.get(name, cls.origins[""]) for name in engine.split("+")}
        return next(origin for origin in get_args(Origin) if origin in found)

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
        """Return statements by name that the sweep runs now and then; each deletes some rows and returns how many."""
        return {}

    def chores(self, settings: Settings) -> Mapping[str, Callable[[Database], int]]:
        """Return chores by name, which the sweep runs again and again, each in a thread of its own.

        A chore does what is due and returns how much it did; anything but 0 wakes the kind's pool."""
        return {}

    def breakers(self) -> Statement[list[Breaker]] | None:
        """Return the statement that reads the circuit breakers of its services; None: it has none."""
        return None

    def check(self, request: R, offers: Offers) -> None:
        """Refuse values that the types allow, such as a voice that no engine has. Raises InvalidRequest."""

    def counts_as(self, request: R) -> int:
        """Return how many requests it counts as in rate limits."""
        return 1

    def counts_again(self, items: int) -> int:
        """Return how many requests a retry of so many items counts as."""
        return 1

    def name_of(self, files: Mapping[str, str]) -> str | None:
        """Return a job's name in lists, from the names of its files; None if its input tells more."""
        if self.subject is not None and self.subject not in self.uploads.values():
            return None
        fields = (*self.files, *self.uploads, *filter(None, [self.resumable]))
        return next((files[field] for field in fields if field in files), None)

    def can_repeat(self, given: Mapping[str, Any]) -> bool:
        """Return whether a failed item with this input may be tried again: uploads are deleted with their job."""
        files = (value for value in given.values() if isinstance(value, str))
        if self.files or (self.resumable is not None and given.get(self.resumable)):
            return False
        return not any(self.takes_files and value.startswith(UPLOADED) for value in files)

    def receipt(self, job: Job) -> Response | None:
        """Return the immediate answer to a request; None: the request waits for its job, as its headers say."""
        return None

    def items(self, request: R) -> list[NewItem[I]]:
        """Return the request's items with their prices."""
        raise NotImplementedError

    def response(self, job: Job, items: Sequence[FinishedItem[I, O]]) -> Response:
        """Return the answer to a request whose job delivered something. Pure."""
        raise NotImplementedError

    def respond(self, job: Job, rows: Sequence[Item]) -> Response:
        """Return the answer made of the rows of a job's items."""
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
