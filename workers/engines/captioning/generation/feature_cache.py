"""Feature cache: pictures pass the vision tower once, however many texts are asked of them."""

import functools
from types import TracebackType
from typing import Any


class ImageFeatureCache:
    """A context in which a model's `get_image_features` computes the features of the same pictures once.

    Every vision model of transformers has that method, under the same name; its parameters and results differ. A model
    without it computes the features again for each text.
    """

    def __init__(self, model: Any) -> None:
        self._kept: tuple[dict[str, Any], Any] | None = None
        self._compute = getattr(model, "get_image_features", None)
        if self._compute is not None:
            # generate() reads the names of its parameters, so the wrapper must have them too.
            model.get_image_features = functools.wraps(self._compute)(
                lambda *given, **named: self._features(*given, **named)
            )

    def __enter__(self) -> None:
        self._kept = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._kept = None

    def _features(self, *positional: Any, **named: Any) -> Any:
        given = {**{str(place): value for place, value in enumerate(positional)}, **named}
        if self._kept is None or not _are_same(self._kept[0], given):
            assert self._compute is not None  # noqa: S101 - this method stands in for it
            self._kept = given, self._compute(*positional, **named)
        return self._kept[1]


def _are_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(_is_same(value, other[name]) for name, value in one.items())


def _is_same(one: Any, other: Any) -> bool:
    import torch

    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape == other.shape and torch.equal(one, other)
    return bool(one is other or (not isinstance(one, torch.Tensor) and one == other))
