"""Documents: the service's answers as typed objects. They keep fields that this release does not know."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, ClassVar, Self, dataclass_transform, get_args, get_origin, get_type_hints

from pressroom.errors import NotPressroom


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
class Document:
    """An answer's JSON as attributes. Subclasses are frozen dataclasses."""

    _types: ClassVar[Mapping[str, Any]]

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)
        cls._types = get_type_hints(cls)

    @classmethod
    def read(cls, given: Any) -> Self:
        """Return the document in some JSON. Raises NotPressroom."""
        types = cls._types
        try:
            made = cls(**{name: _read(types[name], value) for name, value in given.items() if name in types})
        except (AttributeError, TypeError, ValueError) as error:
            raise NotPressroom(
                f"The server at that address is not Pressroom: its answer is not a {cls.__name__}."
            ) from error
        vars(made).update({name: value for name, value in given.items() if not hasattr(made, name)}, _given=given)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON that it was read from, including fields that are newer than this release."""
        given: Mapping[str, Any] = vars(self).get("_given") or asdict(self)  # type: ignore[call-overload]  # see above
        return dict(given)


def _read(wanted: Any, value: Any) -> Any:
    """Return a JSON value as a type. Raises TypeError, ValueError, NotPressroom."""
    if get_origin(wanted) is UnionType:
        if value is None:
            return None
        (wanted,) = (one for one in get_args(wanted) if one is not NoneType)
    if wanted is Any:
        return value
    if wanted is datetime:
        return datetime.fromisoformat(value)
    plain: Any = get_origin(wanted) or wanted
    if issubclass(plain, Document):
        return plain.read(value)
    if not isinstance(value, (int, float) if plain is float else plain):
        raise TypeError(f"{value!r} is no {plain.__name__}")
    if isinstance(value, list):
        return [_read(get_args(wanted)[0], one) for one in value]
    return value
