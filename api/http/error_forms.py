"""Error forms: how errors are shown where clients of another API expect theirs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ShownError:
    """An error's answer: its status, its body, and headers beside those that all errors have."""

    status: int
    document: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


#: Makes an answer of a status and of an error's document (docs/api.md, Errors), which has its request's id.
ErrorForm = Callable[[int, Mapping[str, Any]], ShownError]
