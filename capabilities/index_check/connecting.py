"""Connecting: credentials are tried at Search Console, and stored encrypted with the sites that they give access to.

The engine is imported only when it is asked: the API and most commands need none."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from capabilities.index_check.settings import SearchSettings
from capabilities.index_check.sites import connections
from capabilities.index_check.sites.connections import Connection
from capabilities.index_check.sites.site_quota import SiteStatus
from pipeline.accounts.secret_box import SecretBox
from pipeline.database import Statement
from pipeline.errors import InvalidRequest, NotReady
from pipeline.settings import Settings

#: Advice where no site is listed.
HINT = "In Search Console, Settings, Users and permissions, add it as a user of the property, and connect again."
KEPT = ("type", "client_email", "private_key", "private_key_id")


@dataclass(frozen=True, slots=True)
class ConnectedSite:
    """A site of a connection, whether it can be asked about now, and its state in words."""

    connection: Connection
    site: str
    ready: bool
    state: str


def connected_sites(
    found: Iterable[Connection], statuses: Iterable[SiteStatus], settings: Settings
) -> list[ConnectedSite]:
    """Return the sites of connections, with what is left of today's quota or why they can't be asked about."""
    known = {(one.connection_id, one.property): one for one in statuses}
    per_day = settings.of(SearchSettings).search_console.per_day
    sites = []
    for connection in found:
        fault = _fault_of(connection, settings)
        for site in connection.properties:
            status = known.get((connection.id, site))
            left = max(0, per_day - (status.used if status else 0))
            trouble = fault or (status.rest if status else None)
            state = trouble or f"{left:,} of {per_day:,} requests left today"
            sites.append(ConnectedSite(connection, site, trouble is None and left > 0, state))
    return sites


def read_service_account(content: str | bytes) -> dict[str, Any]:
    """Return the fields to keep of a service account's JSON key. Raises InvalidRequest."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"The file can't be read as JSON ({type(error).__name__}).") from error
    if not isinstance(found, dict):
        raise InvalidRequest("The file has no JSON object in it.")
    return {field: found[field] for field in KEPT if field in found}


def find_sites(settings: Settings, credentials: dict[str, Any], wanted: Sequence[str] = ()) -> tuple[str, list[str]]:
    """Ask Search Console for the owner of credentials and the sites that they give access to, or the wanted ones.

    Raises InvalidRequest, NotReady."""
    from capabilities.index_check.engines.search.base.client import SearchClient
    from capabilities.index_check.engines.search.owners.search_console import SearchConsole

    search = settings.of(SearchSettings)
    asked = SearchConsole(search)
    with closing(SearchClient(search)) as client, service_errors():
        access = asked.open(credentials)
        owner, sites = access.name, asked.list_sites(client.ask, access)
    if missing := [site for site in wanted if site not in sites]:
        listed = ", ".join(sites) or "no site"
        raise InvalidRequest(f"{owner} has no access to {missing[0]}, only to {listed}. {HINT}")
    if not sites:
        raise InvalidRequest(f"{owner} has access to no site. {HINT}")
    return owner, list(wanted) or sites


def connecting(
    settings: Settings, account_id: UUID, name: str, credentials: Mapping[str, Any], sites: Sequence[str]
) -> Statement[UUID | None]:
    """Store credentials, encrypted; None if there is no such account. Raises NotReady."""
    sealed = SecretBox(settings).seal(json.dumps(credentials).encode())
    return connections.connect(account_id, name, sealed, sites)


@contextmanager
def service_errors() -> Iterator[None]:
    from capabilities.index_check.engines.search.base.site_service import ServiceTrouble

    try:
        yield
    except ServiceTrouble as trouble:
        raise InvalidRequest(f"The service refused: {trouble.detail}.", code=trouble.code) from trouble


def _fault_of(connection: Connection, settings: Settings) -> str | None:
    if connection.fault is not None:
        return f"{connection.fault}; connect again"
    try:
        SecretBox(settings).open(connection.credentials)
    except NotReady as error:
        return error.message
    return None
