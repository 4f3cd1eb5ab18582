"""Documents: the service's answers as typed objects. They keep fields that this release does not know."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from pressroom.errors import NotPressroom


class Document(BaseModel):
    """An answer's JSON. `model_dump()` returns all of it, including fields that are newer than this release."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())

    @classmethod
    def read(cls, given: Any) -> Self:
        """Return the document in some JSON. Raises NotPressroom."""
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise NotPressroom(
                f"The server at that address is no Pressroom: its answer is no {cls.__name__}."
            ) from error
