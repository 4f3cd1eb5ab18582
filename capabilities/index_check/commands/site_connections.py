"""Site connections: what the commands of all services for site owners do: keep access, list it, forget it."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from capabilities.index_check.settings import SearchSettings
from capabilities.index_check.sites import connections, site_quota
from capabilities.index_check.sites.connections import Connection
from pipeline.accounts.secret_box import SecretBox
from pipeline.database import Database, Statement
from pipeline.errors import InvalidRequest, NotFound, NotReady
from pipeline.settings import Settings
from scripts.identifiers import find_id
from scripts.options import open_database, read_id, read_name, settings_for
from scripts.terminal import show_table, tell

#: Largest file of credentials.
MAX_BYTES = 100_000

Account = Annotated[str | None, typer.Option("--account", help="Whose sites they are; by default the only account.")]
Name = Annotated[
    str | None,
    typer.Option(help="A name, by default whose access it is; it takes the place of another."),
]
Sites = Annotated[list[str] | None, typer.Option("--site", help="Only this site; may be given several times.")]


@dataclass(frozen=True, slots=True)
class ConnectedSite:
    """A site of a connection, whether it may be asked about now, and how it stands."""

    connection: Connection
    site: str
    ready: bool
    state: str


def read_json(file: Path) -> dict[str, Any]:
    """Return the object of a JSON file. Raises InvalidRequest."""
    try:
        with file.open("rb") as opened:
            found = json.loads(opened.read(MAX_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidRequest(f"{file} can't be read as JSON ({type(error).__name__}).") from error
    if not isinstance(found, dict):
        raise InvalidRequest(f"{file} has no JSON object in it.")
    return found


def keep(
    service: str,
    credentials: dict[str, Any],
    *,
    data: Path | None,
    account: str | None,
    name: str | None,
    wanted: Sequence[str],
    hint: str,
) -> None:
    """Ask a service which sites credentials are good for, and keep them, encrypted, for an account.

    `hint` is what to do when there is no site. Raises InvalidRequest, NotReady."""
    settings = settings_for(data)
    with open_database(data) as database:
        account_id = _find_account(database, account)
        owner, sites = _sites_of(settings, service, credentials)
        name = read_name(name) if name is not None else owner
        if missing := [site for site in wanted if site not in sites]:
            raise InvalidRequest(f"{owner} has no access to {missing[0]}; to {', '.join(sites) or 'none'}. {hint}")
        if not sites:
            raise InvalidRequest(f"{owner} has access to no site. {hint}")
        sealed = SecretBox(settings).seal(json.dumps(credentials).encode())
        made = database.run(connections.connect(account_id, service, name, sealed, list(wanted) or sites))
        if made is None:
            raise NotFound(f"There is no account {account_id}. `pressroom accounts list` shows them.")
    typer.echo(f"connection {made}")
    for site in list(wanted) or sites:
        typer.echo(f"site {site}")
    tell(f"Index checks of these sites' URLs now ask {owner} first.")


def show(service: str, data: Path | None) -> None:
    """Print the connections of a service, a line a site."""
    settings = settings_for(data)
    with open_database(data) as database:
        found = list_sites(database, settings, service)
    columns = ["connection", "account", "name", "site", "state"]
    lines = [(one.connection.id, one.connection.account_id, one.connection.name, one.site, one.state) for one in found]
    show_table("Sites", columns, lines)


def forget(service: str, connection_id: str, data: Path | None) -> None:
    """Forget a connection. Raises NotFound."""
    with open_database(data) as database:
        name = database.run(connections.disconnect(read_id(connection_id), service))
    if name is None:
        raise NotFound(f"There is no connection {connection_id}.")
    typer.echo(f"disconnected {name}")


def list_sites(database: Database, settings: Settings, service: str | None = None) -> list[ConnectedSite]:
    """Return the connected sites, of one service or of all."""
    statuses = {(one.connection_id, one.property): one for one in database.run(site_quota.list_site_statuses())}
    found = []
    for connection in database.run(connections.list_connections(service=service)):
        per_day = getattr(settings.of(SearchSettings), connection.service).per_day
        fault = fault_of(connection, settings)
        for site in connection.properties:
            status = statuses.get((connection.id, site))
            left = max(0, per_day - (status.used if status else 0))
            trouble = fault or (status.rest if status else None)
            state = trouble or f"{left:,} of {per_day:,} requests left today"
            found.append(ConnectedSite(connection, site, trouble is None and left > 0, state))
    return found


def fault_of(connection: Connection, settings: Settings) -> str | None:
    """Return why a connection can't be used, here or anywhere; None: it can."""
    if connection.fault is not None:
        return f"{connection.fault}; connect again"
    try:
        SecretBox(settings).open(connection.credentials)
    except NotReady as error:
        return error.message
    return None


@contextmanager
def service_errors() -> Iterator[None]:
    """Say what a service answered. Raises InvalidRequest."""
    from capabilities.index_check.engines.search.base.site_service import ServiceTrouble

    try:
        yield
    except ServiceTrouble as trouble:
        raise InvalidRequest(f"That did not work: {trouble.detail}.", code=trouble.code) from trouble


def _sites_of(settings: Settings, service: str, credentials: dict[str, Any]) -> tuple[str, list[str]]:
    """Return whose credentials they are, and the sites that they are good for."""
    from capabilities.index_check.engines.search.base.client import SearchClient
    from capabilities.index_check.engines.search.owners.site_services import site_services

    asked = site_services(settings.of(SearchSettings))[service]
    client = SearchClient(settings.of(SearchSettings))
    try:
        with service_errors():
            access = asked.open(credentials)
            return access.name, asked.list_sites(client.ask, access)
    finally:
        client.close()


def _find_account(database: Database, account: str | None) -> UUID:
    if account is not None:
        return find_id(database, "account", account)
    found: list[UUID] = database.run(
        Statement("SELECT id FROM account LIMIT 2", {}, lambda rows: [row["id"] for row in rows])
    )
    if len(found) != 1:
        raise InvalidRequest(
            "Whose sites are they? Say so with --account; `pressroom accounts list` shows the accounts."
        )
    return found[0]
