"""Operations: how a resource declares its methods for the OpenAPI document, where it implements them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

from api.http.parameters import Json, Parameter

Method = TypeVar("Method", bound=Callable[..., Any])

#: The header of an answer that made something.
LOCATION: Mapping[str, Json] = {"Location": {"schema": {"type": "string"}}}


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of an operation: the model of its JSON, other content types that it can have, and headers."""

    meaning: str
    model: Any = None
    content: tuple[str, ...] = ()
    headers: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A decorator of a resource's method, which says what the OpenAPI document says of it.

    Path parameters follow from the path, and the errors that most methods share from the HTTP method."""

    id: str
    tag: str
    summary: str
    replies: Mapping[int, Reply]
    parameters: tuple[Parameter[Any] | Json, ...] = ()
    body: type[BaseModel] | None = None
    needs_body: bool = True
    #: The content type of a body of bytes, in place of JSON; empty: it takes no body.
    bytes_type: str | None = None
    example: Json | None = None
    #: Statuses of errors beside the shared ones.
    errors: tuple[int, ...] = ()
    #: True if it takes no API key; it then answers with the errors above alone.
    is_open: bool = False

    def __call__(self, method: Method) -> Method:
        """Attach the declaration to the method."""
        method.operation = self  # type: ignore[attr-defined]
        return method


def operations_of(resource: Any) -> dict[str, Operation]:
    """Return the declared operations of a resource by HTTP method."""
    methods = ("get", "post", "put", "patch", "delete")
    found = {name: getattr(getattr(resource, f"on_{name}", None), "operation", None) for name in methods}
    return {name: operation for name, operation in found.items() if operation is not None}
