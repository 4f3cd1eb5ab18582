"""Key documents: what is sent to make or change a key, and how one is shown."""

from dataclasses import asdict
from typing import Annotated, ClassVar, Self
from uuid import UUID

from pydantic import BaseModel, Field

from pipeline.accounts.keys import MAX_CREDITS, MAX_REQUESTS, KeyLimits
from pipeline.accounts.stored_keys import StoredKey
from pipeline.kind import WHOLE, Request
from pipeline.timestamps import Timestamp

#: Longest name, and most routes that a key may be limited to.
MAX_NAME = 100
MAX_ROUTES = 100
#: A name is shown on one line.
NAME = r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$"

Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME, pattern=NAME)]
Requests = Annotated[int, Field(ge=1, le=MAX_REQUESTS), WHOLE]
Credits = Annotated[int, Field(ge=0, le=MAX_CREDITS), WHOLE]
Routes = Annotated[list[str], Field(min_length=1, max_length=MAX_ROUTES)]

REQUESTS = "Requests that it may make in a minute; null: as many as the account."
CREDITS = "Credits that it may use in a calendar month (UTC); null: as many as the account has."
ROUTES = "Paths that it may be used for, such as /tts; null: all."


class KeyRequest(Request):
    """A key to be made."""

    name: Name = Field(description="What the key is for.")
    requests_per_minute: Requests | None = Field(None, description=REQUESTS)
    credits_per_month: Credits | None = Field(None, description=CREDITS)
    routes: Routes | None = Field(None, description=ROUTES)

    @property
    def limits(self) -> KeyLimits:
        """Return the key's limits."""
        routes = None if self.routes is None else tuple(dict.fromkeys(self.routes))
        return KeyLimits(self.requests_per_minute, self.credits_per_month, routes)


class KeyChanges(Request):
    """What is changed of a key; what is not sent stays."""

    cleared: ClassVar[frozenset[str]] = frozenset({"requests_per_minute", "credits_per_month", "routes"})

    name: Name | None = Field(None, description="What the key is for.")
    requests_per_minute: Requests | None = Field(None, description=REQUESTS)
    credits_per_month: Credits | None = Field(None, description=CREDITS)
    routes: Routes | None = Field(None, description=ROUTES)


class Key(BaseModel):
    """A key as its account sees it; its secret is shown when it is made, and never again."""

    id: UUID
    name: str
    hint: str = Field(description="The end of its secret.")
    requests_per_minute: int | None = Field(description=REQUESTS)
    credits_per_month: int | None = Field(description=CREDITS)
    routes: list[str] | None = Field(description=ROUTES)
    credits_used_this_month: int = Field(description="Captured since the month began (UTC).")
    credits_held: int = Field(description="Set aside for its jobs that have not ended; they count against the month's.")
    created_at: Timestamp
    last_used_at: Timestamp | None

    @classmethod
    def of(cls, key: StoredKey) -> Self:
        """Return a key for its account."""
        return cls.model_validate(asdict(key))


class KeyCreated(Key):
    """A key that was just made."""

    api_key: str = Field(description="The secret. It is shown this once.")
