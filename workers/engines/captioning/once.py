"""Once: pictures go through a vision tower once, however many questions are asked about them."""

import functools
from types import TracebackType
from typing import Any


class Once:
    """Keeps what a model's `get_image_features` gave, while its context lasts, for the same pictures.

    Every vision model of transformers has that method, under the same name; what it takes and gives differs. A model
    without it looks at its pictures again for each question.
    """

    def __init__(self, model: Any) -> None:
        self._kept: tuple[dict[str, Any], Any] | None = None
        self._look = getattr(model, "get_image_features", None)
        if self._look is not None:
            # generate() reads its parameters' names.
            model.get_image_features = functools.wraps(self._look)(
                lambda *given, **named: self._looked(*given, **named)
            )

    def __enter__(self) -> None:
        self._kept = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._kept = None

    def _looked(self, *positional: Any, **named: Any) -> Any:
        given = {**{str(place): value for place, value in enumerate(positional)}, **named}
        if self._kept is None or not _are_same(self._kept[0], given):
            assert self._look is not None  # noqa: S101 - it is what this stands in for
            self._kept = given, self._look(*positional, **named)
        return self._kept[1]


def _are_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(_is_same(value, other[name]) for name, value in one.items())


def _is_same(one: Any, other: Any) -> bool:
    import torch

    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape == other.shape and torch.equal(one, other)
    return bool(one is other or (not isinstance(one, torch.Tensor) and one == other))
