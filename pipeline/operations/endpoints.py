"""Endpoints as operators add, try and remove them: rows beside those of the file and the environment.

A key is sealed before it is stored, and opened by the processes that use it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb
from pydantic import SecretStr, ValidationError

from pipeline.accounts.secret_box import SecretBox, SecretsUnavailable
from pipeline.database import Statement, nothing, rows_of
from pipeline.settings.endpoints import EndpointSettings, KnownEndpoint

PAUSED = "an operator has paused it"


@dataclass(frozen=True, slots=True)
class StoredEndpoint:
    """A row. `settings` are an EndpointSettings's, without the key."""

    name: str
    settings: Mapping[str, Any]
    sealed_key: bytes | None
    updated_at: datetime


def read_stored() -> Statement[list[StoredEndpoint]]:
    """Read the endpoints that operators have added, by name."""
    return Statement(
        "SELECT name, settings, sealed_key, updated_at FROM endpoint ORDER BY name", {}, rows_of(StoredEndpoint)
    )


def read_paused() -> Statement[frozenset[str]]:
    """Read the names of all paused providers."""
    return Statement(
        "SELECT name FROM pause WHERE scope = 'provider'", {}, lambda rows: frozenset(row["name"] for row in rows)
    )


def store(name: str, endpoint: EndpointSettings, sealed_key: bytes | None) -> Statement[bool]:
    """Add an endpoint; returns False, and changes nothing, if there is one of that name."""
    return Statement(
        "INSERT INTO endpoint (name, settings, sealed_key) VALUES (%(name)s, %(settings)s, %(key)s)"
        " ON CONFLICT DO NOTHING RETURNING 1 AS stored",
        {
            "name": name,
            "settings": Jsonb(endpoint.model_dump(exclude={"key"}, exclude_defaults=True)),
            "key": sealed_key,
        },
        bool,
    )


def try_again(name: str) -> Statement[bool]:
    """Have every pool ask the server anew; returns whether there is one of that name."""
    return Statement(
        "UPDATE endpoint SET updated_at = now() WHERE name = %(name)s RETURNING 1 AS tried", {"name": name}, bool
    )


def remove(name: str) -> Statement[bool]:
    """Remove an endpoint with its key; returns whether there was one. Pools notice within seconds."""
    return Statement("DELETE FROM endpoint WHERE name = %(name)s RETURNING 1 AS removed", {"name": name}, bool)


def forget_offers(engines: Sequence[str]) -> Statement[None]:
    """Delete the offers of engines that are gone."""
    return Statement(
        "DELETE FROM offer WHERE engine = ANY(%(engines)s) RETURNING 1 AS gone", {"engines": list(engines)}, nothing
    )


def combine(
    configured: Mapping[str, EndpointSettings], stored: Sequence[StoredEndpoint], paused: frozenset[str], box: SecretBox
) -> dict[str, EndpointSettings]:
    """Return all endpoints; those of the file and the environment go before stored ones of the same name."""
    found = dict(configured) | {one.name: _opened(one, box) for one in stored if one.name not in configured}
    return {name: _paused(one) if name in paused else one for name, one in found.items()}


def _paused(endpoint: EndpointSettings) -> EndpointSettings:
    return KnownEndpoint(**{**dict(endpoint), "fault": PAUSED})


def _opened(one: StoredEndpoint, box: SecretBox) -> EndpointSettings:
    """Return a stored endpoint with its key; what can't be read is its fault."""
    key, fault = None, ""
    try:
        key = SecretStr(box.open(one.sealed_key).decode()) if one.sealed_key is not None else None
    except SecretsUnavailable as error:
        fault = error.message
    try:
        return KnownEndpoint(**one.settings, key=key, fault=fault, revision=one.updated_at.isoformat())
    except ValidationError:  # of a later release
        return KnownEndpoint(url="http://unknown.invalid", fault="this release can't read its settings")
