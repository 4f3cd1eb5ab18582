"""Document: what all of them have in common."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from pressroom.errors import NotPressroom


class Document(BaseModel):
    """An answer's JSON. `model_dump()` returns all of it, also fields that are newer than this release."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())

    @classmethod
    def read(cls, given: Any) -> Self:
        """Return the document that JSON is. Raises NotPressroom."""
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise NotPressroom(f"What answers at that address is no Pressroom: it gives no {cls.__name__}.") from error
