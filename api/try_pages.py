"""Try pages: how the kinds of a capability are tried in the dashboard. Its routes declare them as TRY."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pipeline.offers.offers import Offers

#: What a choice offers, as pairs of value and label, of what the engines can do now.
Choices = Callable[[Offers], Sequence[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class Call:
    """How the Python package asks for a kind: `pressroom.<method>(<first>, …)`.

    `first` is the field, or the file, that is given by its place. Others have their own names, or those of `rename`."""

    #: None: by the method for any route.
    method: str | None = None
    first: str | None = None
    rename: Mapping[str, str] = field(default_factory=dict)
    #: Fields that the method has no name for; they go into its `more`.
    more: tuple[str, ...] = ()
    #: Lines behind the call, which has returned `answer`.
    then: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return it as the page's script reads it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Trial:
    """A kind on its page: the name of the choice, its price in words, its call, and the file that its answer is."""

    kind: str
    label: str
    price: str
    call: Call
    #: None: the answer is a document, which is shown.
    saves: str | None = None


@dataclass(frozen=True, slots=True)
class TryPage:
    """A page under /dashboard/try on which some kinds of a family are tried."""

    slug: str
    title: str
    #: What happens here, in a sentence.
    lead: str
    trials: tuple[Trial, ...]
    #: Kinds that the page's script asks for besides.
    besides: tuple[str, ...] = ()
    #: Families of engines that do the work.
    engines: tuple[str, ...] = ()
    #: Request fields that everybody sees; the others stand under "More settings".
    main: tuple[str, ...] = ()
    #: Request fields that begin with the value of the first kind's example.
    filled: tuple[str, ...] = ()
    #: What others begin with, instead of their default.
    starts: Mapping[str, Any] = field(default_factory=dict)
    #: Request fields that the page leaves out.
    hidden: tuple[str, ...] = ("source",)
    #: Words for fields whose names say too little, and how fields are entered that their types don't tell.
    labels: Mapping[str, str] = field(default_factory=dict)
    controls: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, Choices] = field(default_factory=dict)
    #: Types of files that each file field suggests.
    accepts: Mapping[str, str] = field(default_factory=dict)
    #: Files of api/dashboard, or of the folder `dashboard` of the capability.
    template: str = "try/page.html"
    script: str = "try_any.js"
    submit: str = "Try it"
    #: Place in the navigation.
    order: int = 0

    @property
    def path(self) -> str:
        """The page's address."""
        return f"/dashboard/try/{self.slug}"

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds that are tried here."""
        return (*(trial.kind for trial in self.trials), *self.besides)
