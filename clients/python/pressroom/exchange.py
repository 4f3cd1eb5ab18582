"""Exchange: the steps of a flow, such as a request to send or a pause.

A flow is a generator that yields steps, gets their outcomes, and returns a result. So each capability is written once,
and a short runner carries it out, with or without asyncio. Authentication in httpx works alike (`auth_flow`)."""

from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import IO, Any, Generic, Literal, TypeAlias, TypeVar

from pressroom.files import Upload, open_upload

T = TypeVar("T")

#: How to read the body of an answer below 400: at once, in pieces, or as server-sent events.
Reading = Literal["whole", "pieces", "events"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A request; a `repeatable` one has the same outcome however often it is sent."""

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Any] | None = None
    files: Mapping[str, Upload] = field(default_factory=dict)
    #: Bytes that are the body.
    content: bytes | None = None
    repeatable: bool = True
    #: Longest silence of the service, in seconds, before the connection counts as lost.
    silence: float = 60.0

    @contextmanager
    def body(self) -> Iterator[dict[str, Any]]:
        """Return the body for httpx2; its files stay open until the block ends, to be read while they are sent."""
        if self.content is not None:
            yield {"content": self.content}
            return
        if not self.files:
            yield {} if self.fields is None else {"json": dict(self.fields)}
            return
        with ExitStack() as opened:
            files: dict[str, tuple[str, IO[bytes]]] = {}
            for name, upload in self.files.items():
                files[name] = (name, opened.enter_context(open_upload(upload)))
            yield {"data": {name: _form_text(value) for name, value in (self.fields or {}).items()}, "files": files}


def _form_text(value: Any) -> Any:
    """Return how a form says a value: lists are texts with commas, since it may have no field twice."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else value


@dataclass(frozen=True, slots=True)
class Send:
    """Send a request. The outcome is an httpx2.Response, or an httpx2.TransportError is raised."""

    ask: Ask
    reading: Reading = "whole"


@dataclass(frozen=True, slots=True)
class Read:
    """Read on in the last answer. The outcome is a piece or an event, and None at the end."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """Pause for some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Emit(Generic[T]):
    """Give a value to the caller's loop."""

    value: T


Step: TypeAlias = Send | Read | Sleep
Flow: TypeAlias = Generator[Step, Any, T]
StreamFlow: TypeAlias = Generator[Step | Emit[T], Any, None]
