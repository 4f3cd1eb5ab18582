"""Parts: looking things up in an OpenAPI document."""

from collections.abc import Mapping
from functools import reduce
from operator import getitem
from typing import Any

Json = dict[str, Any]


def resolved(document: Mapping[str, Any], part: Json) -> Json:
    """Return what a part of the document refers to, or the part itself."""
    if "$ref" in part:
        part = reduce(getitem, part["$ref"].removeprefix("#/").split("/"), document)  # type: ignore[arg-type]
    return part


def answer_of(document: Mapping[str, Any], operation: Json) -> tuple[str, Json]:
    """Return the status and the description of what an operation answers when it does what it is asked."""
    responses = operation["responses"]
    status = min(status for status in responses if status.startswith("2"))
    return status, resolved(document, responses[status])


def content_of(operation: Json, *, form: bool = False) -> tuple[str, Json]:
    """Return media type and description of what an operation is sent: as JSON, unless it takes a form alone.

    Both are empty where nothing is sent."""
    content = operation.get("requestBody", {}).get("content", {})
    return next(iter(content.items()), ("", {}))
