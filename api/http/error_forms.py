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


class ErrorForms:
    """The forms by the beginnings of the paths that have them; all others have our own."""

    def __init__(self) -> None:
        self._by_prefix: dict[str, ErrorForm] = {}

    def add(self, forms: Mapping[str, ErrorForm]) -> None:
        """Take forms by the beginnings of their paths, such as `/v1/`."""
        self._by_prefix.update(forms)

    def shown(self, path: str, status: int, document: Mapping[str, Any]) -> ShownError:
        """Return how an error is shown at a path."""
        for prefix, form in self._by_prefix.items():
            if path.startswith(prefix):
                return form(status, document)
        return ShownError(status, document)
