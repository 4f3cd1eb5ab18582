"""Try pages: dashboard pages to try kinds, declared as TRY by the routes of capabilities."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from pipeline.offers.offers import Offers

#: Values and labels of a choice, from the engines' offers.
Choices = Callable[[Offers], Sequence[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class Call:
    """The Python package's call for a kind: `pressroom.<method>(<first>, …)`.

    `first` is the positional field or file. Others are keyword arguments, renamed by `rename`."""

    #: None: the method for any route.
    method: str | None = None
    first: str | None = None
    rename: Mapping[str, str] = field(default_factory=dict)
    #: Fields that go into the method's `more`.
    more: tuple[str, ...] = ()
    #: Lines after the call, which returned `answer`.
    then: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Trial:
    """A kind on its page: label, price in words, call, and the file name of its answer."""

    kind: str
    label: str
    price: str
    call: Call
    #: None: the answer is a document to show.
    saves: str | None = None
    #: Characters that one credit buys, if the page counts them, and credits on top.
    per_credit: int | None = None
    more_credits: int = 0


@dataclass(frozen=True, slots=True)
class Bulk:
    """Many at once on a page: its file field takes several, or a list, whose columns fill fields of a kind.

    `columns` are the names by which a column is known, by field; the first field is required. A column `name` names the
    row, whether or not the kind has such a field."""

    file: str
    kind: str
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    #: Endings of lists that the file field takes.
    lists: ClassVar[str] = ".csv,.tsv,.xlsx,.xlsb,.xls,.ods"


@dataclass(frozen=True, slots=True)
class TryPage:
    """A page under /dashboard/try."""

    slug: str
    title: str
    #: One sentence about the page.
    lead: str
    trials: tuple[Trial, ...]
    #: Further kinds that the page's script uses.
    besides: tuple[str, ...] = ()
    #: Engine families that do the work.
    engines: tuple[str, ...] = ()
    #: Fields shown first; others are under "More settings".
    main: tuple[str, ...] = ()
    #: Fields filled with the first kind's example.
    filled: tuple[str, ...] = ()
    #: Initial values of other fields.
    starts: Mapping[str, Any] = field(default_factory=dict)
    #: Fields to hide.
    hidden: tuple[str, ...] = ("source",)
    #: Labels and controls that differ from the field's name and type.
    labels: Mapping[str, str] = field(default_factory=dict)
    #: Hints in the words of readers, where the API's are those of programmers.
    abouts: Mapping[str, str] = field(default_factory=dict)
    controls: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, Choices] = field(default_factory=dict)
    #: File types by file field.
    accepts: Mapping[str, str] = field(default_factory=dict)
    #: The parameter by which it shows a job that it made; None: it fills its form with what the job was asked.
    shows_by: str | None = None
    #: How many it takes at once, if several.
    bulk: Bulk | None = None
    #: Files of api/dashboard, or of the folder `dashboard` of the capability.
    template: str = "try/page.html"
    script: str = "try_any.js"
    submit: str = "Try it"
    #: An icon of api/dashboard/static/icons.svg.
    icon: str = "sparkles"
    #: Place in the navigation.
    order: int = 0

    @property
    def path(self) -> str:
        return f"/dashboard/try/{self.slug}"

    @property
    def kinds(self) -> tuple[str, ...]:
        return (*(trial.kind for trial in self.trials), *self.besides)
