"""Making keys: shared by the routes and the dashboard."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from api.accounts.keys.documents import KeyRequest
from api.services.key_routes import check_routes
from api.services.services import Services
from pipeline.accounts.accounts import lock_account
from pipeline.accounts.keys import Caller, NewKey, make_key
from pipeline.accounts.stored_keys import Key, add_key_within, change_key, delete_key, find_key
from pipeline.errors import Conflict, Forbidden, NotFound


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
