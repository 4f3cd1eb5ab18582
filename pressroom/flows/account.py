"""Account: keys, and what was used."""

from collections.abc import Mapping, Sequence
from typing import Any

from pressroom.documents.account import Key, KeyVerification, Usage
from pressroom.exchange import Ask, Flow
from pressroom.service import Service, given


def usage(service: Service) -> Flow[Usage]:
    """Return what the account has used, and what it has left."""
    return Usage.read((yield from service.get("/usage")).json)


def verify_key(service: Service, api_key: str) -> Flow[KeyVerification]:
    """Tell whether a key is valid, and whose."""
    answer = yield from service.ask(Ask("POST", "/verify-key", fields={"api_key": api_key}))
    return KeyVerification.read(answer.json)


def keys(service: Service) -> Flow[list[Key]]:
    """Return the account's keys, without the keys themselves."""
    return [Key.read(key) for key in (yield from service.get("/keys")).json]


def create_key(
    service: Service,
    name: str,
    *,
    requests_per_minute: int | None = None,
    credits_per_month: int | None = None,
    routes: Sequence[str] | None = None,
) -> Flow[Key]:
    """Make a key, which is told this once."""
    limits = {"requests_per_minute": requests_per_minute, "credits_per_month": credits_per_month, "routes": routes}
    answer = yield from service.ask(Ask("POST", "/keys", fields=given({"name": name, **limits}), repeatable=False))
    return Key.read(answer.json)


def change_key(service: Service, key_id: str, changes: Mapping[str, Any]) -> Flow[Key]:
    """Change a key's name or limits; None as a limit takes it away."""
    return Key.read((yield from service.ask(Ask("PATCH", f"/keys/{key_id}", fields=changes))).json)


def delete_key(service: Service, key_id: str) -> Flow[None]:
    """Delete a key; from then on it is refused."""
    yield from service.ask(Ask("DELETE", f"/keys/{key_id}"))
