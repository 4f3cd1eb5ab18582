"""Key documents: requests to create or change a key, and how it is shown."""

from dataclasses import asdict
from typing import Annotated, ClassVar, Self
from uuid import UUID

from pydantic import BaseModel, Field

from pipeline.accounts.keys import MAX_CREDITS, MAX_REQUESTS, KeyLimits
from pipeline.accounts.stored_keys import StoredKey
from pipeline.kind import WHOLE, Request
from pipeline.lifecycle import Priority
from pipeline.timestamps import Timestamp

#: Longest name, and most routes of a key.
MAX_NAME = 100
MAX_ROUTES = 100
#: A name is shown on one line.
NAME = r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$"

Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME, pattern=NAME)]
Requests = Annotated[int, Field(ge=1, le=MAX_REQUESTS), WHOLE]
Credits = Annotated[int, Field(ge=0, le=MAX_CREDITS), WHOLE]
Routes = Annotated[list[str], Field(min_length=1, max_length=MAX_ROUTES)]

REQUESTS = "Most requests per minute; null for the account's limit."
CREDITS = "Most credits per calendar month (UTC); null for no limit."
ROUTES = "Paths that it may use, such as /tts; null for all."
PRIORITY = "Of its requests that name none; orders the account's own jobs alone."


class KeyRequest(Request):
    """A new key."""

    name: Name = Field(description="What you use the key for.")
    requests_per_minute: Requests | None = Field(None, description=REQUESTS)
    credits_per_month: Credits | None = Field(None, description=CREDITS)
    routes: Routes | None = Field(None, description=ROUTES)
    priority: Priority = Field("normal", description=PRIORITY)

    @property
    def limits(self) -> KeyLimits:
        """Return the key's limits."""
        routes = None if self.routes is None else tuple(dict.fromkeys(self.routes))
        return KeyLimits(self.requests_per_minute, self.credits_per_month, routes, self.priority)


class KeyChanges(Request):
    """Changes of a key; fields not sent stay."""

    cleared: ClassVar[frozenset[str]] = frozenset({"requests_per_minute", "credits_per_month", "routes"})

    name: Name | None = Field(None, description="What the key is for.")
    requests_per_minute: Requests | None = Field(None, description=REQUESTS)
    credits_per_month: Credits | None = Field(None, description=CREDITS)
    routes: Routes | None = Field(None, description=ROUTES)
    priority: Priority = Field("normal", description=PRIORITY)


class Key(BaseModel):
    """A key, without its secret."""

    id: UUID
    name: str
    hint: str = Field(description="The end of the secret.")
    requests_per_minute: int | None = Field(description=REQUESTS)
    credits_per_month: int | None = Field(description=CREDITS)
    routes: list[str] | None = Field(description=ROUTES)
    priority: Priority = Field(description=PRIORITY)
    credits_used_this_month: int = Field(description="Credits captured since the month began (UTC).")
    credits_held: int = Field(description="Credits held for its open jobs; they count towards the month.")
    created_at: Timestamp
    last_used_at: Timestamp | None

    @classmethod
    def of(cls, key: StoredKey) -> Self:
        """Return the document of a key."""
        return cls.model_validate(asdict(key))


class KeyCreated(Key):
    """A new key with its secret."""

    api_key: str = Field(description="The secret, shown only once.")
