"""Key documents: requests to create or change a key, and a new one."""

from typing import Annotated, ClassVar

from pydantic import Field

from pipeline.accounts.keys import MAX_CREDITS, MAX_REQUESTS, KeyLimits
from pipeline.accounts.stored_keys import CREDITS, ENDS, PRIORITY, REQUESTS, ROUTES, Key
from pipeline.kind import WHOLE, Request
from pipeline.lifecycle import Priority

#: Longest name, and most routes of a key.
MAX_NAME = 100
MAX_ROUTES = 100
#: A name is shown on one line.
NAME = r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$"

Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME, pattern=NAME)]
Requests = Annotated[int, Field(ge=1, le=MAX_REQUESTS), WHOLE]
Credits = Annotated[int, Field(ge=0, le=MAX_CREDITS), WHOLE]
Routes = Annotated[list[str], Field(min_length=1, max_length=MAX_ROUTES)]


class KeyRequest(Request):
    """A new key."""

    name: Name = Field(description="The use of the key.")
    requests_per_minute: Requests | None = Field(None, description=REQUESTS)
    credits_per_month: Credits | None = Field(None, description=CREDITS)
    routes: Routes | None = Field(None, description=ROUTES)
    priority: Priority = Field("normal", description=PRIORITY)
    ends_with_person: bool = Field(False, description=ENDS)

    @property
    def limits(self) -> KeyLimits:
        routes = None if self.routes is None else tuple(dict.fromkeys(self.routes))
        return KeyLimits(self.requests_per_minute, self.credits_per_month, routes, self.priority)


class KeyChanges(Request):
    """Changes of a key; fields not sent stay."""

    cleared: ClassVar[frozenset[str]] = frozenset({"requests_per_minute", "credits_per_month", "routes"})

    name: Name | None = Field(None, description="The use of the key.")
    requests_per_minute: Requests | None = Field(None, description=REQUESTS)
    credits_per_month: Credits | None = Field(None, description=CREDITS)
    routes: Routes | None = Field(None, description=ROUTES)
    priority: Priority = Field("normal", description=PRIORITY)


class KeyCreated(Key):
    """A new key with its secret."""

    api_key: str = Field(description="The secret, shown only once.")
