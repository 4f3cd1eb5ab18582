"""Exchange: one request and its answer, as a flow describes them.

A flow is a generator. It yields what is to be done, such as a request to send or a pause, gets the outcome, and returns
a result. So each capability is written once, and a runner of a few lines carries it out, with or without asyncio; httpx
has authentication made in the same way (`auth_flow`)."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import IO, Any, Generic, Literal, TypeAlias, TypeVar

from pressroom.uploads import Upload, open_upload

T = TypeVar("T")

#: How the body of an answer below 400 is read: at once, in pieces, or as server-sent events.
Reading = Literal["whole", "pieces", "events"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A request. One that is `repeatable` has the same outcome however often it is sent."""

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Any] | None = None
    files: Mapping[str, Upload] = field(default_factory=dict)
    repeatable: bool = True
    #: Longest silence of the service, in seconds, before the connection counts as lost.
    silence: float = 60.0

    @contextmanager
    def body(self) -> Iterator[dict[str, Any]]:
        """Return the body, for httpx2; its files are open until the block ends, and are read while they are sent."""
        if not self.files:
            yield {} if self.fields is None else {"json": dict(self.fields)}
            return
        with ExitStack() as opened:
            files: dict[str, tuple[str, IO[bytes]]] = {}
            for name, upload in self.files.items():
                files[name] = (name, opened.enter_context(open_upload(upload)))
            yield {"data": form_fields(self.fields or {}), "files": files}


def form_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields as a form has them."""
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in fields.items()}


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request. The outcome is its answer, an httpx2.Response, or an httpx2.TransportError is raised."""

    ask: Ask
    reading: Reading = "whole"


@dataclass(frozen=True, slots=True)
class Read:
    """Read on in the last answer. The outcome is a piece, or an event; None is its end."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """Pause for some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Emit(Generic[T]):
    """Give a value to who iterates."""

    value: T


Step: TypeAlias = Send | Read | Sleep
Flow: TypeAlias = Generator[Step, Any, T]
StreamFlow: TypeAlias = Generator[Step | Emit[T], Any, None]
