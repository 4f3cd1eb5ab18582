"""Making keys: shared by the routes and the dashboard."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar
from uuid import UUID

from pydantic import Field

from api.services.key_routes import check_routes
from api.services.services import Services
from pipeline.accounts.accounts import lock_account
from pipeline.accounts.keys import MAX_CREDITS, MAX_REQUESTS, Caller, KeyLimits, NewKey, make_key
from pipeline.accounts.stored_keys import (
    CREDITS,
    ENDS,
    PRIORITY,
    REQUESTS,
    ROUTES,
    Key,
    add_key_within,
    change_key,
    delete_key,
    find_key,
)
from pipeline.errors import Conflict, Forbidden, NotFound
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


class KeyNotFound(NotFound):
    """The account has no such key."""

    code = "key_not_found"
    message = "There is no such key. GET /keys lists yours."


def require_unlimited(caller: Caller) -> None:
    """Refuse a key with limits. Raises Forbidden."""
    if caller.has_limits:
        message = "A key with limits may not manage keys or read the log. Use one without limits."
        raise Forbidden(message, code="key_is_limited")


async def create_key(services: Services, caller: Caller, wanted: KeyRequest) -> tuple[NewKey, Key]:
    """Create a key; return it with its secret, and as it is stored. Raises RouteUnknown, Conflict."""
    check_routes(wanted.routes, services.key_routes)
    key = make_key()
    most = services.settings.limits.api_keys
    adding = add_key_within(
        caller.actor, key, wanted.name, wanted.limits, ends_with_person=wanted.ends_with_person, most=most
    )
    account_id = caller.account_id
    # Read in the same transaction: if a later read failed, the key would exist without its owner knowing it.
    _, _, stored = await services.database.run_together(
        [lock_account(account_id), adding, find_key(key.id, account_id)]
    )
    if stored is None:
        message = f"The account has {most:,} keys, the most allowed. Delete one that is not used."
        raise Conflict(message, code="too_many_keys")
    return key, stored


async def find_own_key(services: Services, account_id: UUID, key_id: str) -> Key:
    """Return a valid key of the account. Raises KeyNotFound."""
    try:
        wanted = UUID(key_id)
    except ValueError:
        raise KeyNotFound from None
    found = await services.database.run(find_key(wanted, account_id))
    if found is None:
        raise KeyNotFound
    return found


async def change_own_key(services: Services, caller: Caller, key: Key, changed: Mapping[str, Any]) -> None:
    """Change a key; other processes notice within seconds. Raises RouteUnknown, KeyNotFound."""
    check_routes(changed.get("routes"), services.key_routes)
    if not await services.database.run(change_key(key, caller.actor, changed)):
        raise KeyNotFound
    services.authenticator.forget(key.id)


async def delete_own_key(services: Services, caller: Caller, key: Key) -> None:
    """Delete a key. New work is refused at once, other requests within seconds. Raises KeyNotFound."""
    if await services.database.run(delete_key(key, caller.actor)) is None:
        raise KeyNotFound
    services.authenticator.forget(key.id)
